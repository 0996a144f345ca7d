package rest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/host/emulator/rest"
)

// blobOperations are operations of the Blob service, with what allows each: the
// resource type and the permissions of an account signature, and the permissions of a
// service signature of the container. Empty: nothing does.
//
// Source: docs, Create an account SAS ("Blob service"), Create a service SAS.
var blobOperations = []struct {
	name, method, path, headers string
	resource, account, service  string
}{
	{"list containers", "GET", "/?comp=list", "", "s", "l", ""},
	{"get service properties", "GET", "/?restype=service&comp=properties", "", "s", "r", ""},
	{"set service properties", "PUT", "/?restype=service&comp=properties", "", "s", "w", ""},
	{"create container", "PUT", "/box?restype=container", "", "c", "cw", ""},
	{"get container properties", "GET", "/box?restype=container", "", "c", "r", ""},
	{"set container metadata", "PUT", "/box?restype=container&comp=metadata", "", "c", "w", ""},
	{"get acl", "GET", "/box?restype=container&comp=acl", "", "c", "", ""},
	{"set acl", "PUT", "/box?restype=container&comp=acl", "", "c", "", ""},
	{"acquire container lease", "PUT", "/box?restype=container&comp=lease", "x-ms-lease-action: acquire", "c", "w", ""},
	{"break container lease", "PUT", "/box?restype=container&comp=lease", "x-ms-lease-action: break", "c", "wd", ""},
	{"list blobs", "GET", "/box?restype=container&comp=list", "", "c", "l", "l"},
	{"delete container", "DELETE", "/crate?restype=container", "", "c", "d", ""},
	{"find by tags", "GET", "/?comp=blobs&where=a%3D%27b%27", "", "o", "f", ""},
	{"find by tags in a container", "GET", "/box?restype=container&comp=blobs&where=a%3D%27b%27", "", "o", "f", "f"},
	{"put blob", "PUT", "/box/a", "x-ms-blob-type: BlockBlob", "o", "cw", "cw"},
	{"copy blob", "PUT", "/box/a", "x-ms-copy-source: http://127.0.0.1:1/a", "o", "cw", "cw"},
	{"get blob", "GET", "/box/a", "", "o", "r", "r"},
	{"get properties", "HEAD", "/box/a", "", "o", "r", "r"},
	{"set properties", "PUT", "/box/a?comp=properties", "", "o", "w", "w"},
	{"get metadata", "GET", "/box/a?comp=metadata", "", "o", "r", "r"},
	{"set metadata", "PUT", "/box/a?comp=metadata", "", "o", "w", "w"},
	{"get tags", "GET", "/box/a?comp=tags", "", "o", "t", "t"},
	{"set tags", "PUT", "/box/a?comp=tags", "", "o", "t", "t"},
	{"acquire lease", "PUT", "/box/a?comp=lease", "x-ms-lease-action: acquire", "o", "w", "w"},
	{"renew lease", "PUT", "/box/a?comp=lease", "x-ms-lease-action: renew", "o", "w", "w"},
	{"change lease", "PUT", "/box/a?comp=lease", "x-ms-lease-action: change", "o", "w", "w"},
	{"release lease", "PUT", "/box/a?comp=lease", "x-ms-lease-action: release", "o", "w", "w"},
	{"break lease", "PUT", "/box/a?comp=lease", "x-ms-lease-action: break", "o", "wd", "wd"},
	{"snapshot", "PUT", "/box/a?comp=snapshot", "", "o", "cw", "cw"},
	{"abort copy", "PUT", "/box/a?comp=copy&copyid=1", "x-ms-copy-action: abort", "o", "w", "w"},
	{"put block", "PUT", "/box/a?comp=block&blockid=MQ%3D%3D", "", "o", "w", "cw"},
	{"put block list", "PUT", "/box/a?comp=blocklist", "", "o", "w", "cw"},
	{"get block list", "GET", "/box/a?comp=blocklist", "", "o", "r", "r"},
	{"put page", "PUT", "/box/a?comp=page", "", "o", "w", "w"},
	{"get page ranges", "GET", "/box/a?comp=pagelist", "", "o", "r", "r"},
	{"append block", "PUT", "/box/a?comp=appendblock", "", "o", "aw", "aw"},
	{"seal", "PUT", "/box/a?comp=seal", "", "o", "aw", "aw"},
	{"set tier", "PUT", "/box/a?comp=tier", "", "o", "w", "w"},
	{"delete blob", "DELETE", "/box/b", "", "o", "d", "d"},
}

// Each operation is allowed by exactly the letters of the table.
func TestPermissionsOfEachBlobOperation(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	b.upload("/box/a", "text")
	ask := func(method, path, headers, sas string) answer {
		if !strings.Contains(path, "?") {
			path += "?"
		} else {
			path += "&"
		}
		r := b.request(method, path+sas, "")
		if name, value, ok := strings.Cut(headers, ": "); ok {
			r.Header.Set(name, value)
		}
		return b.send(r)
	}
	const denied = "AuthorizationPermissionMismatch"
	for _, op := range blobOperations {
		for _, letter := range strings.Split("racwdxyltfmeopiu", "") {
			a := ask(op.method, op.path, op.headers, fullAccount.with("sp", letter).account(t, rest.DevKey))
			if allowed := a.Code != denied; allowed != strings.Contains(op.account, letter) {
				t.Errorf("%s with account permission %s: %d %s, want one of %q", op.name, letter, a.Status, a.Code, op.account)
			}
			if strings.HasPrefix(op.path, "/?") {
				continue
			}
			container, _, _ := strings.Cut(strings.TrimPrefix(op.path, "/"), "?")
			container, _, _ = strings.Cut(container, "/")
			a = ask(op.method, op.path, op.headers, fields{"sv": "2021-12-02", "sr": "c", "sp": letter, "se": "2031-01-01"}.forBlob(t, "/"+container))
			if allowed := a.Code != denied; allowed != strings.Contains(op.service, letter) {
				t.Errorf("%s with container permission %s: %d %s, want one of %q", op.name, letter, a.Status, a.Code, op.service)
			}
		}
		for _, resource := range []string{"s", "c", "o"} {
			if op.account == "" {
				continue
			}
			a := ask(op.method, op.path, op.headers, fullAccount.with("srt", resource, "sp", "rwdlacuptf").account(t, rest.DevKey))
			if allowed := a.Code != "AuthorizationResourceTypeMismatch"; allowed != strings.Contains(op.resource, resource) {
				t.Errorf("%s with resource type %s: %d %s, want one of %q", op.name, resource, a.Status, a.Code, op.resource)
			}
		}
	}
	// Deletion has broken leases since this version (docs: Create an account SAS).
	old := fullAccount.with("sp", "d", "sv", "2017-04-17").account(t, rest.DevKey)
	if a := ask("PUT", "/box/a?comp=lease", "x-ms-lease-action: break", old); a.Code != denied {
		t.Errorf("break by an old signature to delete: %d %s, want %s", a.Status, a.Code, denied)
	}
}

// Protocols are https, or both; a signature sets only the headers that it signs: an
// account's signature signs none.
//
// Source: docs, Create an account SAS ("spr"), Create a service SAS ("rscc").
func TestProtocolsAndHeadersOfASAS(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	b.upload("/box/a", "text")
	for _, spr := range []string{"http", "HTTP", "ftp,http", "http,https,ftp"} {
		if a := b.ask("GET", "/box/a", "", fullAccount.with("spr", spr).account(t, rest.DevKey)); a.Status != 403 || a.Code != "AuthenticationFailed" {
			t.Errorf("spr=%s: %d %s, want 403 AuthenticationFailed", spr, a.Status, a.Code)
		}
	}
	const html = "&rsct=text%2Fhtml"
	if a := b.ask("GET", "/box/a", "", fullAccount.account(t, rest.DevKey)+html); a.Status != 200 || a.Header.Get("Content-Type") == "text/html" {
		t.Errorf("rsct beside an account's signature: %d %s", a.Status, a.Header.Get("Content-Type"))
	}
	if a := b.call("GET", "/box/a?sig=x"+html, ""); a.Status != 200 || a.Header.Get("Content-Type") == "text/html" {
		t.Errorf("rsct beside a key: %d %s", a.Status, a.Header.Get("Content-Type"))
	}
	one := fields{"sv": "2021-12-02", "sr": "b", "sp": "r", "se": "2031-01-01"}
	if a := b.ask("GET", "/box/a", "", one.forBlob(t, "/box/a")+html); a.Code != "AuthenticationFailed" {
		t.Errorf("rsct that is not signed: %d %s", a.Status, a.Code)
	}
	if a := b.ask("GET", "/box/a", "", one.with("rsct", "text/html").forBlob(t, "/box/a")); a.Status != 200 || a.Header.Get("Content-Type") != "text/html" {
		t.Errorf("rsct that is signed: %d %s", a.Status, a.Header.Get("Content-Type"))
	}
}

// A read of a source is refused what every read is.
func TestVersionOfASourceIsNotOffered(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	b.upload("/box/a", "text")
	source := b.endpoint + "/box/a?versionid=2030-01-02T03:04:05.0000000Z"
	b.want(501, "NotImplemented", "PUT", "/box/b", "", from(source))
	b.want(501, "NotImplemented", "PUT", "/box/b", "", asBlockBlob, from(source))
	b.want(404, "BlobNotFound", "GET", "/box/b", "")
}

// All requests of a batch ask for the same.
//
// Source: docs, Blob Batch; Azurite: BlobBatchHandler.ts.
func TestBatchOfOneKind(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	b.upload("/box/a", "text")
	got := b.batch("/?comp=batch", b.part("PUT", "/box/a?comp=tier", true, "X-Ms-Access-Tier", "Cool"), b.part(http.MethodDelete, "/box/a", true))
	if len(got) != 1 || got[0] != "400 AllBatchSubRequestsShouldBeSameApi" {
		t.Errorf("answers = %q, want one 400 AllBatchSubRequestsShouldBeSameApi", got)
	}
	if tier := b.want(200, "", "HEAD", "/box/a", "").Header.Get("X-Ms-Access-Tier"); tier != "Hot" {
		t.Errorf("tier = %s, want Hot: nothing of the batch is done", tier)
	}
}
