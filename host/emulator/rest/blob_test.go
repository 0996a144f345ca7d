package rest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// newBlobBench is a bench whose endpoint is the Blob service, with a container
// named box.
func newBlobBench(t *testing.T, edit ...func(*setup)) *bench {
	t.Helper()
	b := newBench(t, edit...)
	b.endpoint = b.server.BlobURL() + "/devstoreaccount1"
	b.want(201, "", "PUT", "/box?restype=container", "")
	return b
}

func asBlockBlob(r *http.Request) { r.Header.Set("X-Ms-Blob-Type", "BlockBlob") }

func (b *bench) upload(path, text string, edit ...func(*http.Request)) answer {
	b.Helper()
	return b.want(201, "", "PUT", path, text, append(edit, asBlockBlob)...)
}

func some(h http.Header, names ...string) map[string]string {
	out := map[string]string{}
	for _, name := range names {
		out[name] = strings.Join(h.Values(name), ",")
	}
	return out
}

func TestContainerOperations(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	b.want(409, "ContainerAlreadyExists", "PUT", "/box?restype=container", "")
	b.want(400, "InvalidResourceName", "PUT", "/Box_?restype=container", "")
	b.want(400, "OutOfRangeInput", "PUT", "/b?restype=container", "")
	b.want(404, "ContainerNotFound", "GET", "/none?restype=container", "")
	b.want(404, "ContainerNotFound", "HEAD", "/none?restype=container", "")
	made := b.want(201, "", "PUT", "/second?restype=container", "", header("x-ms-meta-Owner", "me"), header("X-Ms-Blob-Public-Access", "blob"))
	got := b.want(200, "", "GET", "/second?restype=container", "")
	want := map[string]string{
		"Etag": made.Header.Get("Etag"), "Last-Modified": "Wed, 02 Jan 2030 03:04:05 GMT",
		"X-Ms-Lease-State": "available", "X-Ms-Lease-Status": "unlocked", "X-Ms-Blob-Public-Access": "blob",
		"X-Ms-Has-Immutability-Policy": "false", "X-Ms-Has-Legal-Hold": "false", "X-Ms-Meta-Owner": "me",
	}
	var names []string
	for name := range want {
		names = append(names, name)
	}
	if diff := cmp.Diff(want, some(got.Header, names...)); diff != "" {
		t.Errorf("properties (-want +got):\n%s", diff)
	}
	b.want(200, "", "PUT", "/second?restype=container&comp=metadata", "", header("x-ms-meta-Now", "other"))
	if h := b.want(200, "", "GET", "/second?restype=container&comp=metadata", "").Header; h.Get("X-Ms-Meta-Now") != "other" || h.Get("X-Ms-Meta-Owner") != "" {
		t.Errorf("metadata = %v", h)
	}
	list := b.want(200, "", "GET", "/?comp=list&include=metadata&prefix=s", "").Body
	wantList := `<?xml version="1.0" encoding="utf-8"?><EnumerationResults ServiceEndpoint="` + b.endpoint + `"><Prefix>s</Prefix><Marker></Marker><MaxResults>5000</MaxResults>` +
		`<Containers><Container><Name>second</Name><Properties><Last-Modified>Wed, 02 Jan 2030 03:04:05 GMT</Last-Modified><Etag>` +
		b.want(200, "", "HEAD", "/second?restype=container", "").Header.Get("Etag") +
		`</Etag><LeaseStatus>unlocked</LeaseStatus><LeaseState>available</LeaseState><PublicAccess>blob</PublicAccess>` +
		`<HasImmutabilityPolicy>false</HasImmutabilityPolicy><HasLegalHold>false</HasLegalHold>` +
		`<ImmutableStorageWithVersioningEnabled>false</ImmutableStorageWithVersioningEnabled><DefaultEncryptionScope>$account-encryption-key</DefaultEncryptionScope>` +
		`<DenyEncryptionScopeOverride>false</DenyEncryptionScopeOverride></Properties><Metadata><Now>other</Now></Metadata></Container></Containers>` +
		`<NextMarker></NextMarker></EnumerationResults>`
	if diff := cmp.Diff(wantList, list); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
	b.want(202, "", "DELETE", "/second?restype=container", "")
	b.want(404, "ContainerNotFound", "DELETE", "/second?restype=container", "")
	b.want(405, "UnsupportedHttpVerb", "POST", "/box?restype=container", "")
}

func TestBlobOperations(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	b.want(400, "MissingRequiredHeader", "PUT", "/box/a", "text")
	b.want(400, "InvalidHeaderValue", "PUT", "/box/a", "text", header("X-Ms-Blob-Type", "Round"))
	b.want(400, "MissingRequiredHeader", "PUT", "/box/a", "", header("X-Ms-Blob-Type", "PageBlob"))
	b.want(404, "BlobNotFound", "GET", "/box/a", "")
	b.want(404, "BlobNotFound", "HEAD", "/box/a", "")
	b.want(404, "ContainerNotFound", "PUT", "/none/a", "text", asBlockBlob)
	put := b.upload("/box/dir/a", "some text", header("Content-Type", "text/plain"), header("x-ms-meta-Kind", "test"), header("X-Ms-Blob-Cache-Control", "no-store"))
	if h := put.Header; h.Get("Content-Md5") != "VS4hzUzZkYZ448Gg30kbww==" || h.Get("X-Ms-Request-Server-Encrypted") != "true" {
		t.Errorf("answer to the put = %v", h)
	}
	got := b.want(200, "", "GET", "/box/dir/a", "")
	want := map[string]string{
		"Etag": put.Header.Get("Etag"), "Content-Type": "text/plain", "Content-Length": "9", "Cache-Control": "no-store", "Content-Md5": put.Header.Get("Content-Md5"),
		"X-Ms-Blob-Type": "BlockBlob", "X-Ms-Meta-Kind": "test", "X-Ms-Creation-Time": "Wed, 02 Jan 2030 03:04:05 GMT", "Accept-Ranges": "bytes",
		"X-Ms-Lease-State": "available", "X-Ms-Server-Encrypted": "true", "Last-Modified": "Wed, 02 Jan 2030 03:04:05 GMT",
	}
	var names []string
	for name := range want {
		names = append(names, name)
	}
	if diff := cmp.Diff(want, some(got.Header, names...)); diff != "" || got.Body != "some text" {
		t.Errorf("get = %q (-want +got):\n%s", got.Body, diff)
	}
	head := b.want(200, "", "HEAD", "/box/dir/a", "")
	want["X-Ms-Access-Tier"], want["X-Ms-Access-Tier-Inferred"] = "Hot", "true"
	if diff := cmp.Diff(want, some(head.Header, append(names, "X-Ms-Access-Tier", "X-Ms-Access-Tier-Inferred")...)); diff != "" {
		t.Errorf("head (-want +got):\n%s", diff)
	}
	b.want(400, "Md5Mismatch", "PUT", "/box/dir/a", "other", asBlockBlob, header("Content-Md5", "VS4h1LXGDg0SgRorRG7Twg=="))
	b.want(400, "InvalidMd5", "PUT", "/box/dir/a", "other", asBlockBlob, header("Content-Md5", "short"))
	b.want(202, "", "DELETE", "/box/dir%2Fa", "")
	b.want(404, "BlobNotFound", "DELETE", "/box/dir/a", "")
}

// TestBlobNames: everything behind the container is the name, escaped or not.
func TestBlobNames(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	for _, path := range []string{"/a%2Fb", "/back%5Cslash", "/dir/", "/..%2F..%2Fetc%2Fpasswd", "/gr%C3%BC%C3%9Fe%20%25%3F%23%26", "//double", "/a%01b"} {
		b.upload("/box"+path, "x")
	}
	list := b.want(200, "", "GET", "/box?restype=container&comp=list", "").Body
	var names []string
	for _, part := range strings.Split(list, "<Name")[1:] {
		name, _, _ := strings.Cut(part, "</Name>")
		names = append(names, name)
	}
	want := []string{">../../etc/passwd", ">/double", ">a/b", ` Encoded="true">a%01b`, ">back/slash", ">dir/", ">grüße %?#&amp;"}
	// By their bytes: the control character sorts before the slash.
	want[2], want[3] = want[3], want[2]
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

func TestListBlobs(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	etag := ""
	for _, name := range []string{"a", "d/1", "d/2", "e"} {
		etag = b.upload("/box/"+name, "12345", header("x-ms-meta-N", "v"), header("Content-Type", "text/plain")).Header.Get("Etag")
	}
	b.want(404, "ContainerNotFound", "GET", "/none?restype=container&comp=list", "")
	b.want(400, "OutOfRangeQueryParameterValue", "GET", "/box?restype=container&comp=list&maxresults=0", "")
	b.want(400, "InvalidQueryParameterValue", "GET", "/box?restype=container&comp=list&maxresults=x", "")
	first := b.want(200, "", "GET", "/box?restype=container&comp=list&delimiter=%2F&maxresults=2", "").Body
	if i, j := strings.Index(first, "<Blob><Name>a</Name>"), strings.Index(first, "<BlobPrefix><Name>d/</Name></BlobPrefix></Blobs>"); i < 0 || j < i || !strings.Contains(first, "<MaxResults>2</MaxResults><Delimiter>/</Delimiter>") {
		t.Errorf("first page = %s", first)
	}
	_, marker, _ := strings.Cut(first, "<NextMarker>")
	marker, _, _ = strings.Cut(marker, "</NextMarker>")
	second := b.want(200, "", "GET", "/box"+query("restype", "container", "comp", "list", "delimiter", "/", "include", "metadata", "marker", marker, "maxresults", "5001"), "").Body
	head, second, _ := strings.Cut(second, "<Blobs>")
	if want := ` ContainerName="box"><Prefix></Prefix><Marker>` + marker + `</Marker><MaxResults>5000</MaxResults><Delimiter>/</Delimiter>`; !strings.HasSuffix(head, want) {
		t.Errorf("second page begins with %s, want %s", head, want)
	}
	want := `<Blob><Name>e</Name><Properties><Creation-Time>Wed, 02 Jan 2030 03:04:05 GMT</Creation-Time><Last-Modified>Wed, 02 Jan 2030 03:04:05 GMT</Last-Modified>` +
		`<Etag>` + strings.Trim(etag, `"`) + `</Etag><Content-Length>5</Content-Length><Content-Type>text/plain</Content-Type><Content-Encoding></Content-Encoding>` +
		`<Content-Language></Content-Language><Content-CRC64></Content-CRC64><Content-MD5>gnzLDuqKcGxMNKFokfhOew==</Content-MD5><Cache-Control></Cache-Control>` +
		`<Content-Disposition></Content-Disposition><BlobType>BlockBlob</BlobType><AccessTier>Hot</AccessTier><AccessTierInferred>true</AccessTierInferred>` +
		`<LeaseStatus>unlocked</LeaseStatus><LeaseState>available</LeaseState><ServerEncrypted>true</ServerEncrypted></Properties><Metadata><N>v</N></Metadata></Blob>` +
		`</Blobs><NextMarker></NextMarker></EnumerationResults>`
	if diff := cmp.Diff(want, second); diff != "" {
		t.Errorf("second page (-want +got):\n%s", diff)
	}
}

// The words of an error are the service's; ours say more.
//
// Source: docs, Blob Storage error codes.
func TestErrorsInTheWordsOfTheService(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	for path, want := range map[string]string{
		"/Not_A_Name?restype=container": "The specified resource name contains invalid characters.",
		"/a?restype=container":          "The specified resource name length is not within the permissible limits.",
	} {
		a := b.call("PUT", path, "")
		if text, _, _ := strings.Cut(a.error(t).Message, "\n"); a.Status != 400 || text != want {
			t.Errorf("%s: %d %q, want 400 %q", path, a.Status, text, want)
		}
		if a.detail(t, "Reason") == "" {
			t.Errorf("%s: no reason in %s", path, a.Body)
		}
	}
}
