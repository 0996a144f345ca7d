package rest_test

import (
	"strings"
	"testing"

	"github.com/redeliver/redeliver/host/emulator/rest"
)

// Everybody may read the blobs of a public container, and list them at its higher
// level; nobody may change anything.
//
// Source: docs, Configure anonymous read access for containers and blobs; Set
// Container ACL; Get Block List ("committed blocks only").
func TestPublicAccess(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	b.upload("/box/a", "text", header("X-Ms-Tags", "k=v"))
	b.want(201, "", "PUT", "/box/pages", "", header("X-Ms-Blob-Type", "PageBlob"), header("X-Ms-Blob-Content-Length", "512"))
	const blobs, all = 1, 2
	levels := []string{"", "blob", "container"}
	rows := []struct {
		method, path string
		from         int // the level from which on it is allowed; above all: never
	}{
		{"GET", "/box/a", blobs},
		{"HEAD", "/box/a", blobs},
		{"GET", "/box/a?comp=metadata", blobs},
		{"GET", "/box/a?comp=blocklist", blobs},
		{"GET", "/box/a?comp=blocklist&blocklisttype=committed", blobs},
		{"GET", "/box/pages?comp=pagelist", blobs},
		{"GET", "/box?restype=container&comp=list", all},
		{"GET", "/box?restype=container", all},
		{"HEAD", "/box?restype=container&comp=metadata", all},
		{"GET", "/box/a?comp=blocklist&blocklisttype=all", all + 1},
		{"GET", "/box/a?comp=tags", all + 1},
		{"GET", "/box?restype=container&comp=acl", all + 1},
		{"GET", "/?comp=list", all + 1},
		{"GET", "/box?restype=container&comp=blobs&where=k%3D%27v%27", all + 1},
		{"PUT", "/box/b", all + 1},
		{"PUT", "/box/a?comp=metadata", all + 1},
		{"PUT", "/box/a?comp=lease", all + 1},
		{"DELETE", "/box/a", all + 1},
		{"DELETE", "/box?restype=container", all + 1},
		{"GET", "/none/a", all + 1},
	}
	ask := func(method, path string, headers ...string) answer {
		r := b.request(method, path, "")
		r.Header.Set("X-Ms-Blob-Type", "BlockBlob")
		for i := 0; i+1 < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		return b.send(r)
	}
	for level, name := range levels {
		b.want(200, "", "PUT", "/box?restype=container&comp=acl", "", header("X-Ms-Blob-Public-Access", name))
		before := b.state()
		for _, row := range rows {
			got, refused := ask(row.method, row.path), 401
			if strings.Contains(row.path, "=all") && level > 0 {
				refused = 403 // a part of an operation that is allowed
			}
			if row.from <= level && got.Status != 200 || row.from > level && got.Status != refused {
				t.Errorf("%s %s at level %q = %d %s", row.method, row.path, name, got.Status, got.Code)
			}
		}
		if after := b.state(); after != before {
			t.Errorf("the state is\n%s\nwant\n%s", after, before)
		}
	}
	// A condition on tags reads them, and a signature that is wrong is no anonymous
	// request.
	if got := ask("GET", "/box/a", "X-Ms-If-Tags", "k='v'"); got.Status != 403 {
		t.Errorf("a read on a condition on tags = %d %s", got.Status, got.Code)
	}
	if got := ask("GET", "/box/a?sv=2021-12-02&sig=eA%3D%3D"); got.Status != 403 {
		t.Errorf("a read with a wrong signature = %d %s", got.Status, got.Code)
	}
	if got := ask("GET", "/box/a?rscd=attachment"); got.Status != 200 || got.Header.Get("Content-Disposition") != "" {
		t.Errorf("a read that asks for headers = %d, %v", got.Status, got.Header)
	}
	if got := ask("GET", strings.Replace("/box/a", "box", "nobox", 1), "Authorization", "SharedKey "+rest.DevAccount+":x"); got.Status != 403 {
		t.Errorf("a read with a wrong key = %d %s", got.Status, got.Code)
	}
}

// Source: docs, Get Container Properties, "Response headers"; List Containers,
// "Response body".
func TestContainersSayWhatTheyDoNotHave(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	h := b.want(200, "", "GET", "/box?restype=container", "").Header
	for name, want := range map[string]string{
		"X-Ms-Has-Immutability-Policy": "false", "X-Ms-Has-Legal-Hold": "false", "X-Ms-Immutable-Storage-With-Versioning-Enabled": "false",
		"X-Ms-Default-Encryption-Scope": "$account-encryption-key", "X-Ms-Deny-Encryption-Scope-Override": "false",
	} {
		if h.Get(name) != want {
			t.Errorf("%s = %q, want %q", name, h.Get(name), want)
		}
	}
	const want = "<HasImmutabilityPolicy>false</HasImmutabilityPolicy><HasLegalHold>false</HasLegalHold>" +
		"<ImmutableStorageWithVersioningEnabled>false</ImmutableStorageWithVersioningEnabled>" +
		"<DefaultEncryptionScope>$account-encryption-key</DefaultEncryptionScope><DenyEncryptionScopeOverride>false</DenyEncryptionScopeOverride></Properties>"
	if list := b.want(200, "", "GET", "/?comp=list", "").Body; !strings.Contains(list, want) {
		t.Errorf("the listing is %s, want %s in it", list, want)
	}
}

// A stored policy that says nothing has no element AccessPolicy.
//
// Source: azure-storage-blob for Python 12.31.1, tests/test_container.py,
// test_set_container_acl_with_empty_access_policy, recorded at the service.
func TestEmptyPolicy(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	const policies = `<SignedIdentifiers><SignedIdentifier><Id>empty</Id></SignedIdentifier><SignedIdentifier><Id>read</Id><AccessPolicy><Permission>r</Permission></AccessPolicy></SignedIdentifier></SignedIdentifiers>`
	b.want(200, "", "PUT", "/box?restype=container&comp=acl", policies)
	if got := b.want(200, "", "GET", "/box?restype=container&comp=acl", "").Body; !strings.HasSuffix(got, policies) {
		t.Errorf("policies = %s, want %s", got, policies)
	}
}

// A listing begins with a name, or goes on where the page before ended.
//
// Source: docs, List Blobs, "startFrom"; azure-storage-blob for Python 12.31.1,
// tests/test_container.py, test_list_blobs_start_from and test_walk_blobs_start_end.
func TestListFromAName(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	for _, name := range []string{"a/b/2", "a/b/3", "a/b/4", "a/1", "b/5", "c"} {
		b.upload("/box/"+name, "text")
	}
	names := func(values ...string) string {
		t.Helper()
		var got []string
		for marker := ""; ; {
			list := b.want(200, "", "GET", "/box"+query(append(values, "restype", "container", "comp", "list", "maxresults", "2", "marker", marker)...), "").Body
			for part := range strings.SplitSeq(list, "<Name>") {
				if name, _, ok := strings.Cut(part, "</Name>"); ok {
					got = append(got, name)
				}
			}
			_, marker, _ = strings.Cut(list, "<NextMarker>")
			if marker, _, _ = strings.Cut(marker, "</NextMarker>"); marker == "" {
				return strings.Join(got, " ")
			}
		}
	}
	for _, row := range []struct {
		want   string
		values []string
	}{
		{"a/1 a/b/2 a/b/3 a/b/4 b/5 c", []string{"startFrom", ""}},
		{"a/b/3 a/b/4 b/5 c", []string{"startFrom", "a/b/3"}},
		{"b/5 c", []string{"startFrom", "a/b/5"}},
		{"a/b/3 a/b/4", []string{"startFrom", "a/b/3", "prefix", "a/"}},
		{"b/5", []string{"startFrom", "a/b/3", "prefix", "b"}},
		{"", []string{"startFrom", "b", "prefix", "a/"}},
		{"a/b/", []string{"startFrom", "a/b/", "prefix", "a/", "delimiter", "/"}},
		{"b/ c", []string{"startFrom", "a/z", "delimiter", "/"}},
	} {
		if got := names(row.values...); got != row.want {
			t.Errorf("list with %v = %s, want %s", row.values, got, row.want)
		}
	}
}

// Who names the lease of a blob overwrites it although the blob must not exist; nobody
// else does.
//
// Source: recordings of azure-storage-blob for Python 12.14.0b1 at the service,
// test_create_from_bytes_blob_with_lease_id.
func TestLeaseHolderOverwrites(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	b.upload("/box/a", "text")
	star := header("If-None-Match", "*")
	const id, other = "00000000-1111-2222-3333-444444444444", "00000000-1111-2222-3333-555555555555"
	b.want(409, "BlobAlreadyExists", "PUT", "/box/a", "more", asBlockBlob, star, header("X-Ms-Lease-Id", id))
	b.want(201, "", "PUT", "/box/a?comp=lease", "", header("X-Ms-Lease-Action", "acquire"), header("X-Ms-Lease-Duration", "-1"), header("X-Ms-Proposed-Lease-Id", id))
	b.want(409, "BlobAlreadyExists", "PUT", "/box/a", "more", asBlockBlob, star)
	b.want(409, "BlobAlreadyExists", "PUT", "/box/a", "more", asBlockBlob, star, header("X-Ms-Lease-Id", other))
	b.want(201, "", "PUT", "/box/a", "more", asBlockBlob, star, header("X-Ms-Lease-Id", id))
	b.want(201, "", "PUT", "/box/a?comp=blocklist", "<BlockList></BlockList>", star, header("X-Ms-Lease-Id", id))
	if got := b.want(200, "", "GET", "/box/a", "").Body; got != "" {
		t.Errorf("the blob = %q, want it empty", got)
	}
}

// Tags are read and set on conditions with names of their own.
//
// Source: docs, Set Blob Tags and Get Blob Tags, "x-ms-blob-if-match".
func TestConditionsOfTags(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	etag := b.upload("/box/a", "text").Header.Get("Etag")
	const past, future = "Tue, 01 Jan 2030 00:00:00 GMT", "Thu, 03 Jan 2030 00:00:00 GMT"
	for _, row := range []struct {
		name, value string
		get, put    int
	}{
		{"X-Ms-Blob-If-Match", etag, 200, 204},
		{"X-Ms-Blob-If-Match", `"0x1"`, 412, 412},
		{"X-Ms-Blob-If-None-Match", `"0x1"`, 200, 204},
		{"X-Ms-Blob-If-None-Match", etag, 304, 412},
		{"X-Ms-Blob-If-Modified-Since", past, 200, 204},
		{"X-Ms-Blob-If-Modified-Since", future, 304, 412},
		{"X-Ms-Blob-If-Unmodified-Since", future, 200, 204},
		{"X-Ms-Blob-If-Unmodified-Since", past, 412, 412},
		{"If-Match", `"0x1"`, 412, 412},
	} {
		get := b.call("GET", "/box/a?comp=tags", "", header(row.name, row.value))
		put := b.call("PUT", "/box/a?comp=tags", "<Tags><TagSet></TagSet></Tags>", header(row.name, row.value))
		if get.Status != row.get || put.Status != row.put {
			t.Errorf("tags with %s %s: GET = %d %s, PUT = %d %s, want %d, %d", row.name, row.value, get.Status, get.Code, put.Status, put.Code, row.get, row.put)
		}
	}
}
