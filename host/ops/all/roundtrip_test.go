package all_test

import (
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/ops/cosmos"
	eventgridops "github.com/redeliver/redeliver/host/ops/eventgrid"
	"github.com/redeliver/redeliver/host/ops/queues"
	"github.com/redeliver/redeliver/host/ops/run"
	"github.com/redeliver/redeliver/host/ops/servicebus"
)

// What a client asks for is what a server is asked for.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	empty := ""
	trip(t, run.GetClock{})
	trip(t, queues.SendMessage{Queue: "a b/ü%2F?", Raw: true, Delay: 90 * time.Second, TTL: "never", Body: []byte("x&y=z")})
	trip(t, queues.PeekQueue{Queue: "q", Max: 7, ID: "1"})
	trip(t, servicebus.SendBusMessage{Path: "t/Subscriptions/all", SessionID: &empty, Properties: []string{"a=b", "n:=5"}, TTL: time.Millisecond, Body: []byte{}})
	trip(t, servicebus.RedriveEntity{Path: "orders", Sequence: []int64{3, 4}})
	trip(t, servicebus.CreateEntity{Path: "events", BusSettings: servicebus.BusSettings{MaxDeliveryCount: 3}, Topic: true})
	trip(t, cosmos.WriteDocuments{NewContainer: cosmos.NewContainer{Container: "shop/orders", Ranges: 2}, Body: []byte("[]")})
	trip(t, eventgridops.Subscribe{Topic: "shop", Name: "audit", Subscription: eventgrid.Subscription{Function: "Audit", MaxDeliveryAttempts: 3}})
	trip(t, run.FailOutputs{Name: "Notify", Times: 0, Error: []byte{}})
}

func trip[In ops.Request[Out], Out any](t *testing.T, in In) {
	t.Helper()
	var got In
	var err error
	route, mux := ops.RouteOf(in), http.NewServeMux()
	mux.HandleFunc(route.Method+" "+ops.Prefix+route.Path, func(_ http.ResponseWriter, r *http.Request) { err = ops.Decode(r, &got) })
	r, failed := ops.NewRequest(t.Context(), "http://localhost:7071", in)
	if failed != nil {
		t.Fatal(failed)
	}
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, r)
	diff := cmp.Diff(in, got, cmp.Exporter(func(reflect.Type) bool { return true }))
	if err != nil || w.Code != http.StatusOK || diff != "" {
		t.Errorf("%s: %d, %v (-sent +read):\n%s", r.URL, w.Code, err, diff)
	}
}
