package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/functions"
	account "github.com/redeliver/redeliver/host/emulator/cosmos"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/ops/cosmos"
	"github.com/redeliver/redeliver/host/ops/run"
)

// ofCosmos is the address of an operation on a container.
func ofCosmos(what, container string, query ...string) string {
	q := url.Values{"container": {container}}
	for i := 0; i < len(query); i += 2 {
		q.Add(query[i], query[i+1])
	}
	return prefix + "/cosmos/" + what + "?" + q.Encode()
}

func TestControlCosmos(t *testing.T) {
	t.Parallel()
	d := open(t, app(plainHostJSON), nil, nil)
	want := cosmos.CosmosContainer{Path: "shop/orders", PartitionKey: "/k", Ranges: []account.RangeStatus{{ID: "0"}, {ID: "1"}}}
	made := get[cosmos.CosmosContainer](d, 201, "PUT", ofCosmos("container", "shop/orders", "partitionKey", "/k", "ranges", "2"), "")
	if diff := cmp.Diff(want, made); diff != "" {
		t.Errorf("made (-want +got):\n%s", diff)
	}
	d.want(409, "PUT", ofCosmos("container", "shop/orders"), "")
	written := get[cosmos.CosmosWritten](d, 201, "POST", ofCosmos("documents", "shop/orders"), `[{"id":"1","k":"a"},{"id":"2"}]`)
	if diff := cmp.Diff([]string{"1", "2"}, written.IDs); diff != "" || len(written.ETags) != 2 || written.Created {
		t.Errorf("written %+v", written)
	}
	d.want(400, "POST", ofCosmos("documents", "shop/orders", "partitionKey", "/id"), `{"id":"9"}`)
	d.want(400, "POST", ofCosmos("documents", "shop/orders", "ranges", "3"), `{"id":"9"}`)
	d.want(201, "POST", ofCosmos("documents", "shop/orders"), `{"id":"1","k":"b"}`)
	if got := get[cosmos.CosmosDocuments](d, 200, "GET", ofCosmos("documents", "shop/orders", "prefix", "1"), ""); len(got.Documents) != 2 || !strings.Contains(string(got.Documents[0]), `"_etag"`) {
		t.Errorf("documents %s", got.Documents)
	}
	if got := get[cosmos.CosmosDocuments](d, 200, "GET", ofCosmos("documents", "shop/orders", "max", "1"), ""); len(got.Documents) != 1 || got.Count != 3 {
		t.Errorf("with a limit %+v", got)
	}
	if got := get[cosmos.CosmosDocuments](d, 200, "GET", ofCosmos("documents", "shop/orders", "id", "2"), ""); len(got.Documents) != 1 || got.Count != 1 {
		t.Errorf("by identifier %+v", got)
	}
	d.want(404, "GET", ofCosmos("documents", "shop/orders", "id", "20"), "")
	if got := get[ops.Purged](d, 200, "DELETE", ofCosmos("documents", "shop/orders", "id", "1"), ""); got.Removed != 2 {
		t.Errorf("removed %+v", got)
	}
	d.want(404, "DELETE", ofCosmos("documents", "shop/orders", "id", "1"), "")
	d.want(404, "DELETE", ofCosmos("documents", "shop/orders", "id", ""), "")
	if made := get[cosmos.CosmosWritten](d, 201, "POST", ofCosmos("documents", "shop/new"), `{"id":"1"}`); !made.Created {
		t.Errorf("made %+v", made)
	}
	list := get[struct{ Cosmos []cosmos.CosmosContainer }](d, 200, "GET", prefix+"/cosmos", "")
	want.Documents = 1
	for i := range want.Ranges { // whichever it is in
		want.Ranges[i].Items = list.Cosmos[1].Ranges[i].Items
	}
	both := []cosmos.CosmosContainer{{Path: "shop/new", PartitionKey: "/id", Ranges: []account.RangeStatus{{ID: "0", Items: 1}}, Documents: 1}, want}
	if diff := cmp.Diff(both, list.Cosmos); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
	if inv := get[run.Inventory](d, 200, "GET", prefix+"/inventory", ""); !cmp.Equal(both, inv.Cosmos) {
		t.Errorf("inventory %+v", inv.Cosmos)
	}
	if got := get[ops.Purged](d, 200, "DELETE", ofCosmos("documents", "shop/new"), ""); got != (ops.Purged{Path: "shop/new", Removed: 1}) {
		t.Errorf("purged %+v", got)
	}
	d.want(204, "DELETE", ofCosmos("container", "shop/new"), "")
	d.want(404, "DELETE", ofCosmos("container", "shop/new"), "")
	d.want(404, "DELETE", ofCosmos("documents", "shop/new"), "")
}

// How far functions have come is part of the inventory.
func TestControlCosmosLeases(t *testing.T) {
	t.Parallel()
	handlers := functions.New()
	watch := func(name, container, prefix string) {
		handlers.CosmosDB(name, "shop", container, func(context.Context, []functions.CosmosDocument) error { return nil },
			functions.CreateLeases(), functions.FromBeginning(), functions.Leases("leases", prefix))
	}
	watch("Changed", "orders", "")
	watch("Elsewhere", "orders", "b-")
	watch("Waits", "missing", "c-")
	d := prepare(t, app(plainHostJSON, "local.settings.json", `{"IsEncrypted":false,"Values":{"AzureWebJobsStorage":"UseDevelopmentStorage=true",
		"CosmosDB":"AccountEndpoint=https://localhost:8081/","AzureWebJobs.Elsewhere.Disabled":"true"}}`), handlers, nil)
	d.listen()
	d.want(201, "POST", ofCosmos("documents", "shop/orders", "ranges", "2"), `[{"id":"1"},{"id":"2"}]`)
	if err := d.host.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.wait(journal.Settled, "Changed")
	// The lease of another host, as it would be there.
	found := get[cosmos.CosmosDocuments](d, 200, "GET", ofCosmos("documents", "shop/leases", "prefix", "localhost_"), "")
	var lease struct{ ID string }
	if err := json.Unmarshal(found.Documents[0], &lease); err != nil || !strings.HasSuffix(lease.ID, "..0") {
		t.Fatalf("documents %s, %v", found.Documents, err)
	}
	d.want(201, "POST", ofCosmos("documents", "shop/leases"), fmt.Sprintf(`[{"id":%q,"LeaseToken":"0","Owner":"host-2","ContinuationToken":"\"0\""},{"id":%q,"LeaseToken":7}]`,
		"b-"+lease.ID, "b-"+strings.TrimSuffix(lease.ID, "0")+"1"))
	inv := get[run.Inventory](d, 200, "GET", prefix+"/inventory", "")
	if len(inv.Cosmos) != 2 || inv.Cosmos[1].Path != "shop/orders" {
		t.Fatalf("containers %+v", inv.Cosmos)
	}
	var got []string
	id, _, _ := strings.Cut(inv.Cosmos[1].Leases[0].Ranges[0].Owner, "/")
	for _, l := range inv.Cosmos[1].Leases {
		for _, r := range l.Ranges {
			pending := -1
			if r.Pending != nil {
				pending = *r.Pending
			}
			got = append(got, fmt.Sprintf("%q %v: range %s, owner %s, function %s, pending %d", l.Prefix, l.Functions, r.Range, strings.TrimPrefix(r.Owner, id), r.Function, pending))
			if bad := r.Range == "1" && l.Prefix != ""; bad != (r.Error != "") {
				t.Errorf("lease %+v", r)
			}
		}
	}
	inRange := inv.Cosmos[1].Ranges[0].Items
	want := []string{
		`"" [Changed]: range 0, owner /Changed, function Changed, pending 0`,
		`"" [Changed]: range 1, owner /Changed, function Changed, pending 0`,
		fmt.Sprintf(`"b-" [Elsewhere]: range 0, owner host-2, function , pending %d`, inRange),
		`"b-" [Elsewhere]: range 1, owner , function , pending -1`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("leases (-want +got):\n%s", diff)
	}
}

func TestControlCosmosErrors(t *testing.T) {
	t.Parallel()
	d := open(t, app(plainHostJSON), nil, nil)
	d.want(404, "GET", ofCosmos("documents", "shop/orders"), "")
	d.want(400, "PUT", ofCosmos("container", "orders"), "")
	d.want(400, "PUT", ofCosmos("container", "shop/orders", "ranges", "0"), "")
	d.want(400, "PUT", ofCosmos("container", "shop/orders", "ranges", "1000"), "")
	d.want(413, "POST", ofCosmos("documents", "shop/orders"), `{"id":"1","text":"`+strings.Repeat("x", 2<<20)+`"}`)
	d.want(400, "GET", ofCosmos("documents", "shop/orders", "max", "0"), "")
	for _, body := range []string{`{`, `[`, `{}`, `7`, `[7]`, `{"id":7}`, ``} {
		d.want(400, "POST", ofCosmos("documents", "shop/orders"), body)
	}
}
