package rest_test

import (
	"compress/gzip"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/emulator/rest"
)

// copyBench is a bench whose second account has a blob, and the address of that with a
// signature that may read it.
func copyBench(t *testing.T) (b *bench, plain, signed string) {
	b = newBlobBench(t)
	plain = b.server.BlobURL() + "/other/theirs/a"
	put := func(path, body string, edit ...func(*http.Request)) {
		first := b.endpoint
		b.endpoint = b.server.BlobURL() + "/other"
		defer func() { b.endpoint = first }()
		r := b.request("PUT", path, body)
		for _, e := range edit {
			e(r)
		}
		sign(t, r, "other", secondKey, stringToSign(r, "other"))
		if a := b.send(r); a.Status != 201 {
			t.Fatalf("PUT %s = %d %s", path, a.Status, a.Body)
		}
	}
	put("/theirs?restype=container", "")
	for i, block := range []string{"MQ==", "Mg=="} {
		put("/theirs/a?comp=block&blockid="+strings.ReplaceAll(block, "=", "%3D"), fmt.Sprint("block", i))
	}
	put("/theirs/a?comp=blocklist", "<BlockList><Latest>MQ==</Latest><Latest>Mg==</Latest></BlockList>",
		header("X-Ms-Blob-Content-Type", "text/plain"), header("x-ms-meta-Kind", "theirs"))
	text := "other\n" + fullAccount.join("sp", "ss", "srt", "st", "se", "sip", "spr", "sv") + "\n\n"
	return b, plain, plain + "?" + fullAccount.query(mac(t, secondKey, text))
}

// A copy from another account of the server needs a signature of that account, or a
// container that everybody may read. It brings the blocks along.
//
// Source: docs, Copy Blob, "Authorization"; Azurite, tests/blob/sas.test.ts "Copy blob
// across accounts".
func TestCopyBetweenAccounts(t *testing.T) {
	t.Parallel()
	b, plain, signed := copyBench(t)
	b.want(401, "CannotVerifyCopySource", "PUT", "/box/copy", "", from(plain))
	b.want(404, "CannotVerifyCopySource", "PUT", "/box/copy", "", from(strings.Replace(signed, "/theirs/a", "/theirs/b", 1)))
	b.want(412, "SourceConditionNotMet", "PUT", "/box/copy", "", from(signed), header("X-Ms-Source-If-Match", `"0x1"`))
	made := b.want(202, "", "PUT", "/box/copy", "", from(signed))
	got := b.want(200, "", "GET", "/box/copy", "")
	want := map[string]string{"Content-Type": "text/plain", "X-Ms-Meta-Kind": "theirs", "X-Ms-Copy-Source": plain, "X-Ms-Copy-Id": made.Header.Get("X-Ms-Copy-Id"), "X-Ms-Copy-Progress": "12/12"}
	for name, value := range want {
		if got.Header.Get(name) != value {
			t.Errorf("%s = %q, want %q", name, got.Header.Get(name), value)
		}
	}
	if got.Body != "block0block1" {
		t.Errorf("the copy = %q", got.Body)
	}
	if list := b.want(200, "", "GET", "/box/copy?comp=blocklist", "").Body; !strings.Contains(list, "<Name>MQ==</Name><Size>6</Size>") {
		t.Errorf("blocks of the copy = %s", list)
	}
	b.want(202, "", "PUT", "/box/copy", "", from(signed), header("X-Ms-Requires-Sync", "true"), header("x-ms-meta-Kind", "ours"))
	if h := b.want(200, "", "HEAD", "/box/copy", "").Header; h.Get("X-Ms-Meta-Kind") != "ours" {
		t.Errorf("metadata of the copy = %q", h.Get("X-Ms-Meta-Kind"))
	}
}

// Source: docs, Put Blob From URL, Put Block From URL, Append Block From URL.
func TestWritesFromURL(t *testing.T) {
	t.Parallel()
	b, plain, signed := copyBench(t)
	b.want(201, "", "PUT", "/box/log", "", header("X-Ms-Blob-Type", "AppendBlob"))
	put, block, appended := "/box/new", "/box/new?comp=block&blockid=MQ%3D%3D", "/box/log?comp=appendblock"
	typed := func(r *http.Request) {
		if !strings.Contains(r.URL.RawQuery, "comp=") {
			asBlockBlob(r)
		}
	}
	const sum, wrong = "X-Ms-Source-Content-Md5", "AAAAAAAAAAAAAAAAAAAAAA=="
	for _, path := range []string{put, block, appended} {
		b.want(401, "CannotVerifyCopySource", "PUT", path, "", typed, from(plain))
		b.want(401, "CannotVerifyCopySource", "PUT", path, "", typed, from(b.endpoint+"/box/log")) // no signature, for all the key
		b.want(404, "CannotVerifyCopySource", "PUT", path, "", typed, from(strings.Replace(signed, "/a?", "/b?", 1)))
		b.want(404, "CannotVerifyCopySource", "PUT", path, "", typed, from("http://192.0.2.1/a"))
		b.want(400, "Md5Mismatch", "PUT", path, "", typed, from(signed), header(sum, wrong))
		b.want(400, "Crc64Mismatch", "PUT", path, "", typed, from(signed), header("X-Ms-Source-Content-Crc64", otherCRC))
		b.want(412, "CannotVerifyCopySource", "PUT", path, "", typed, from(signed), header("X-Ms-Source-If-Match", `"0x1"`))
		// What has not changed is answered as the source would answer.
		b.want(304, "CannotVerifyCopySource", "PUT", path, "", typed, from(signed), header("X-Ms-Source-If-Modified-Since", "Thu, 03 Jan 2030 00:00:00 GMT"))
	}
	b.want(404, "BlobNotFound", "GET", put, "")
	b.want(201, "", "PUT", put, "", asBlockBlob, from(signed), header("x-ms-meta-Kind", "new"))
	if got := b.want(200, "", "GET", put, ""); got.Body != "block0block1" || got.Header.Get("Content-Type") != "text/plain" || got.Header.Get("X-Ms-Meta-Kind") != "new" || got.Header["X-Ms-Copy-Id"] != nil {
		t.Errorf("put from URL = %q, %v", got.Body, got.Header)
	}
	b.want(201, "", "PUT", put, "", asBlockBlob, from(signed), header("X-Ms-Copy-Source-Blob-Properties", "false"))
	if got := b.want(200, "", "HEAD", put, "").Header.Get("Content-Type"); got != "application/octet-stream" {
		t.Errorf("content type without the source's properties = %q", got)
	}
	b.want(201, "", "PUT", block, "", from(signed), header("X-Ms-Source-Range", "bytes=3-7"))
	b.want(201, "", "PUT", "/box/new?comp=blocklist", "<BlockList><Latest>MQ==</Latest></BlockList>")
	if got := b.want(200, "", "GET", put, "").Body; got != "ck0bl" {
		t.Errorf("block from URL = %q, want ck0bl", got)
	}
	if h := b.want(201, "", "PUT", appended, "", from(signed), header("X-Ms-Source-Range", "bytes=6-")).Header; h.Get("X-Ms-Blob-Append-Offset") != "0" || h.Get("X-Ms-Blob-Committed-Block-Count") != "1" {
		t.Errorf("append from URL = %v", h)
	}
	if got := b.want(200, "", "GET", "/box/log", "").Body; got != "block1" {
		t.Errorf("log = %q, want block1", got)
	}
	b.want(416, "InvalidRange", "PUT", appended, "", from(signed), header("X-Ms-Source-Range", "bytes=12-"))
}

// Another server of this machine is read as well, and nothing beyond it.
func TestWritesFromAnotherServer(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	there := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/file":
			http.ServeContent(w, r, "file", time.Time{}, strings.NewReader("0123456789"))
		case "/whole": // knows no ranges
			fmt.Fprint(w, "0123456789")
		case "/away":
			http.Redirect(w, r, "http://192.0.2.1/file", http.StatusFound)
		case "/short":
			w.Header().Set("Content-Length", "10")
			fmt.Fprint(w, "012")
		default:
			http.Error(w, "no", http.StatusForbidden)
		}
	}))
	defer there.Close()
	b.want(201, "", "PUT", "/box/a", "", asBlockBlob, from(there.URL+"/file"))
	for _, path := range []string{"/file", "/whole"} {
		b.want(201, "", "PUT", "/box/a?comp=block&blockid=MQ%3D%3D", "", from(there.URL+path), header("X-Ms-Source-Range", "bytes=2-4"))
		b.want(201, "", "PUT", "/box/a?comp=blocklist", "<BlockList><Latest>MQ==</Latest></BlockList>")
		if got := b.want(200, "", "GET", "/box/a", "").Body; got != "234" {
			t.Errorf("range of %s = %q, want 234", path, got)
		}
	}
	b.want(403, "CannotVerifyCopySource", "PUT", "/box/a", "", asBlockBlob, from(there.URL+"/secret"))
	b.want(404, "CannotVerifyCopySource", "PUT", "/box/a", "", asBlockBlob, from(there.URL+"/away"))
	b.want(500, "CannotVerifyCopySource", "PUT", "/box/a", "", asBlockBlob, from(there.URL+"/short"))
	b.want(404, "CannotVerifyCopySource", "PUT", "/box/a", "", from(there.URL+"/file")) // Copy Blob copies blobs
	if got := b.want(200, "", "GET", "/box/a", "").Body; got != "234" {
		t.Errorf("after refusals = %q, want 234", got)
	}
	// The account of this server that a path names is not the other server's.
	b.want(403, "CannotVerifyCopySource", "PUT", "/box/b", "", asBlockBlob, from(there.URL+"/"+rest.DevAccount+"/box/a"))
}

// A body from another server is taken as it is: nothing is unpacked on the way.
//
// Source: docs, Put Blob From URL: the content of the source is copied.
func TestContentOfAnotherServerIsNotUnpacked(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	there := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			defer z.Close()
			fmt.Fprint(z, r.Header.Get("Accept-Encoding"))
			return
		}
		fmt.Fprint(w, r.Header.Get("Accept-Encoding"))
	}))
	defer there.Close()
	b.want(201, "", "PUT", "/box/a", "", asBlockBlob, from(there.URL+"/file"))
	if got := b.want(200, "", "GET", "/box/a", "").Body; got != "identity" {
		t.Errorf("the server was asked for encoding %q, want identity", got)
	}
	// A server that packs all the same is not what was asked for, but its bytes are.
	packed := []byte{0x1f, 0x8b, 8, 0}
	odd := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Write(packed)
	}))
	defer odd.Close()
	b.want(201, "", "PUT", "/box/b", "", asBlockBlob, from(odd.URL+"/file"))
	if got := b.want(200, "", "GET", "/box/b", "").Body; got != string(packed) {
		t.Errorf("content = %x, want %x", got, packed)
	}
}
