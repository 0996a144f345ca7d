package rest_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/emulator/rest"
)

func from(address string) func(*http.Request) { return header("X-Ms-Copy-Source", address) }

// blobSAS signs a signature for a blob or a container (docs: Create a service SAS).
func (f fields) forBlob(t *testing.T, path string) string {
	lines := f.join("sp", "st", "se") + "\n/blob/" + rest.DevAccount + path + "\n" +
		f.join("si", "sip", "spr", "sv", "sr") + "\n\n" + f.join("ses", "rscc", "rscd", "rsce", "rscl", "rsct")
	return f.query(mac(t, rest.DevKey, lines))
}

// A source with a signature is read by that signature, for every caller of the
// copy. A source without one is read with the key of the account, if the caller
// used it and does not copy at once from a URL.
//
// Source: docs, Copy Blob, "Authorization"; Copy Blob From URL, "x-ms-copy-source";
// Blob Storage error codes.
func TestCopySourceSignatureIsChecked(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	b.upload("/box/a", "text")
	b.upload("/box/b", "text")
	source := b.endpoint + "/box/a"
	read := fields{"sv": "2021-12-02", "sr": "b", "sp": "r", "se": "2030-01-02T04:00:00Z"}
	for _, row := range []struct{ name, sas, code string }{
		{"good", read.forBlob(t, "/box/a"), ""},
		{"of the container", read.with("sr", "c").forBlob(t, "/box"), ""},
		{"of the account", fullAccount.account(t, rest.DevKey), ""},
		{"none", "", ""},
		{"of another blob", read.forBlob(t, "/box/b"), "CannotVerifyCopySource"},
		{"changed", strings.Replace(read.forBlob(t, "/box/a"), "sp=r", "sp=rw", 1), "CannotVerifyCopySource"},
		{"expired", read.with("se", "2030-01-02T03:00:00Z").forBlob(t, "/box/a"), "CannotVerifyCopySource"},
		{"to write only", read.with("sp", "cw").forBlob(t, "/box/a"), "CannotVerifyCopySource"},
		{"account, other service", fullAccount.with("ss", "q").account(t, rest.DevKey), "CannotVerifyCopySource"},
		{"account, containers only", fullAccount.with("srt", "sc").account(t, rest.DevKey), "CannotVerifyCopySource"},
	} {
		for i, edit := range []func(*http.Request){func(*http.Request) {}, header("X-Ms-Requires-Sync", "true")} {
			a := b.call("PUT", "/box/copy", "", from(source+"?"+row.sas), edit)
			if row.name == "none" && i == 1 {
				if a.Status != 401 || a.Code != "CannotVerifyCopySource" {
					t.Errorf("none, from a URL: %d %s", a.Status, a.Code)
				}
				continue
			}
			if row.code == "" && a.Status != 202 || row.code != "" && (a.Status != 403 || a.Code != row.code) {
				t.Errorf("%s: %d %s, want %q\n%s", row.name, a.Status, a.Code, row.code, a.Body)
			}
		}
	}
	// A signature for writing the copy cannot read with it.
	write := fields{"sv": "2021-12-02", "sr": "b", "sp": "cw", "se": "2030-01-02T04:00:00Z"}.forBlob(t, "/box/copy")
	ask := func(source string) answer {
		r := b.request("PUT", "/box/copy?"+write, "")
		r.Header.Set("X-Ms-Copy-Source", source)
		return b.send(r)
	}
	if a := ask(source); a.Status != 401 || a.Code != "CannotVerifyCopySource" ||
		a.Header.Get("X-Ms-Copy-Source-Status-Code") != "401" || a.Header.Get("X-Ms-Copy-Source-Error-Code") != "NoAuthenticationInformation" {
		t.Errorf("a signature for the copy alone: %d %s", a.Status, a.Code)
	}
	if a := ask(source + "?" + read.forBlob(t, "/box/a")); a.Status != 202 {
		t.Errorf("a signature for each: %d %s", a.Status, a.Code)
	}
}

// readable is the address of a blob with a signature to read it.
func (b *bench) readable(path string) string {
	return b.endpoint + path + "?" + fields{"sv": "2021-12-02", "sr": "b", "sp": "r", "se": "2031-01-02"}.forBlob(b.T, path)
}

// A copy from the archive brings the blob back, if it says to which tier.
//
// Source: docs, Copy Blob, "Remarks"; Azurite: LokiBlobMetadataStore.startCopyFromURL.
func TestArchivedCopySource(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	b.upload("/box/a", "text")
	b.want(200, "", "PUT", "/box/a?comp=tier", "", header("X-Ms-Access-Tier", "Archive"))
	source := b.endpoint + "/box/a"
	b.want(409, "BlobArchived", "PUT", "/box/copy", "", from(source))
	b.want(409, "BlobArchived", "PUT", "/box/copy", "", from(b.readable("/box/a")), header("X-Ms-Requires-Sync", "true"), header("X-Ms-Access-Tier", "Hot"))
	b.want(202, "", "PUT", "/box/copy", "", from(source), header("X-Ms-Access-Tier", "Cool"))
	// The copy lies in the archive until it has come out of it.
	if h := b.want(200, "", "HEAD", "/box/copy", "").Header; h.Get("X-Ms-Access-Tier") != "Archive" || h.Get("X-Ms-Archive-Status") != "rehydrate-pending-to-cool" {
		t.Errorf("the copy's tier = %q, %q", h.Get("X-Ms-Access-Tier"), h.Get("X-Ms-Archive-Status"))
	}
	b.want(409, "BlobArchived", "GET", "/box/copy", "")
	b.clk.Advance(15 * time.Hour)
	if got := b.want(200, "", "GET", "/box/copy", "").Body; got != "text" {
		t.Errorf("the copy = %q", got)
	}
	// A copy has a tier of its own.
	b.want(200, "", "PUT", "/box/copy?comp=tier", "", header("X-Ms-Access-Tier", "Cold"))
	b.want(202, "", "PUT", "/box/third", "", from(b.endpoint+"/box/copy"))
	if h := b.want(200, "", "HEAD", "/box/third", "").Header; h.Get("X-Ms-Access-Tier") != "Hot" || h.Get("X-Ms-Access-Tier-Inferred") != "true" {
		t.Errorf("the tier of a copy = %q", h.Get("X-Ms-Access-Tier"))
	}
}

// Source: docs, Copy Blob From URL, "x-ms-source-content-md5".
func TestCopySourceMD5(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	b.upload("/box/a", digits)
	sync := header("X-Ms-Requires-Sync", "true")
	source := from(b.readable("/box/a"))
	b.want(400, "Md5Mismatch", "PUT", "/box/copy", "", sync, source, header("X-Ms-Source-Content-Md5", "AAAAAAAAAAAAAAAAAAAAAA=="))
	b.want(404, "BlobNotFound", "HEAD", "/box/copy", "")
	b.want(400, "InvalidMd5", "PUT", "/box/copy", "", sync, source, header("X-Ms-Source-Content-Md5", "AQIDBA=="))
	got := b.want(202, "", "PUT", "/box/copy", "", sync, source, header("X-Ms-Source-Content-Md5", digitsMD5))
	if sum := got.Header.Get("Content-Md5"); sum != digitsMD5 {
		t.Errorf("the answer has MD5 %q, want %q", sum, digitsMD5)
	}
	// The content counts, not its description.
	b.want(200, "", "PUT", "/box/a?comp=properties", "", header("X-Ms-Blob-Content-Md5", "AAAAAAAAAAAAAAAAAAAAAA=="))
	b.want(202, "", "PUT", "/box/copy", "", sync, source, header("X-Ms-Source-Content-Md5", digitsMD5))
}

// A field of a signature that is given twice could be checked in one place and
// used in another.
//
// Source: Azurite, tests/queue/queueSas.test.ts "should reject duplicate SAS
// signature query".
func TestSecondFieldOfASignatureIsRefused(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	b.upload("/box/a", "text")
	sas := fullAccount.account(t, rest.DevKey)
	v, _ := url.ParseQuery(sas)
	for _, more := range []string{"sig=other", "SIG=" + url.QueryEscape(v.Get("sig")), "sp=r", "se=2031-01-02", "rscc=no-store&rscc=x"} {
		if a := b.ask("GET", "/box/a", "", sas+"&"+more); a.Status != 403 || a.Code != "AuthenticationFailed" {
			t.Errorf("with %s: %d %s, want 403 AuthenticationFailed", more, a.Status, a.Code)
		}
	}
}

// A copy replaces a blob of its own type only.
//
// Source: docs, Copy Blob, "Remarks".
func TestCopyOverAnotherType(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	b.upload("/box/a", "text")
	b.want(201, "", "PUT", "/box/log", "", header("X-Ms-Blob-Type", "AppendBlob"))
	b.want(409, "InvalidBlobType", "PUT", "/box/log", "", from(b.endpoint+"/box/a"))
	b.want(409, "InvalidBlobType", "PUT", "/box/a", "", from(b.endpoint+"/box/log"))
	b.want(409, "InvalidBlobType", "PUT", "/box/a", "", from(b.readable("/box/log")), header("X-Ms-Requires-Sync", "true"))
	if got := b.want(200, "", "HEAD", "/box/log", "").Header.Get("X-Ms-Blob-Type"); got != "AppendBlob" {
		t.Errorf("type = %s, want AppendBlob", got)
	}
	b.want(202, "", "PUT", "/box/b", "", from(b.endpoint+"/box/a"))
	b.want(202, "", "PUT", "/box/b", "", from(b.endpoint+"/box/a"))
}
