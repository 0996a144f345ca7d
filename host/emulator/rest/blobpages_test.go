package rest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/host/emulator/rest"
)

// Source: docs, Put Blob (page blobs), Put Page, Get Page Ranges, Set Blob Properties.
func TestPageBlobs(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	kind := header("X-Ms-Blob-Type", "PageBlob")
	sized := func(n string) func(*http.Request) { return header("X-Ms-Blob-Content-Length", n) }
	b.want(400, "MissingRequiredHeader", "PUT", "/box/disk", "", kind)
	b.want(400, "InvalidHeaderValue", "PUT", "/box/disk", "", kind, sized("700"))
	b.want(201, "", "PUT", "/box/disk", "", kind, sized("2048"), header("X-Ms-Blob-Sequence-Number", "5"), header("X-Ms-Blob-Content-Type", "disk/image"))

	update, span := header("X-Ms-Page-Write", "update"), func(s string) func(*http.Request) { return header("X-Ms-Range", "bytes="+s) }
	text := strings.Repeat("a", 512)
	put := b.want(201, "", "PUT", "/box/disk?comp=page", text, update, span("512-1023"))
	if put.Header.Get("X-Ms-Blob-Sequence-Number") != "5" || put.Header.Get("X-Ms-Content-Crc64") == "" || put.Header.Get("X-Ms-Request-Server-Encrypted") != "true" {
		t.Errorf("answer to Put Page = %v", put.Header)
	}
	b.want(201, "", "PUT", "/box/disk?comp=page", text, update, header("Range", "bytes=1024-1535"))
	for _, bad := range []struct {
		status int
		code   string
		edits  []func(*http.Request)
	}{
		{400, "MissingRequiredHeader", []func(*http.Request){span("0-511")}},
		{400, "MissingRequiredHeader", []func(*http.Request){update}},
		{400, "InvalidHeaderValue", []func(*http.Request){span("0-511"), header("X-Ms-Page-Write", "add")}},
		{400, "InvalidHeaderValue", []func(*http.Request){span("0-511"), header("X-Ms-Page-Write", "clear")}}, // with content
		{416, "InvalidPageRange", []func(*http.Request){update, span("0-1023")}},
		{416, "InvalidPageRange", []func(*http.Request){update, span("1-512")}},
		{416, "InvalidPageRange", []func(*http.Request){update, span("2048-2559")}},
		{400, "Crc64Mismatch", []func(*http.Request){update, span("0-511"), header("X-Ms-Content-Crc64", otherCRC)}},
		{400, "Md5Mismatch", []func(*http.Request){update, span("0-511"), header("Content-Md5", digitsMD5)}},
		{412, "SequenceNumberConditionNotMet", []func(*http.Request){update, span("0-511"), header("X-Ms-If-Sequence-Number-Lt", "5")}},
		{412, "ConditionNotMet", []func(*http.Request){update, span("0-511"), header("If-Match", `"0x1"`)}},
	} {
		b.want(bad.status, bad.code, "PUT", "/box/disk?comp=page", text, bad.edits...)
	}
	// The last pages that a number of 64 bits can name: their end is out of its
	// range.
	b.want(416, "InvalidPageRange", "PUT", "/box/disk?comp=page", text+text, update, span("9223372036854774784-9223372036854775807"))
	b.want(416, "InvalidPageRange", "PUT", "/box/disk?comp=page", "", header("X-Ms-Page-Write", "clear"), span("9223372036854774784-9223372036854775807"))
	ranges := func(want string, edit ...func(*http.Request)) {
		t.Helper()
		if got := b.want(200, "", "GET", "/box/disk?comp=pagelist", "", edit...); !strings.HasSuffix(got.Body, "<PageList>"+want+"</PageList>") || got.Header.Get("Etag") == "" {
			t.Errorf("page ranges = %s, want %s", got.Body, want)
		}
	}
	ranges("<PageRange><Start>512</Start><End>1535</End></PageRange>")
	ranges("<PageRange><Start>1024</Start><End>1535</End></PageRange>", span("1030-"))
	b.want(416, "InvalidRange", "GET", "/box/disk?comp=pagelist", "", span("2048-"))
	b.want(201, "", "PUT", "/box/disk?comp=page", "", header("X-Ms-Page-Write", "clear"), span("1024-1535"))
	ranges("<PageRange><Start>512</Start><End>1023</End></PageRange>")

	// Azblob live test BlobPutPagesIfSequenceNumberLessThanNegOne.
	b.want(400, "InvalidInput", "PUT", "/box/disk?comp=page", text, update, span("0-511"), header("X-Ms-If-Sequence-Number-Lt", "-1"))
	b.want(400, "InvalidHeaderValue", "PUT", "/box/disk?comp=page", text, update, span("0-511"), header("X-Ms-If-Sequence-Number-Lt", "x"))

	got := b.want(200, "", "GET", "/box/disk", "")
	if zeros := strings.Repeat("\x00", 512); got.Body != zeros+text+zeros+zeros || got.Header.Get("X-Ms-Blob-Sequence-Number") != "5" || got.Header.Get("Content-Md5") != "" {
		t.Errorf("content has %d bytes, %v", len(got.Body), got.Header)
	}
	b.want(206, "", "GET", "/box/disk", "", span("1000-1100"))
	list := b.want(200, "", "GET", "/box?restype=container&comp=list", "").Body
	if !strings.Contains(list, "<x-ms-blob-sequence-number>5</x-ms-blob-sequence-number>") || !strings.Contains(list, "<BlobType>PageBlob</BlobType>") {
		t.Errorf("list = %s", list)
	}

	number := func(action, n string) []func(*http.Request) {
		edits := []func(*http.Request){header("X-Ms-Sequence-Number-Action", action)}
		if n != "" {
			edits = append(edits, header("X-Ms-Blob-Sequence-Number", n))
		}
		return edits
	}
	for _, row := range []struct{ action, n, want string }{{"increment", "", "6"}, {"max", "3", "6"}, {"max", "9", "9"}, {"update", "2", "2"}} {
		if h := b.want(200, "", "PUT", "/box/disk?comp=properties", "", number(row.action, row.n)...).Header; h.Get("X-Ms-Blob-Sequence-Number") != row.want {
			t.Errorf("%s %s = %s, want %s", row.action, row.n, h.Get("X-Ms-Blob-Sequence-Number"), row.want)
		}
	}
	b.want(400, "MissingRequiredHeader", "PUT", "/box/disk?comp=properties", "", number("update", "")...)
	b.want(400, "InvalidHeaderValue", "PUT", "/box/disk?comp=properties", "", number("increment", "1")...)
	b.want(200, "", "PUT", "/box/disk?comp=properties", "", sized("1024"))
	if h := b.want(200, "", "HEAD", "/box/disk", "").Header; h.Get("Content-Length") != "1024" || h.Get("Content-Type") != "disk/image" {
		t.Errorf("after a change of size: %v", h)
	}
	b.want(409, "InvalidBlobType", "PUT", "/box/a?comp=properties", "", func(r *http.Request) { b.upload("/box/a", "x") }, sized("512"))

	// From an address, and as a copy.
	read := b.endpoint + "/box/disk?" + fullAccount.account(t, rest.DevKey)
	b.want(201, "", "PUT", "/box/second", "", kind, sized("512"))
	b.want(201, "", "PUT", "/box/second?comp=page", "", update, span("0-511"), from(read), header("X-Ms-Source-Range", "bytes=512-1023"))
	b.want(416, "InvalidPageRange", "PUT", "/box/second?comp=page", "", update, span("0-511"), from(read), header("X-Ms-Source-Range", "bytes=0-1023"))
	if got := b.want(200, "", "GET", "/box/second", "").Body; got != text {
		t.Errorf("pages from an address = %.20q", got)
	}
	b.want(202, "", "PUT", "/box/third", "", from(b.endpoint+"/box/disk"))
	b.want(501, "NotImplemented", "PUT", "/box/third?comp=incrementalcopy", "", from(read))
	b.want(501, "NotImplemented", "GET", "/box/disk?comp=pagelist", "", header("X-Ms-Previous-Snapshot-Url", b.endpoint+"/box/disk?snapshot=x"))
}

// Source: docs, Append Blob Seal; recordings of azure-storage-blob for Python 12.13.0
// at the service, test_copy_sealed_blob_will_get_a_sealed_blob.
func TestSealedAppendBlob(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	b.want(201, "", "PUT", "/box/log", "", header("X-Ms-Blob-Type", "AppendBlob"))
	if h := b.want(200, "", "HEAD", "/box/log", "").Header; h.Get("X-Ms-Blob-Sealed") != "" {
		t.Errorf("sealed = %q before", h.Get("X-Ms-Blob-Sealed"))
	}
	b.want(412, "AppendPositionConditionNotMet", "PUT", "/box/log?comp=seal", "", header("X-Ms-Blob-Condition-Appendpos", "1"))
	if h := b.want(200, "", "PUT", "/box/log?comp=seal", "").Header; h.Get("X-Ms-Blob-Sealed") != "true" || h.Get("Etag") == "" {
		t.Errorf("answer to the seal = %v", h)
	}
	a := b.want(409, "BlobIsSealed", "PUT", "/box/log?comp=appendblock", "x")
	if !strings.HasPrefix(a.error(t).Message, "The blob is sealed and its contents cannot be modified.") {
		t.Errorf("message = %s", a.error(t).Message)
	}
	if h := b.want(200, "", "GET", "/box/log", "").Header; h.Get("X-Ms-Blob-Sealed") != "true" {
		t.Errorf("sealed = %q after", h.Get("X-Ms-Blob-Sealed"))
	}
	if list := b.want(200, "", "GET", "/box?restype=container&comp=list", "").Body; !strings.Contains(list, "<Sealed>true</Sealed>") {
		t.Errorf("list = %s", list)
	}
	for path, seal := range map[string]string{"/box/copy": "true", "/box/second": ""} { // a copy of a sealed blob is sealed
		b.want(202, "", "PUT", path, "", from(b.endpoint+"/box/log"), header("X-Ms-Seal-Blob", seal))
		b.want(409, "BlobIsSealed", "PUT", path+"?comp=appendblock", "x")
	}
	b.want(202, "", "PUT", "/box/open", "", from(b.endpoint+"/box/log"), header("X-Ms-Seal-Blob", "false"))
	b.want(201, "", "PUT", "/box/open?comp=appendblock", "x")
}

// Source: docs, Cross-Origin resource Sharing support, "AllowedOrigins".
func TestOriginsOfADomain(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	b.want(202, "", "PUT", "/?restype=service&comp=properties", `<StorageServiceProperties><Cors><CorsRule><AllowedOrigins>https://*.shop.example,*.contoso.com</AllowedOrigins>`+
		`<AllowedMethods>GET</AllowedMethods><AllowedHeaders>*</AllowedHeaders><ExposedHeaders>*</ExposedHeaders><MaxAgeInSeconds>1</MaxAgeInSeconds></CorsRule></Cors></StorageServiceProperties>`)
	for origin, status := range map[string]int{
		"https://a.shop.example": 200, "https://a.b.SHOP.example": 200, "http://a.shop.example": 403, "https://shop.example": 403, "https://notshop.example": 403,
		"http://foo.contoso.com": 200, "foo.contoso.com": 200, "http://contoso.com.evil.example": 403, "http://evil.example/.contoso.com": 403,
	} {
		r := b.request("OPTIONS", "/box/a", "")
		r.Header.Set("Origin", origin)
		r.Header.Set("Access-Control-Request-Method", "GET")
		if a := b.send(r); a.Status != status {
			t.Errorf("%s: %d, want %d", origin, a.Status, status)
		}
	}
}
