package web_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/web"
)

// cosmos is the address of an operation on a container.
func cosmos(what, container string, query ...string) string {
	q := url.Values{"container": {container}}
	for i := 0; i < len(query); i += 2 {
		q.Add(query[i], query[i+1])
	}
	return control + "/cosmos/" + what + "?" + q.Encode()
}

func TestControlCosmos(t *testing.T) {
	t.Parallel()
	d := open(t, app(plainHostJSON), nil, nil)
	want := web.CosmosContainer{Path: "shop/orders", PartitionKey: "/k", Ranges: 2}
	made := get[web.CosmosContainer](d, 201, "PUT", cosmos("container", "shop/orders", "partitionKey", "/k", "ranges", "2"), "")
	if diff := cmp.Diff(want, made); diff != "" {
		t.Errorf("made (-want +got):\n%s", diff)
	}
	d.want(409, "PUT", cosmos("container", "shop/orders"), "")
	written := get[web.CosmosWritten](d, 201, "POST", cosmos("documents", "shop/orders"), `[{"id":"1","k":"a"},{"id":"2"}]`)
	if diff := cmp.Diff([]string{"1", "2"}, written.IDs); diff != "" || len(written.ETags) != 2 {
		t.Errorf("written %+v", written)
	}
	d.want(201, "POST", cosmos("documents", "shop/orders"), `{"id":"1","k":"b"}`)
	if got := get[web.CosmosDocuments](d, 200, "GET", cosmos("documents", "shop/orders", "prefix", "1"), ""); len(got.Documents) != 2 || !strings.Contains(string(got.Documents[0]), `"_etag"`) {
		t.Errorf("documents %s", got.Documents)
	}
	d.want(204, "DELETE", cosmos("documents", "shop/orders", "id", "1"), "")
	d.want(404, "DELETE", cosmos("documents", "shop/orders", "id", "1"), "")
	d.want(201, "POST", cosmos("documents", "shop/new"), `{"id":"1"}`)
	list := get[struct{ Cosmos []web.CosmosContainer }](d, 200, "GET", control+"/cosmos", "")
	want.Documents = 1
	if diff := cmp.Diff([]web.CosmosContainer{{Path: "shop/new", PartitionKey: "/id", Ranges: 1, Documents: 1}, want}, list.Cosmos); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
}

func TestControlCosmosErrors(t *testing.T) {
	t.Parallel()
	d := open(t, app(plainHostJSON), nil, nil)
	d.want(404, "GET", cosmos("documents", "shop/orders"), "")
	d.want(400, "PUT", cosmos("container", "orders"), "")
	d.want(400, "PUT", cosmos("container", "shop/orders", "ranges", "0"), "")
	d.want(400, "PUT", cosmos("container", "shop/orders", "ranges", "1000"), "")
	for _, body := range []string{`{`, `[`, `{}`, `7`, `[7]`, `{"id":7}`, ``} {
		d.want(400, "POST", cosmos("documents", "shop/orders"), body)
	}
}
