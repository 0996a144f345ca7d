package control_test

import (
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/web/api"
	"github.com/redeliver/redeliver/host/web/control"
)

// What a client asks for is what a server is asked for.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	empty := ""
	trip(t, control.GetClock{})
	trip(t, control.SendMessage{Queue: "a b/ü%2F?", Raw: true, Delay: 90 * time.Second, TTL: "never", Body: []byte("x&y=z")})
	trip(t, control.PeekQueue{Queue: "q", Max: 7, ID: "1"})
	trip(t, control.SendBusMessage{Path: "t/Subscriptions/all", SessionID: &empty, Properties: []string{"a=b", "n:=5"}, TTL: time.Millisecond, Body: []byte{}})
	trip(t, control.RedriveEntity{Path: "orders", Sequence: []int64{3, 4}})
	trip(t, control.CreateEntity{Path: "events", BusSettings: control.BusSettings{MaxDeliveryCount: 3}, Topic: true})
	trip(t, control.WriteDocuments{NewContainer: control.NewContainer{Container: "shop/orders", Ranges: 2}, Body: []byte("[]")})
	trip(t, control.Subscribe{Topic: "shop", Name: "audit", Subscription: eventgrid.Subscription{Function: "Audit", MaxDeliveryAttempts: 3}})
	trip(t, control.FailOutputs{Name: "Notify", Times: 0, Error: []byte{}})
}

func trip[In api.Operation[Out], Out any](t *testing.T, in In) {
	t.Helper()
	var got In
	var err error
	route, mux := api.RouteOf(in), http.NewServeMux()
	mux.HandleFunc(route.Method+" "+api.Prefix+route.Path, func(_ http.ResponseWriter, r *http.Request) { err = api.Decode(r, &got) })
	r, failed := api.NewRequest(t.Context(), "http://localhost:7071", in)
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
