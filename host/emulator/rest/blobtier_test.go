package rest_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/redeliver/redeliver/host/emulator/rest"
)

// Set Blob Tier, and the tier that comes with a write (docs: Set Blob Tier).
func TestBlobTier(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	b.upload("/box/a", "text")
	set := func(tier string) { b.want(200, "", "PUT", "/box/a?comp=tier", "", header("X-Ms-Access-Tier", tier)) }
	check := func(path, tier, inferred string) {
		t.Helper()
		h := b.want(200, "", "HEAD", path, "").Header
		if h.Get("X-Ms-Access-Tier") != tier || h.Get("X-Ms-Access-Tier-Inferred") != inferred {
			t.Errorf("tier of %s = %q, inferred %q, want %q, %q", path, h.Get("X-Ms-Access-Tier"), h.Get("X-Ms-Access-Tier-Inferred"), tier, inferred)
		}
	}
	etag := b.want(200, "", "HEAD", "/box/a", "").Header.Get("Etag")
	check("/box/a", "Hot", "true")
	set("cool")
	check("/box/a", "Cool", "")
	if got := b.want(200, "", "HEAD", "/box/a", "").Header.Get("Etag"); got != etag {
		t.Errorf("ETag = %s after the tier was set, %s before", got, etag)
	}
	set("Archive")
	b.want(409, "BlobArchived", "GET", "/box/a", "")
	b.want(202, "", "PUT", "/box/a?comp=tier", "", header("X-Ms-Access-Tier", "Hot"))
	b.clk.Advance(15 * time.Hour)
	if a := b.want(200, "", "GET", "/box/a", ""); a.Body != "text" {
		t.Errorf("body out of the archive = %q", a.Body)
	}
	b.upload("/box/cold", "text", header("X-Ms-Access-Tier", "Cold"))
	check("/box/cold", "Cold", "")
	b.upload("/box/cold", "text")
	check("/box/cold", "Hot", "true")
	// Source: azure-storage-blob for Python 12.31.1, test_smart_access_tier, and its
	// CHANGELOG.md, 12.31.0b1 (a download says its tier).
	b.upload("/box/smart", "text", header("X-Ms-Access-Tier", "Smart"))
	check("/box/smart", "Smart", "")
	for version, tier := range map[string]string{"2021-12-02": "", "2026-10-06": "Smart"} {
		h := b.want(200, "", "GET", "/box/smart", "", header("X-Ms-Version", version)).Header
		if h.Get("X-Ms-Access-Tier") != tier || h.Get("X-Ms-Smart-Access-Tier") != "" != (tier != "") {
			t.Errorf("a download at %s has tier %q, %q", version, h.Get("X-Ms-Access-Tier"), h.Get("X-Ms-Smart-Access-Tier"))
		}
	}
	b.want(202, "", "PUT", "/box/copy", "", header("X-Ms-Copy-Source", b.endpoint+"/box/a"), header("X-Ms-Access-Tier", "Cool"))
	check("/box/copy", "Cool", "")
	b.want(201, "", "PUT", "/box/list?comp=blocklist", "<BlockList></BlockList>", header("X-Ms-Access-Tier", "Cool"))
	check("/box/list", "Cool", "")

	b.want(201, "", "PUT", "/box/cold?comp=lease", "", header("X-Ms-Lease-Action", "acquire"), header("X-Ms-Lease-Duration", "-1"))
	b.want(412, "LeaseIdMissing", "PUT", "/box/cold?comp=tier", "", header("X-Ms-Access-Tier", "Hot"))
	b.want(400, "MissingRequiredHeader", "PUT", "/box/a?comp=tier", "")
	b.want(400, "InvalidHeaderValue", "PUT", "/box/a?comp=tier", "", header("X-Ms-Access-Tier", "Warm"))
	b.want(404, "BlobNotFound", "PUT", "/box/none?comp=tier", "", header("X-Ms-Access-Tier", "Hot"))
	b.want(201, "", "PUT", "/box/log", "", header("X-Ms-Blob-Type", "AppendBlob"))
	b.want(409, "InvalidBlobType", "PUT", "/box/log?comp=tier", "", header("X-Ms-Access-Tier", "Hot"))
	b.want(409, "InvalidBlobType", "PUT", "/box/log2", "", header("X-Ms-Blob-Type", "AppendBlob"), header("X-Ms-Access-Tier", "Hot"))
}

// A blob comes out of the archive in its time, and says so until then.
//
// Source: docs, Set Blob Tier, "Remarks"; Get Blob Properties, "x-ms-archive-status",
// "x-ms-rehydrate-priority", "x-ms-access-tier-change-time"; Blob rehydration from the
// archive tier; Blob Storage error codes, BlobBeingRehydrated.
func TestRehydration(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	names := []string{"X-Ms-Access-Tier", "X-Ms-Access-Tier-Change-Time", "X-Ms-Archive-Status", "X-Ms-Rehydrate-Priority"}
	check := func(want ...string) {
		t.Helper()
		got := some(b.want(200, "", "HEAD", "/box/a", "").Header, names...)
		list := b.want(200, "", "GET", "/box?restype=container&comp=list", "").Body
		for i, name := range names {
			if got[name] != want[i] {
				t.Errorf("%s = %q, want %q", name, got[name], want[i])
			}
			element := []string{"AccessTier", "AccessTierChangeTime", "ArchiveStatus", "RehydratePriority"}[i]
			if text := "<" + element + ">" + want[i] + "</" + element + ">"; strings.Contains(list, "<"+element+">") != (want[i] != "") || want[i] != "" && !strings.Contains(list, text) {
				t.Errorf("the listing does not say %q of %s: %s", want[i], element, list)
			}
		}
	}
	at := func() string { return b.clk.Now().Format(http.TimeFormat) }
	set := func(status int, code, tier, priority string) {
		t.Helper()
		b.want(status, code, "PUT", "/box/a?comp=tier", "", header("X-Ms-Access-Tier", tier), header("X-Ms-Rehydrate-Priority", priority))
	}
	b.upload("/box/a", "text")
	check("Hot", "", "", "")
	b.clk.Advance(time.Minute)
	set(200, "", "Archive", "")
	archived := at()
	check("Archive", archived, "", "")
	b.clk.Advance(time.Minute)

	set(400, "InvalidHeaderValue", "Hot", "Low")
	set(202, "", "Hot", "")
	check("Archive", archived, "rehydrate-pending-to-hot", "Standard")
	b.want(409, "BlobArchived", "GET", "/box/a", "")
	set(409, "BlobBeingRehydrated", "Cool", "")
	set(409, "BlobBeingRehydrated", "Archive", "")
	b.clk.Advance(15*time.Hour - time.Second)
	b.want(409, "BlobArchived", "GET", "/box/a", "")
	b.clk.Advance(time.Second)
	arrived := at()
	b.clk.Advance(time.Minute)
	check("Hot", arrived, "", "")
	b.want(200, "", "GET", "/box/a", "")

	// The priority can be raised, not lowered.
	set(200, "", "Archive", "")
	archived = at()
	set(202, "", "Cold", "standard")
	b.clk.Advance(time.Minute)
	set(202, "", "Cold", "High")
	check("Archive", archived, "rehydrate-pending-to-cold", "High")
	set(202, "", "Cold", "Standard")
	check("Archive", archived, "rehydrate-pending-to-cold", "High")
	b.clk.Advance(time.Hour)
	check("Cold", at(), "", "")
}

// What is in the archive can be described and deleted, and neither read nor
// changed.
//
// Source: docs, Access tiers for blob data, "Archive access tier"; that it takes no
// snapshots, Azurite: LokiBlobMetadataStore.createSnapshot.
func TestArchivedBlobIsNotChanged(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	b.upload("/box/a", "text", header("X-Ms-Access-Tier", "Archive"))
	before := b.state()
	for _, row := range []struct {
		status       int
		method, path string
	}{
		{409, "GET", "/box/a"},
		{409, "PUT", "/box/a?comp=metadata"},
		{409, "PUT", "/box/a?comp=properties"},
		{409, "PUT", "/box/a?comp=snapshot"},
		{200, "HEAD", "/box/a"},
		{200, "GET", "/box/a?comp=metadata"},
		{200, "GET", "/box/a?comp=tags"},
	} {
		code := ""
		if row.status != 200 {
			code = "BlobArchived"
		}
		b.want(row.status, code, row.method, row.path, "")
	}
	if after := b.state(); after != before {
		t.Errorf("the state is\n%s\nwant\n%s", after, before)
	}
	b.want(204, "", "PUT", "/box/a?comp=tags", "<Tags><TagSet><Tag><Key>k</Key><Value>v</Value></Tag></TagSet></Tags>")
	b.want(202, "", "DELETE", "/box/a", "")
}

// TestNotOffered: what this service does not have is refused and changes nothing
// (spec storage 17.1, rows marked LATER; spec drift-2026 C-22).
func TestNotOffered(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	b.upload("/box/a", "text")
	before := b.state()
	for _, row := range []struct {
		method, path string
		headers      map[string]string
		status       int
		code         string
	}{
		{"PUT", "/box/a?comp=incrementalcopy", nil, 501, "NotImplemented"},
		{"PUT", "/box/framed", map[string]string{"X-Ms-Blob-Type": "BlockBlob", "X-Ms-Structured-Body": "XSM/1.0; properties=crc64"}, 501, "NotImplemented"},
		{"PUT", "/box/a?comp=block&blockid=MQ%3D%3D", map[string]string{"X-Ms-Structured-Body": "XSM/1.0; properties=crc64"}, 501, "NotImplemented"},
		{"PUT", "/box/a?comp=appendblock", map[string]string{"X-Ms-Structured-Body": "XSM/1.0; properties=crc64"}, 501, "NotImplemented"},
		{"PUT", "/box/a?comp=page", map[string]string{"X-Ms-Structured-Body": "XSM/1.0; properties=crc64", "X-Ms-Range": "bytes=0-511", "X-Ms-Page-Write": "update"}, 501, "NotImplemented"},
		{"PUT", "/box/a?comp=undelete", nil, 501, "NotImplemented"},
		{"GET", "/box/a?versionid=2030-01-02T03:04:05.0000000Z", nil, 501, "NotImplemented"},
		{"DELETE", "/box/a?versionid=2030-01-02T03:04:05.0000000Z", nil, 501, "NotImplemented"},
		{"PUT", "/box/held", map[string]string{"X-Ms-Blob-Type": "BlockBlob", "X-Ms-Immutability-Policy-Until-Date": "Wed, 02 Jan 2030 03:04:05 GMT"}, 501, "NotImplemented"},
		{"PUT", "/box/a?comp=expiry", nil, 501, "NotImplemented"},
		{"PUT", "/box/brief", map[string]string{"X-Ms-Blob-Type": "BlockBlob", "X-Ms-Expiry-Option": "RelativeToNow", "X-Ms-Expiry-Time": "1000"}, 501, "NotImplemented"},
		{"GET", "/box/a", map[string]string{"X-Ms-Structured-Body": "XSM/1.0; properties=crc64"}, 501, "NotImplemented"},
		{"DELETE", "/box/a?deletetype=permanent", nil, 501, "NotImplemented"},
		{"PUT", "/box?restype=container&comp=undelete", nil, 501, "NotImplemented"},
		{"POST", "/box/a?comp=query", nil, 501, "NotImplemented"},
		{"PUT", "/box/far", map[string]string{"X-Ms-Copy-Source": "https://example.com/box/a"}, 404, "CannotVerifyCopySource"},
		{"PUT", "/box/a?comp=copy&copyid=1", map[string]string{"X-Ms-Copy-Action": "abort"}, 409, "NoPendingCopyOperation"},
		{"PUT", "/box/a?comp=copy&copyid=1", nil, 400, "InvalidHeaderValue"},
	} {
		r := b.request(row.method, row.path, "")
		for name, value := range row.headers {
			r.Header.Set(name, value)
		}
		sign(t, r, rest.DevAccount, rest.DevKey, stringToSign(r, rest.DevAccount))
		if a := b.send(r); a.Status != row.status || a.Code != row.code {
			t.Errorf("%s %s %v = %d %s, want %d %s", row.method, row.path, row.headers, a.Status, a.Code, row.status, row.code)
		}
	}
	if after := b.state(); after != before {
		t.Errorf("the state is\n%s\nwant\n%s", after, before)
	}
}

// A blob that is encrypted with a caller's own key cannot be read without it. A server that
// stored it in the open would let programs pass that fail elsewhere.
//
// Source: docs, Provide an encryption key on a request to Blob storage.
func TestKeysOfCallersAreNotOffered(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	b.upload("/box/a", "text")
	before := b.state()
	const key = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
	for _, row := range []struct{ method, path, header, value string }{
		{"PUT", "/box/a", "X-Ms-Encryption-Key", key},
		{"PUT", "/box/a?comp=block&blockid=MQ%3D%3D", "X-Ms-Encryption-Key", key},
		{"GET", "/box/a", "X-Ms-Encryption-Key", key},
		{"HEAD", "/box/a", "X-Ms-Encryption-Key-Sha256", key},
		{"PUT", "/box/a", "X-Ms-Source-Encryption-Key", key},
	} {
		a := b.call(row.method, row.path, "", asBlockBlob, header(row.header, row.value))
		if a.Status != 501 || a.Code != "NotImplemented" {
			t.Errorf("%s %s with %s = %d %s, want 501 NotImplemented", row.method, row.path, row.header, a.Status, a.Code)
		} else if row.method != "HEAD" && a.detail(t, "HeaderName") != strings.ToLower(row.header) {
			t.Errorf("%s %s names %q, want %s", row.method, row.path, a.detail(t, "HeaderName"), strings.ToLower(row.header))
		}
	}
	if after := b.state(); after != before {
		t.Errorf("the state is\n%s\nwant\n%s", after, before)
	}
	// Older clients name an algorithm without a key, and the account's scope is everybody's.
	b.want(201, "", "PUT", "/box/b", "text", asBlockBlob, header("X-Ms-Encryption-Algorithm", "AES256"))
	b.want(201, "", "PUT", "/crate?restype=container", "", header("X-Ms-Default-Encryption-Scope", "$account-encryption-key"), header("X-Ms-Deny-Encryption-Scope-Override", "false"))
}

// Settings that change no answer are taken, and each is told of once: Azurite passes over
// them, and an app that has them in its configuration runs there.
func TestSettingsWithoutEffect(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	b := newBlobBench(t, func(s *setup) { s.rest.Logger = zerolog.New(zerolog.SyncWriter(&log)) })
	const crate = "/crate?restype=container"
	b.want(201, "", "PUT", crate, "", header("X-Ms-Default-Encryption-Scope", "$account-encryption-key"), header("X-Ms-Deny-Encryption-Scope-Override", "false"))
	if log.Len() != 0 {
		t.Errorf("what every account has is told of: %s", log.String())
	}
	scope, hold := header("X-Ms-Encryption-Scope", "mine"), header("X-Ms-Legal-Hold", "true")
	for range 2 {
		b.want(202, "", "DELETE", crate, "")
		b.want(201, "", "PUT", crate, "", header("X-Ms-Default-Encryption-Scope", "mine"), header("X-Ms-Deny-Encryption-Scope-Override", "true"))
		b.upload("/crate/a", "text", scope, hold)
		b.want(201, "", "PUT", "/crate/b?comp=block&blockid=MQ%3D%3D", "text", scope)
		if a := b.call("GET", "/crate/a", "", scope); a.Status != 200 || a.Body != "text" {
			t.Errorf("read with a scope: %d %q", a.Status, a.Body)
		}
	}
	for _, name := range []string{"x-ms-encryption-scope", "x-ms-default-encryption-scope", "x-ms-deny-encryption-scope-override", "x-ms-legal-hold"} {
		if n := strings.Count(log.String(), `"`+name+`"`); n != 1 {
			t.Errorf("%s is told of %d times, want once", name, n)
		}
	}
}
