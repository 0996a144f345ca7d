package host_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
)

// The endpoints of an output binding that mean topics of this host, by the address
// of its server.
func TestEventGridOutputEndpoints(t *testing.T) {
	t.Parallel()
	const usual = "http://127.0.0.1:60101"
	for name, test := range map[string]struct {
		served   []string // nil: the host is told nothing
		endpoint string
		want     string // in the refusal; "": it is published here
	}{
		"no server":                {nil, "http://localhost:60101/shop/api/events", ""},
		"no server, HTTPS":         {nil, "https://127.0.0.1:60101/shop/api/events", ""},
		"no server, IPv6":          {nil, "http://[::1]:60101/Shop", ""},
		"no server, another port":  {nil, "http://localhost:60102/shop/api/events", "names a topic outside"},
		"no server, no port":       {nil, "http://localhost/shop/api/events", "names a topic outside"},
		"usual port":               {[]string{usual}, "http://localhost:60101/shop/api/events", ""},
		"another port":             {[]string{"http://127.0.0.1:4711"}, "http://localhost:4711/shop/api/events", ""},
		"another port, not named":  {[]string{"http://127.0.0.1:4711"}, "http://localhost:60101/shop/api/events", "at http://127.0.0.1:4711/{topic}/api/events"},
		"any port, usual":          {[]string{"https://127.0.0.1:4711", usual}, "http://localhost:60101/shop/api/events", ""},
		"any port, its own":        {[]string{"https://127.0.0.1:4711", usual}, "https://127.0.0.1:4711/shop/api/events", ""},
		"any port, a third":        {[]string{"https://127.0.0.1:4711", usual}, "https://127.0.0.1:4712/shop/api/events", "at https://127.0.0.1:4711/{topic}/api/events"},
		"said to be nowhere":       {[]string{""}, "http://localhost:60101/shop/api/events", "which is not served"},
		"nowhere but the usual":    {[]string{"", usual}, "http://localhost:60101/shop/api/events", ""},
		"the cloud, whatever port": {[]string{usual}, "https://shop.westeurope-1.eventgrid.azure.net/api/events", "names a topic outside"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "host.json"), []byte(gridHostJSON), 0o644); err != nil {
				t.Fatal(err)
			}
			app := functions.New()
			var got []string
			app.EventGrid("OnOrder", func(_ context.Context, e functions.EventGridEvent) error {
				got = append(got, e.ID)
				return nil
			})
			app.Queue("Publish", "inbox", func(ctx context.Context, _ functions.QueueMessage) error {
				return functions.SetOutput(ctx, "out", functions.EventGridEvent{ID: "7", Subject: "s", EventType: "t", EventTime: hosttest.Start})
			}, functions.EventGridOutput("out", "TopicEndpoint", "TopicKey"))
			clk := clock.NewVirtual(hosttest.Start, &clock.VirtualOptions{Strict: true})
			h, err := host.New(dir, &host.Options{Clock: clk, Handlers: app, KeepRecords: -1, Env: []string{
				"AzureWebJobsStorage=UseDevelopmentStorage=true", "TopicEndpoint=" + test.endpoint,
			}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { h.Close() })
			if test.served != nil {
				h.Connections().EventGridAt(test.served[0], test.served[1:]...)
			}
			clk.Do("start", func() { err = h.Start(context.Background()) })
			if err != nil {
				t.Fatal(err)
			}
			refused, _ := h.Journal().Find(1, func(r *journal.Record) bool { return r.Kind == journal.FunctionError && r.Function == "Publish" })
			if test.want != "" {
				if !strings.Contains(refused.Error, test.want) {
					t.Errorf("refused with %q, want %q", refused.Error, test.want)
				}
				return
			}
			clk.Do("send", func() {
				queue := h.Services().Storage().Queue("inbox")
				if err = queue.Create(context.Background()); err == nil {
					_, err = queue.Put(context.Background(), "eA==", nil)
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			clk.Advance(time.Minute)
			if len(got) != 1 || refused.Error != "" {
				t.Errorf("the function got %q, refused with %q; want the event", got, refused.Error)
			}
		})
	}
}
