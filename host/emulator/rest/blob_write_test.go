package rest_test

import (
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/rest"
	"github.com/redeliver/redeliver/host/emulator/rest/served"
	"github.com/redeliver/redeliver/host/emulator/storage"
)

func TestBlobRanges(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	sum := b.upload("/box/a", "0123456789").Header.Get("Content-Md5")
	b.upload("/box/empty", "")
	for _, test := range []struct {
		name, text string
		status     int
		body, span string
	}{
		{"Range", "bytes=2-4", 206, "234", "bytes 2-4/10"},
		{"Range", "bytes=7-", 206, "789", "bytes 7-9/10"},
		{"Range", "bytes=7-100", 206, "789", "bytes 7-9/10"},
		{"Range", "bytes=0-0", 206, "0", "bytes 0-0/10"},
		{"X-Ms-Range", "bytes=1-2", 206, "12", "bytes 1-2/10"},
		{"Range", "bytes=-3", 200, "0123456789", ""},
		{"Range", "lines=1-3", 200, "0123456789", ""},
	} {
		a := b.want(test.status, "", "GET", "/box/a", "", header(test.name, test.text))
		if a.Body != test.body || a.Header.Get("Content-Range") != test.span {
			t.Errorf("%s: %s = %q, %q, want %q, %q", test.name, test.text, a.Body, a.Header.Get("Content-Range"), test.body, test.span)
		}
		if whole := a.Header.Get("X-Ms-Blob-Content-Md5"); test.status == 206 && (whole != sum || a.Header.Get("Content-Md5") != "") {
			t.Errorf("%s: %s: MD5 of the blob = %q", test.name, test.text, whole)
		}
	}
	both := b.want(206, "", "GET", "/box/a", "", header("X-Ms-Range", "bytes=1-1"), header("Range", "bytes=2-2"), header("X-Ms-Range-Get-Content-Md5", "true"))
	if both.Body != "1" || both.Header.Get("Content-Md5") != "xMpCOKC5I4INzFCab3WEmw==" {
		t.Errorf("x-ms-range beside Range = %q with %v", both.Body, both.Header)
	}
	open := b.want(206, "", "GET", "/box/a", "", header("X-Ms-Range", "bytes=9-"), header("X-Ms-Range-Get-Content-Md5", "true"))
	if open.Body != "9" || open.Header.Get("Content-Md5") == "" {
		t.Errorf("the rest with its MD5 = %q with %v", open.Body, open.Header)
	}
	for path, want := range map[string]string{"/box/a": "bytes */10", "/box/empty": "bytes */0"} {
		span := "bytes=10-"
		if path == "/box/empty" {
			span = "bytes=0-"
		}
		if a := b.want(416, "InvalidRange", "GET", path, "", header("Range", span)); a.Header.Get("Content-Range") != want {
			t.Errorf("%s: Content-Range = %q, want %q", path, a.Header.Get("Content-Range"), want)
		}
	}
	b.want(400, "InvalidHeaderValue", "GET", "/box/a", "", header("X-Ms-Range", "bytes=4-2"))
	for _, none := range []string{"bytes=-1-", "bytes=-2-497"} {
		if a := b.want(200, "", "GET", "/box/a", "", header("X-Ms-Range", none)); a.Body != "0123456789" {
			t.Errorf("range %q: %q", none, a.Body)
		}
	}
	b.want(400, "InvalidHeaderValue", "GET", "/box/a", "", header("X-Ms-Range-Get-Content-Md5", "true"))
}

func TestBlobConditions(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	etag := b.upload("/box/a", "text").Header.Get("Etag")
	const past, now = "Tue, 01 Jan 2030 00:00:00 GMT", "Wed, 02 Jan 2030 03:04:05 GMT"
	for _, test := range []struct {
		method, path, name, value string
		status                    int
		code                      string
	}{
		{"GET", "/box/a", "If-Match", etag, 200, ""},
		{"GET", "/box/a", "If-Match", `"0x1"`, 412, "ConditionNotMet"},
		{"HEAD", "/box/a", "If-Match", `"0x1"`, 412, "ConditionNotMet"},
		{"GET", "/box/a", "If-None-Match", etag, 304, "ConditionNotMet"},
		{"GET", "/box/a", "If-None-Match", "*", 400, "UnsatisfiableCondition"},
		{"GET", "/box/a", "If-Modified-Since", now, 304, "ConditionNotMet"},
		{"GET", "/box/a", "If-Modified-Since", past, 200, ""},
		{"GET", "/box/a", "If-Unmodified-Since", past, 412, "ConditionNotMet"},
		{"GET", "/box/a", "If-Modified-Since", "yesterday", 400, "InvalidHeaderValue"},
		{"PUT", "/box/a", "If-None-Match", "*", 409, "BlobAlreadyExists"},
		{"PUT", "/box/a", "If-None-Match", etag, 412, "ConditionNotMet"},
		{"PUT", "/box/a", "If-Match", `"0x1"`, 412, "ConditionNotMet"},
		{"PUT", "/box/a", "If-Match", `"0x1","0x2"`, 400, "MultipleConditionHeadersNotSupported"},
		{"PUT", "/box/none", "If-Match", etag, 412, "ConditionNotMet"},
		{"PUT", "/box/a", "If-Unmodified-Since", past, 412, "ConditionNotMet"},
		{"PUT", "/box/a", "If-Modified-Since", now, 412, "ConditionNotMet"},
		{"DELETE", "/box/a", "If-Match", `"0x1"`, 412, "ConditionNotMet"},
		{"PUT", "/box/a?comp=metadata", "If-Match", `"0x1"`, 412, "ConditionNotMet"},
		{"PUT", "/box/a?comp=properties", "If-Match", `"0x1"`, 412, "ConditionNotMet"},
	} {
		edit := []func(*http.Request){header(test.name, test.value)}
		if test.method == "PUT" && !strings.Contains(test.path, "?") {
			edit = append(edit, asBlockBlob)
		}
		a := b.want(test.status, test.code, test.method, test.path, "", edit...)
		if test.status == 304 && a.Body != "" {
			t.Errorf("%s %s: body of a 304 = %q", test.name, test.value, a.Body)
		}
	}
	b.want(200, "", "PUT", "/box/a?comp=metadata", "", header("If-Match", etag))
}

func TestBlocks(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	id := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	block := func(name, text string) {
		b.want(201, "", "PUT", "/box/a"+query("comp", "block", "blockid", id(name)), text)
	}
	block("one", "1111")
	block("two", "22")
	b.want(404, "BlobNotFound", "GET", "/box/a", "")
	list := b.want(200, "", "GET", "/box/a?comp=blocklist&blocklisttype=all", "")
	want := `<?xml version="1.0" encoding="utf-8"?><BlockList><CommittedBlocks></CommittedBlocks><UncommittedBlocks>` +
		`<Block><Name>b25l</Name><Size>4</Size></Block><Block><Name>dHdv</Name><Size>2</Size></Block></UncommittedBlocks></BlockList>`
	if diff := cmp.Diff(want, list.Body); diff != "" || list.Header.Get("Etag") != "" {
		t.Errorf("block list (-want +got):\n%s", diff)
	}
	commit := func(elements string) string { return `<?xml version="1.0"?><BlockList>` + elements + "</BlockList>" }
	b.want(400, "InvalidBlockList", "PUT", "/box/a?comp=blocklist", commit("<Committed>b25l</Committed>"))
	b.want(400, "InvalidXmlDocument", "PUT", "/box/a?comp=blocklist", commit("<Oldest>b25l</Oldest>"))
	b.want(400, "InvalidXmlDocument", "PUT", "/box/a?comp=blocklist", "<BlockList><Latest>b25l</Latest>")
	b.want(400, "InvalidBlockId", "PUT", "/box/a?comp=block&blockid=*", "x")
	b.want(400, "MissingRequiredQueryParameter", "PUT", "/box/a?comp=block", "x")
	b.want(201, "", "PUT", "/box/a?comp=blocklist", commit("<Uncommitted>dHdv</Uncommitted><Latest>b25l</Latest>"),
		header("X-Ms-Blob-Content-Type", "text/plain"), header("Content-Type", "application/xml"))
	if a := b.want(200, "", "GET", "/box/a", ""); a.Body != "221111" || a.Header.Get("Content-Type") != "text/plain" {
		t.Errorf("content = %q as %q", a.Body, a.Header.Get("Content-Type"))
	}
	list = b.want(200, "", "GET", "/box/a?comp=blocklist", "")
	if !strings.Contains(list.Body, "<CommittedBlocks><Block><Name>dHdv</Name>") || strings.Contains(list.Body, "Uncommitted") || list.Header.Get("X-Ms-Blob-Content-Length") != "6" {
		t.Errorf("committed blocks = %s, %v", list.Body, list.Header)
	}
}

func TestAppendBlobs(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	b.want(201, "", "PUT", "/box/log", "", header("X-Ms-Blob-Type", "AppendBlob"))
	one := b.want(201, "", "PUT", "/box/log?comp=appendblock", "one,").Header
	two := b.want(201, "", "PUT", "/box/log?comp=appendblock", "two", header("X-Ms-Blob-Condition-Appendpos", "4"), header("X-Ms-Blob-Condition-Maxsize", "7")).Header
	got := []string{one.Get("X-Ms-Blob-Append-Offset"), one.Get("X-Ms-Blob-Committed-Block-Count"), two.Get("X-Ms-Blob-Append-Offset"), two.Get("X-Ms-Blob-Committed-Block-Count")}
	if diff := cmp.Diff([]string{"0", "1", "4", "2"}, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	b.want(412, "AppendPositionConditionNotMet", "PUT", "/box/log?comp=appendblock", "x", header("X-Ms-Blob-Condition-Appendpos", "4"))
	b.want(412, "MaxBlobSizeConditionNotMet", "PUT", "/box/log?comp=appendblock", "x", header("X-Ms-Blob-Condition-Maxsize", "7"))
	b.want(400, "InvalidHeaderValue", "PUT", "/box/log?comp=appendblock", "x", header("X-Ms-Blob-Condition-Maxsize", "-1"))
	if a := b.want(200, "", "GET", "/box/log", ""); a.Body != "one,two" || a.Header.Get("X-Ms-Blob-Committed-Block-Count") != "2" {
		t.Errorf("content = %q, %v", a.Body, a.Header)
	}
}

func TestLeases(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	b.upload("/box/a", "text")
	for _, path := range []string{"/box/a?comp=lease", "/box?restype=container&comp=lease"} {
		act := func(action string, more ...string) []func(*http.Request) {
			edit := []func(*http.Request){header("X-Ms-Lease-Action", action)}
			for i := 0; i < len(more); i += 2 {
				edit = append(edit, header(more[i], more[i+1]))
			}
			return edit
		}
		const id, other, lease, duration = "11111111-1111-1111-1111-111111111111", "22222222-2222-2222-2222-222222222222", "X-Ms-Lease-Id", "X-Ms-Lease-Duration"
		b.want(400, "MissingRequiredHeader", "PUT", path, "")
		b.want(400, "InvalidHeaderValue", "PUT", path, "", act("borrow")...)
		b.want(400, "MissingRequiredHeader", "PUT", path, "", act("acquire")...)
		for _, d := range []string{"14", "61", "0", "-2", "x"} {
			b.want(400, "InvalidHeaderValue", "PUT", path, "", act("acquire", duration, d)...)
		}
		a := b.want(201, "", "PUT", path, "", act("acquire", duration, "15", "X-Ms-Proposed-Lease-Id", id)...)
		if a.Header.Get(lease) != id || a.Header.Get("Etag") == "" || a.Header.Get("Last-Modified") == "" {
			t.Errorf("acquire %s = %v", path, a.Header)
		}
		b.want(409, "LeaseAlreadyPresent", "PUT", path, "", act("acquire", duration, "15")...)
		b.want(400, "MissingRequiredHeader", "PUT", path, "", act("renew")...)
		b.want(409, "LeaseIdMismatchWithLeaseOperation", "PUT", path, "", act("renew", lease, other)...)
		b.want(200, "", "PUT", path, "", act("renew", lease, id)...)
		b.want(200, "", "PUT", path, "", act("change", lease, id, "X-Ms-Proposed-Lease-Id", other)...)
		b.want(400, "InvalidHeaderValue", "PUT", path, "", act("break", "X-Ms-Lease-Break-Period", "61")...)
		b.clk.Advance(1500 * time.Millisecond)
		// 13.5 s are left: seconds are rounded (Azurite: LokiBlobMetadataStore).
		if a := b.want(202, "", "PUT", path, "", act("break")...); a.Header.Get("X-Ms-Lease-Time") != "14" {
			t.Errorf("break %s with 13.5 s left: lease time %q, want 14", path, a.Header.Get("X-Ms-Lease-Time"))
		}
		a = b.want(202, "", "PUT", path, "", act("break", "X-Ms-Lease-Break-Period", "5")...)
		if a.Header.Get("X-Ms-Lease-Time") != "5" || a.Header.Get(lease) != "" {
			t.Errorf("break %s = %v", path, a.Header)
		}
		b.want(409, "LeaseIsBreakingAndCannotBeAcquired", "PUT", path, "", act("acquire", duration, "15", "X-Ms-Proposed-Lease-Id", other)...)
		b.want(200, "", "PUT", path, "", act("release", lease, other)...)
	}
	b.want(201, "", "PUT", "/box/a?comp=lease", "", header("X-Ms-Lease-Action", "acquire"), header("X-Ms-Lease-Duration", "-1"))
	b.want(412, "LeaseIdMissing", "PUT", "/box/a", "x", asBlockBlob)
	b.want(412, "LeaseIdMismatchWithBlobOperation", "DELETE", "/box/a", "", header("X-Ms-Lease-Id", "33333333-3333-3333-3333-333333333333"))
	head := b.want(200, "", "HEAD", "/box/a", "").Header
	if diff := cmp.Diff(map[string]string{"X-Ms-Lease-State": "leased", "X-Ms-Lease-Status": "locked", "X-Ms-Lease-Duration": "infinite"},
		some(head, "X-Ms-Lease-State", "X-Ms-Lease-Status", "X-Ms-Lease-Duration")); diff != "" {
		t.Errorf("lease of the blob (-want +got):\n%s", diff)
	}
}

func TestSnapshotsAndCopies(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	b.upload("/box/a", "old", header("x-ms-meta-K", "v"))
	name := b.want(201, "", "PUT", "/box/a?comp=snapshot", "").Header.Get("X-Ms-Snapshot")
	b.upload("/box/a", "new")
	at := query("snapshot", name)
	if a := b.want(200, "", "GET", "/box/a"+at, ""); a.Body != "old" || a.Header["X-Ms-Lease-State"] != nil || a.Header["X-Ms-Lease-Status"] != nil {
		t.Errorf("snapshot = %q, %v; want no lease, not even an empty one", a.Body, a.Header)
	}
	if list := b.want(200, "", "GET", "/box?restype=container&comp=list&include=snapshots", "").Body; !strings.Contains(list, "<Snapshot>"+name+"</Snapshot>") {
		t.Errorf("list = %s", list)
	}
	b.want(409, "SnapshotsPresent", "DELETE", "/box/a", "")
	for source, want := range map[string]string{"/box/a": "new", "/box/a" + at: "old"} {
		a := b.want(202, "", "PUT", "/box/copy", "", header("X-Ms-Copy-Source", b.endpoint+source))
		if a.Header.Get("X-Ms-Copy-Status") != "success" || a.Header.Get("X-Ms-Copy-Id") == "" {
			t.Errorf("copy = %v", a.Header)
		}
		got := b.want(200, "", "GET", "/box/copy", "")
		if got.Body != want || got.Header.Get("X-Ms-Copy-Source") != b.endpoint+source || got.Header.Get("X-Ms-Copy-Progress") != "3/3" {
			t.Errorf("copy of %s = %q, %v", source, got.Body, got.Header)
		}
	}
	b.want(404, "CannotVerifyCopySource", "PUT", "/box/copy", "", header("X-Ms-Copy-Source", b.endpoint+"/box/none"))
	b.want(404, "CannotVerifyCopySource", "PUT", "/box/copy", "", header("X-Ms-Copy-Source", "https://example.net/box/a"))
	b.want(401, "CannotVerifyCopySource", "PUT", "/box/copy", "", header("X-Ms-Copy-Source", b.server.BlobURL()+"/other/box/a"))
	b.want(400, "InvalidHeaderValue", "PUT", "/box/copy", "", header("X-Ms-Copy-Source", "box/a"))
	b.want(202, "", "PUT", "/box/copy", "", header("X-Ms-Copy-Source", b.endpoint+"/box/a"+at+"&"+fullAccount.account(t, rest.DevKey)))
	if source := b.want(200, "", "HEAD", "/box/copy", "").Header.Get("X-Ms-Copy-Source"); source != b.endpoint+"/box/a"+at {
		t.Errorf("x-ms-copy-source = %q, want it without the signature", source)
	}
	b.want(412, "SourceConditionNotMet", "PUT", "/box/copy", "", header("X-Ms-Copy-Source", b.endpoint+"/box/a"), header("X-Ms-Source-If-Match", `"0x1"`))
	b.want(409, "NoPendingCopyOperation", "PUT", "/box/copy?comp=copy&copyid=x", "", header("X-Ms-Copy-Action", "abort"))
	b.want(202, "", "DELETE", "/box/a"+at, "")
	b.want(404, "BlobNotFound", "GET", "/box/a"+at, "")
	b.want(202, "", "DELETE", "/box/a", "", header("X-Ms-Delete-Snapshots", "include"))
}

// TestBlobCutShort: a body that ends early changes nothing.
func TestBlobCutShort(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	for _, framing := range []string{"Content-Length: 100\r\n\r\nsome", "Transfer-Encoding: chunked\r\n\r\n64\r\nsome"} {
		r := b.request("PUT", "/box/a", "")
		asBlockBlob(r)
		if strings.HasPrefix(framing, "Content-Length") {
			r.ContentLength = 100
		}
		sign(t, r, rest.DevAccount, rest.DevKey, stringToSign(r, rest.DevAccount))
		conn, err := net.Dial("tcp", r.URL.Host)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "PUT %s HTTP/1.1\r\nHost: %s\r\n", r.URL.RequestURI(), r.URL.Host)
		r.Header.Write(conn)
		fmt.Fprint(conn, framing)
		conn.(*net.TCPConn).CloseWrite()
		answer := make([]byte, 1024)
		n, _ := conn.Read(answer)
		conn.Close()
		if !strings.HasPrefix(string(answer[:n]), "HTTP/1.1 400 ") {
			t.Errorf("answer to a body cut short = %q", answer[:n])
		}
	}
	b.want(404, "BlobNotFound", "GET", "/box/a", "")
}

func TestBlobAccess(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	const policies = `<SignedIdentifiers><SignedIdentifier><Id>p</Id><AccessPolicy><Start>2030-01-01T00:00:00.0000000Z</Start><Expiry>2030-02-01T00:00:00.0000000Z</Expiry>` +
		`<Permission>rl</Permission></AccessPolicy></SignedIdentifier></SignedIdentifiers>`
	b.want(200, "", "PUT", "/box?restype=container&comp=acl", policies, header("X-Ms-Blob-Public-Access", "container"))
	a := b.want(200, "", "GET", "/box?restype=container&comp=acl", "")
	if a.Body != `<?xml version="1.0" encoding="utf-8"?>`+policies || a.Header.Get("X-Ms-Blob-Public-Access") != "container" {
		t.Errorf("ACL = %s, %v", a.Body, a.Header)
	}
	b.want(400, "InvalidHeaderValue", "PUT", "/box?restype=container&comp=acl", "", header("X-Ms-Blob-Public-Access", "all"))
	b.want(400, "InvalidXmlDocument", "PUT", "/box?restype=container&comp=acl", strings.Replace(policies, ">rl<", ">q<", 1))

	// Signatures, with the string to sign written once more from the page.
	b.upload("/box/dir/a", "text")
	taken := b.want(201, "", "PUT", "/box/dir/a?comp=snapshot", "").Header.Get("X-Ms-Snapshot")
	of := strings.TrimPrefix(query("snapshot", taken), "?") + "&"
	const version, end = "2021-12-02", "2030-01-02T04:00:00Z"
	sas := func(kind, resource, permissions, snapshot, policy, contentType string) string {
		expiry := end
		if policy != "" {
			expiry = ""
		}
		text := strings.Join([]string{permissions, "", expiry, "/blob/devstoreaccount1/" + resource, policy, "", "", version, kind, snapshot, "", "", "", "", "", contentType}, "\n")
		return strings.TrimPrefix(query("sv", version, "sr", kind, "sig", mac(t, rest.DevKey, text),
			"sp", permissions, "se", expiry, "si", policy, "rsct", contentType), "?")
	}
	for _, test := range []struct {
		method, path, sas string
		status            int
		code              string
	}{
		{"GET", "/box/dir/a?", sas("b", "box/dir/a", "r", "", "", "text/served"), 200, ""},
		{"GET", "/box/dir/a?", sas("c", "box", "r", "", "", ""), 200, ""},
		{"GET", "/box/dir/a?", sas("c", "box", "", "", "p", ""), 200, ""},
		{"GET", "/box/dir/a?" + of, sas("bs", "box/dir/a", "r", taken, "", ""), 200, ""},
		{"GET", "/box/dir/a?", sas("bs", "box/dir/a", "r", taken, "", ""), 403, "AuthenticationFailed"},
		{"GET", "/box/other?", sas("b", "box/dir/a", "r", "", "", ""), 403, "AuthenticationFailed"},
		{"GET", "/box/dir/a?", sas("c", "box", "", "", "none", ""), 403, "AuthenticationFailed"},
		{"DELETE", "/box/dir/a?", sas("b", "box/dir/a", "rw", "", "", ""), 403, "AuthorizationPermissionMismatch"},
		{"GET", "/box?restype=container&comp=list&", sas("c", "box", "rl", "", "", ""), 200, ""},
		{"GET", "/box?restype=container&comp=list&", sas("c", "box", "r", "", "", ""), 403, "AuthorizationPermissionMismatch"},
		{"GET", "/box?restype=container&comp=list&", sas("b", "box", "rl", "", "", ""), 403, "AuthorizationPermissionMismatch"},
		{"GET", "/box/dir/a?", sas("", "box/dir/a", "r", "", "", ""), 403, "AuthenticationFailed"},
		{"GET", "/box?restype=container&comp=acl&", sas("c", "box", "rwdl", "", "", ""), 403, "AuthorizationPermissionMismatch"},
	} {
		a := b.send(b.request(test.method, test.path+test.sas, ""))
		if a.Status != test.status || a.Code != test.code {
			t.Errorf("%s %s = %d %s, want %d %s\n%s", test.method, test.path+test.sas, a.Status, a.Code, test.status, test.code, a.Body)
		}
		if strings.Contains(test.sas, "rsct=text") && a.Header.Get("Content-Type") != "text/served" {
			t.Errorf("Content-Type = %q, want the signature's", a.Header.Get("Content-Type"))
		}
	}
	// One that may only create does not overwrite.
	create := sas("c", "box", "c", "", "", "")
	for _, test := range []struct {
		path, name, value string
		status            int
		code              string
	}{
		{"/box/new?", "X-Ms-Blob-Type", "BlockBlob", 201, ""},
		{"/box/new?", "X-Ms-Blob-Type", "BlockBlob", 403, "UnauthorizedBlobOverwrite"},
		{"/box/dir/a?", "X-Ms-Copy-Source", b.endpoint + "/box/new", 403, "UnauthorizedBlobOverwrite"},
	} {
		r := b.request("PUT", test.path+create, "")
		r.Header.Set(test.name, test.value)
		if a := b.send(r); a.Status != test.status || a.Code != test.code {
			t.Errorf("PUT %s by a signature to create = %d %s, want %d %s", test.path, a.Status, a.Code, test.status, test.code)
		}
	}
}

func TestBlobServiceProperties(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	b.want(202, "", "PUT", "/?restype=service&comp=properties", `<StorageServiceProperties><Cors><CorsRule><AllowedOrigins>http://page</AllowedOrigins>`+
		`<AllowedMethods>GET,PUT</AllowedMethods><AllowedHeaders>*</AllowedHeaders><ExposedHeaders>x-ms-*</ExposedHeaders><MaxAgeInSeconds>7</MaxAgeInSeconds></CorsRule></Cors></StorageServiceProperties>`)
	if got := b.want(200, "", "GET", "/?restype=service&comp=properties", "").Body; !strings.Contains(got, "<AllowedOrigins>http://page</AllowedOrigins>") {
		t.Errorf("properties = %s", got)
	}
	r := b.request("OPTIONS", "/box/a", "")
	r.Header.Set("Origin", "http://page")
	r.Header.Set("Access-Control-Request-Method", "PUT")
	if a := b.send(r); a.Status != 200 || a.Header.Get("Access-Control-Max-Age") != "7" {
		t.Errorf("preflight = %d %v", a.Status, a.Header)
	}
	b.upload("/box/a", "text")
	a := b.want(200, "", "GET", "/box/a", "", header("Origin", "http://page"))
	if a.Header.Get("Access-Control-Allow-Origin") != "http://page" || !strings.Contains(a.Header.Get("Access-Control-Expose-Headers"), "x-ms-blob-type") {
		t.Errorf("CORS headers = %v", a.Header)
	}
}

// TestBlobFaults: a fault decides the answer, before the effect and after it.
func TestBlobFaults(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t, func(s *setup) {
		s.store.Fault = func(p storage.FaultPoint) error {
			if p.Op == "Put" && p.After == (p.Blob == "after") {
				return &rest.Error{Status: 503, Code: "ServerBusy", Message: "busy"}
			}
			return nil
		}
	})
	b.want(503, "ServerBusy", "PUT", "/box/before", "x", asBlockBlob)
	b.want(503, "ServerBusy", "PUT", "/box/after", "x", asBlockBlob)
	b.want(404, "BlobNotFound", "GET", "/box/before", "")
	b.want(200, "", "GET", "/box/after", "")
}

func TestLargeBlob(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	text := strings.Repeat("0123456789abcdef", 9<<16)
	b.upload("/box/a", text, func(r *http.Request) { r.ContentLength = -1 }) // chunked
	if a := b.want(200, "", "GET", "/box/a", ""); a.Body != text {
		t.Errorf("a large blob came back with %d bytes, want %d", len(a.Body), len(text))
	}
	b.want(413, "RequestBodyTooLarge", "PUT", "/box/list?comp=blocklist", strings.Repeat(" ", 17<<20))
	b.want(400, "InvalidQueryParameterValue", "PUT", "/box/a?comp=nonsense", "")
}

// TestBodiesOfOtherAccounts: an account that cannot stage bodies gets them
// spooled.
func TestBodiesOfOtherAccounts(t *testing.T) {
	t.Parallel()
	clk := clock.NewVirtual(start, &clock.VirtualOptions{Strict: true})
	account := rest.Account{Name: rest.DevAccount, Keys: []string{rest.DevKey}, Blobs: struct{ blob.Account }{storage.New(clk, nil)}}
	server, err := served.NewServer(clk, &rest.Options{Accounts: []rest.Account{account}, QueuePort: -1})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		if err := server.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	want := "DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey=" + rest.DevKey + ";BlobEndpoint=" + server.BlobURL() + "/devstoreaccount1;"
	if got := server.ConnectionString(account); got != want {
		t.Errorf("ConnectionString = %q, want %q", got, want)
	}
	b := &bench{T: t, clk: clk, server: server, client: &http.Client{Transport: transport}, endpoint: server.BlobURL() + "/devstoreaccount1"}
	b.want(201, "", "PUT", "/box?restype=container", "")
	for _, size := range []int{0, 5, 4 << 20, 4<<20 + 1, 9 << 20} {
		text := strings.Repeat("x", size)
		b.upload("/box/a", text)
		if a := b.want(200, "", "GET", "/box/a", ""); a.Body != text {
			t.Errorf("a blob of %d bytes came back with %d", size, len(a.Body))
		}
	}
}
