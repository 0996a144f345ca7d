package rest_test

import (
	"crypto/md5"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
)

// The CRC-64 of the storage service is CRC-64/NVME, whose check value, the sum of
// "123456789", is 0xAE8B14860A799888; on the wire it is little-endian.
//
// Source: catalogue of parametrised CRC algorithms, CRC-64/NVME; docs, Put Block,
// "x-ms-content-crc64".
const (
	digits    = "123456789"
	digitsCRC = "iJh5CoYUi64="
	digitsMD5 = "JfnnlDI7RTiF9RgfG2JNCw=="
	otherCRC  = "AAAAAAAAAAA="
)

// Each write that takes a body compares it with the checksum that comes with it,
// and repeats it in its answer.
func TestContentCRC64(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	b.want(201, "", "PUT", "/box/log", "", header("X-Ms-Blob-Type", "AppendBlob"))
	for _, w := range []struct{ name, path string }{
		{"PutBlob", "/box/a"}, {"PutBlock", "/box/b?comp=block&blockid=MQ%3D%3D"}, {"AppendBlock", "/box/log?comp=appendblock"},
	} {
		edit := func(r *http.Request) {
			if w.name == "PutBlob" {
				asBlockBlob(r)
			}
		}
		b.want(400, "Crc64Mismatch", "PUT", w.path, digits, edit, header("X-Ms-Content-Crc64", otherCRC))
		b.want(400, "InvalidHeaderValue", "PUT", w.path, digits, edit, header("X-Ms-Content-Crc64", "AQID"))
		b.want(400, "BothCrc64AndMd5HeaderPresent", "PUT", w.path, digits, edit, header("X-Ms-Content-Crc64", digitsCRC), header("Content-Md5", digitsMD5))
		got := b.want(201, "", "PUT", w.path, digits, edit, header("X-Ms-Content-Crc64", digitsCRC))
		if sum := got.Header.Get("X-Ms-Content-Crc64"); sum != digitsCRC {
			t.Errorf("%s answers the CRC %q, want %q", w.name, sum, digitsCRC)
		}
	}
	list := "<BlockList><Latest>MQ==</Latest></BlockList>"
	b.want(400, "Crc64Mismatch", "PUT", "/box/b?comp=blocklist", list, header("X-Ms-Content-Crc64", otherCRC))
	b.want(201, "", "PUT", "/box/b?comp=blocklist", list)
	if got := b.want(200, "", "GET", "/box/log", ""); got.Body != digits {
		t.Errorf("refused blocks are in the log: %q", got.Body)
	}
}

// A block is answered with its MD5 if the request brings one, and with its CRC-64
// otherwise, since version 2026-10-06 always. A blob that is put is always answered with
// its MD5, which it keeps.
//
// Source: docs, Put Block, Append Block, Put Page, "Response headers"; Put Blob;
// azure-storage-blob for Python, recordings of version 2021-08-06
// (test_append_block_with_md5, test_get_blob_properties_returns_rehydrate_priority) and
// CHANGELOG.md, 12.31.0b1.
func TestAnswersOfBlocks(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	page := strings.Repeat("7", 512)
	b.want(201, "", "PUT", "/box/log", "", header("X-Ms-Blob-Type", "AppendBlob"))
	b.want(201, "", "PUT", "/box/pages", "", header("X-Ms-Blob-Type", "PageBlob"), header("X-Ms-Blob-Content-Length", "512"))
	for _, w := range []struct {
		path, body string
		edit       func(*http.Request)
		always     bool
	}{
		{"/box/a", digits, asBlockBlob, true},
		{"/box/b?comp=block&blockid=MQ%3D%3D", digits, func(*http.Request) {}, false},
		{"/box/log?comp=appendblock", digits, func(*http.Request) {}, false},
		{"/box/pages?comp=page", page, func(r *http.Request) {
			r.Header.Set("X-Ms-Page-Write", "update")
			r.Header.Set("X-Ms-Range", "bytes=0-511")
		}, false},
	} {
		sum := md5.Sum([]byte(w.body))
		want := base64.StdEncoding.EncodeToString(sum[:])
		b.want(400, "Md5Mismatch", "PUT", w.path, w.body, w.edit, header("Content-Md5", base64.StdEncoding.EncodeToString(make([]byte, md5.Size))))
		for version, always := range map[string]bool{"2018-11-09": true, "2021-12-02": w.always} {
			plain := b.want(201, "", "PUT", w.path, w.body, w.edit, header("X-Ms-Version", version))
			if got := plain.Header.Get("Content-Md5"); got != "" != always || always && got != want {
				t.Errorf("%s at %s is answered with the MD5 %q; wanted: %v", w.path, version, got, always)
			}
			brought := b.want(201, "", "PUT", w.path, w.body, w.edit, header("X-Ms-Version", version), header("Content-Md5", want))
			if got := brought.Header.Get("Content-Md5"); got != want {
				t.Errorf("%s at %s brings an MD5 and is answered with %q", w.path, version, got)
			}
			if plain.Header.Get("X-Ms-Content-Crc64") == "" || brought.Header.Get("X-Ms-Content-Crc64") != "" {
				t.Errorf("%s at %s is answered with the CRCs %q and, with an MD5, %q", w.path, version, plain.Header.Get("X-Ms-Content-Crc64"), brought.Header.Get("X-Ms-Content-Crc64"))
			}
		}
		both := b.want(201, "", "PUT", w.path, w.body, w.edit, header("X-Ms-Version", "2026-10-06"), header("Content-Md5", want)).Header
		if both.Get("Content-Md5") != want || both.Get("X-Ms-Content-Crc64") == "" {
			t.Errorf("%s at 2026-10-06 is answered with the MD5 %q and the CRC %q", w.path, both.Get("Content-Md5"), both.Get("X-Ms-Content-Crc64"))
		}
	}
}

func TestRangeCRC64(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	b.upload("/box/a", "<"+digits+">")
	span := header("X-Ms-Range", "bytes=1-9")
	got := b.want(206, "", "GET", "/box/a", "", span, header("X-Ms-Range-Get-Content-Crc64", "true"))
	if sum := got.Header.Get("X-Ms-Content-Crc64"); sum != digitsCRC || got.Body != digits {
		t.Errorf("the CRC of %q = %q, want %q", got.Body, sum, digitsCRC)
	}
	b.want(400, "InvalidHeaderValue", "GET", "/box/a", "", header("X-Ms-Range-Get-Content-Crc64", "true"))
	b.want(400, "BothCrc64AndMd5HeaderPresent", "GET", "/box/a", "", span, header("X-Ms-Range-Get-Content-Crc64", "true"), header("X-Ms-Range-Get-Content-Md5", "true"))
}

// The MD5 that is kept with a blob is a property like the others where nothing is
// compared with it.
//
// Source: Azurite, tests/blob/apis/blob.test.ts "setHTTPHeaders with all parameters
// set", which its authors also run against the service.
func TestContentMD5PropertyOfAnyLength(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	b.upload("/box/a", digits)
	short := header("X-Ms-Blob-Content-Md5", "AQIDBA==")
	b.want(200, "", "PUT", "/box/a?comp=properties", "", short)
	if got := b.want(200, "", "HEAD", "/box/a", "").Header.Get("Content-Md5"); got != "AQIDBA==" {
		t.Errorf("the property = %q, want AQIDBA==", got)
	}
	b.want(201, "", "PUT", "/box/b?comp=block&blockid=MQ%3D%3D", digits)
	b.want(201, "", "PUT", "/box/b?comp=blocklist", "<BlockList><Latest>MQ==</Latest></BlockList>", short)
	b.want(201, "", "PUT", "/box/log", "", short, header("X-Ms-Blob-Type", "AppendBlob"))
	b.want(400, "InvalidMd5", "PUT", "/box/a", digits, short, asBlockBlob) // compared with the content
	b.want(400, "InvalidMd5", "PUT", "/box/a?comp=properties", "", header("X-Ms-Blob-Content-Md5", "no base64"))
}

// Identifiers of blocks that wait have one length before they are encoded: MQ== and
// MTE= are one byte and two. Blocks of the blob itself do not count.
//
// Source: docs, Put Block, "blockid", "Remarks".
func TestBlockIDLengthsBeforeEncoding(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	b.want(201, "", "PUT", "/box/b?comp=block&blockid=MQ%3D%3D", "1")
	b.want(400, "InvalidBlobOrBlock", "PUT", "/box/b?comp=block&blockid=MTE%3D", "2")
	b.want(201, "", "PUT", "/box/b?comp=blocklist", "<BlockList><Latest>MQ==</Latest></BlockList>")
	b.want(201, "", "PUT", "/box/b?comp=block&blockid=MTE%3D", "2")
	b.want(400, "InvalidBlobOrBlock", "PUT", "/box/b?comp=block&blockid=Mg%3D%3D", "2")
	b.want(201, "", "PUT", "/box/b?comp=blocklist", "<BlockList><Committed>MQ==</Committed><Latest>MTE=</Latest></BlockList>")
	if got := b.want(200, "", "GET", "/box/b", "").Body; got != "12" {
		t.Errorf("content = %q, want 12", got)
	}
}
