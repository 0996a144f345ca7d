package rest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/host/emulator/rest"
)

const twoTags = `<?xml version="1.0" encoding="utf-8"?><Tags><TagSet><Tag><Key>a key</Key><Value>x+y</Value></Tag><Tag><Key>n</Key><Value>1</Value></Tag></TagSet></Tags>`

// Source: docs, Set Blob Tags, Get Blob Tags, Put Blob "x-ms-tags", List Blobs.
func TestBlobTags(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	b.upload("/box/a", "text", header("X-Ms-Tags", "a+key=x%2By&n=1"))
	etag := b.want(200, "", "HEAD", "/box/a", "").Header.Get("Etag")
	if got := b.want(200, "", "GET", "/box/a?comp=tags", "").Body; got != twoTags {
		t.Errorf("tags = %s, want %s", got, twoTags)
	}
	if n := b.want(200, "", "GET", "/box/a", "").Header.Get("X-Ms-Tag-Count"); n != "2" {
		t.Errorf("tag count = %q, want 2", n)
	}
	list := b.want(200, "", "GET", "/box?restype=container&comp=list&include=tags", "").Body
	if !strings.Contains(list, "<TagCount>2</TagCount>") || !strings.Contains(list, twoTags[strings.Index(twoTags, "<Tags>"):]) {
		t.Errorf("list = %s", list)
	}
	if list := b.want(200, "", "GET", "/box?restype=container&comp=list", "").Body; strings.Contains(list, "<Tags>") || !strings.Contains(list, "<TagCount>2</TagCount>") {
		t.Errorf("list without tags = %s", list)
	}
	found := b.want(200, "", "GET", "/?comp=blobs&where="+"n%3D%271%27", "").Body
	want := `<Where>n='1'</Where><Blobs><Blob><Name>a</Name><ContainerName>box</ContainerName><Tags><TagSet><Tag><Key>n</Key><Value>1</Value></Tag></TagSet></Tags><TagValue>1</TagValue></Blob></Blobs><NextMarker></NextMarker></EnumerationResults>`
	if !strings.HasSuffix(found, want) {
		t.Errorf("found = %s, want ... %s", found, want)
	}
	a := b.want(400, "InvalidQueryParameterValue", "GET", "/box?restype=container&comp=blobs&where=n", "")
	if text := a.error(t).Message; !strings.HasPrefix(text, "Error parsing query at or near character position 2: ") {
		t.Errorf("message = %q", text)
	}
	b.want(400, "MissingRequiredQueryParameter", "GET", "/?comp=blobs", "")

	b.want(204, "", "PUT", "/box/a?comp=tags", twoTags, header("X-Ms-If-Tags", "n = '1'"))
	b.want(412, "ConditionNotMet", "PUT", "/box/a?comp=tags", twoTags, header("X-Ms-If-Tags", "n = '2'"))
	b.want(400, "Md5Mismatch", "PUT", "/box/a?comp=tags", twoTags, header("Content-Md5", digitsMD5))
	b.want(400, "InvalidXmlDocument", "PUT", "/box/a?comp=tags", "<Tags>")
	b.want(400, "InvalidTag", "PUT", "/box/a", "text", asBlockBlob, header("X-Ms-Tags", "a%25=b"))
	b.want(400, "InvalidHeaderValue", "PUT", "/box/a", "text", asBlockBlob, header("X-Ms-Tags", "a=b&a=c"))
	if got := b.want(200, "", "HEAD", "/box/a", "").Header.Get("Etag"); got != etag {
		t.Errorf("ETag after tags = %s, want %s", got, etag)
	}
	b.want(404, "BlobNotFound", "GET", "/box/none?comp=tags", "")

	// Copies have tags of their own, or the tags of the source.
	source := from(b.endpoint + "/box/a?" + fullAccount.account(t, rest.DevKey))
	sync := header("X-Ms-Requires-Sync", "true")
	for _, row := range []struct {
		edits []func(*http.Request)
		want  string
	}{
		{[]func(*http.Request){source}, ""},
		{[]func(*http.Request){source, header("X-Ms-Tags", "k=v")}, "1"},
		{[]func(*http.Request){source, sync, header("X-Ms-Copy-Source-Tag-Option", "COPY")}, "2"},
		{[]func(*http.Request){source, asBlockBlob, header("X-Ms-Copy-Source-Tag-Option", "COPY")}, "2"},
	} {
		if a := b.call("PUT", "/box/copy", "", row.edits...); a.Status/100 != 2 {
			t.Errorf("copy = %d %s", a.Status, a.Code)
		}
		if n := b.want(200, "", "HEAD", "/box/copy", "").Header.Get("X-Ms-Tag-Count"); n != row.want {
			t.Errorf("tag count of a copy = %q, want %q", n, row.want)
		}
	}
	b.want(400, "BothUserTagsAndSourceTagsCopyPresent", "PUT", "/box/copy", "", source, sync, header("X-Ms-Copy-Source-Tag-Option", "COPY"), header("X-Ms-Tags", "k=v"))
}

// Source: docs, Create an account SAS and a service SAS, permissions t and f.
func TestBlobTagPermissions(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	b.upload("/box/a", "text", header("X-Ms-Tags", "n=1"))
	ask := func(method, path, permissions string, headers ...string) (int, string) {
		sas := fullAccount.with("sp", permissions).account(t, rest.DevKey)
		sep := "?"
		if strings.Contains(path, "?") {
			sep = "&"
		}
		r := b.request(method, path+sep+sas, "")
		asBlockBlob(r)
		for i := 0; i+1 < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		a := b.send(r)
		return a.Status, a.Code
	}
	for _, row := range []struct {
		method, path, permissions string
		headers                   []string
		status                    int
	}{
		{"GET", "/box/a?comp=tags", "t", nil, 200},
		{"GET", "/box/a?comp=tags", "rwdlacf", nil, 403},
		{"GET", "/?comp=blobs&where=n%3D%271%27", "f", nil, 200},
		{"GET", "/?comp=blobs&where=n%3D%271%27", "rwdlact", nil, 403},
		{"PUT", "/box/b", "w", []string{"X-Ms-Tags", "n=1"}, 403},
		{"PUT", "/box/b", "wt", []string{"X-Ms-Tags", "n=1"}, 201},
		{"GET", "/box/a", "r", []string{"X-Ms-If-Tags", "n='1'"}, 403},
		{"GET", "/box/a", "rt", []string{"X-Ms-If-Tags", "n='1'"}, 200},
	} {
		status, code := ask(row.method, row.path, row.permissions, row.headers...)
		if status != row.status || status == 403 && code != "AuthorizationPermissionMismatch" {
			t.Errorf("%s %s with %s %v = %d %s, want %d", row.method, row.path, row.permissions, row.headers, status, code, row.status)
		}
	}
}
