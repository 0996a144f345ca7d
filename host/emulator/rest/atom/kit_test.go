package atom_test

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"

	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/rest/atom"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
)

var start = time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)

// server is a namespace on a virtual clock, behind its administration server.
type server struct {
	*testing.T
	clk *clock.Virtual
	ns  *servicebus.Namespace
	h   *atom.Handler
}

func newServer(t *testing.T, opts *atom.Options) *server {
	t.Helper()
	clk := clock.NewVirtual(start, &clock.VirtualOptions{Strict: true})
	ns := servicebus.New(clk, nil)
	return &server{T: t, clk: clk, ns: ns, h: atom.New(clk, ns, opts)}
}

// do runs f inside the clock.
func (d *server) do(f func(ctx context.Context)) {
	d.clk.Do("test", func() { f(context.Background()) })
}

const hostName = "sbemulatorns.servicebus.windows.net"

// request asks the handler without a network. Headers are pairs.
func (d *server) request(method, target, body string, headers ...string) *http.Response {
	r := httptest.NewRequest(method, "https://"+hostName+target, strings.NewReader(body))
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	d.h.ServeHTTP(w, r)
	return w.Result()
}

// want asks and demands a status; it returns the body.
func (d *server) want(status int, method, target, body string, headers ...string) string {
	d.Helper()
	res := d.request(method, target, body, headers...)
	b, err := io.ReadAll(res.Body)
	if err != nil {
		d.Fatal(err)
	}
	if res.StatusCode != status {
		d.Fatalf("%s %s: %d, want %d\n%s", method, target, res.StatusCode, status, b)
	}
	return string(b)
}

// serve puts the server behind TLS and returns the official client's options for it:
// that client speaks HTTPS only.
func (d *server) serve() (host string, opts *admin.ClientOptions) {
	s := httptest.NewTLSServer(d.h)
	d.Cleanup(s.Close)
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs, ServerName: "example.com"},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, s.Listener.Addr().String())
		},
	}}
	d.Cleanup(client.CloseIdleConnections)
	return hostName, &admin.ClientOptions{ClientOptions: azcore.ClientOptions{
		Transport: client,
		Retry:     policy.RetryOptions{MaxRetries: -1},
	}}
}

func (d *server) client() *admin.Client {
	d.Helper()
	host, opts := d.serve()
	c, err := admin.NewClientFromConnectionString("Endpoint=sb://"+host+"/;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=c2VjcmV0", opts)
	if err != nil {
		d.Fatal(err)
	}
	return c
}

// entry wraps a description as clients do.
func entry(description string) string {
	return `<?xml version="1.0" encoding="utf-8"?><entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml">` + description + `</content></entry>`
}

const spaces = ` xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"`

func queueEntry(settings string) string {
	return entry("<QueueDescription" + spaces + ">" + settings + "</QueueDescription>")
}

func ruleEntry(settings string) string {
	return entry("<RuleDescription" + spaces + ">" + settings + "</RuleDescription>")
}

func (d *server) create(names ...string) {
	d.Helper()
	d.do(func(ctx context.Context) {
		for _, name := range names {
			var err error
			topic, sub, isSub := strings.Cut(name, "/Subscriptions/")
			switch {
			case isSub:
				_, err = d.ns.CreateSubscription(ctx, servicebusapi.Subscription{Topic: topic, Name: sub}, nil)
			case strings.HasPrefix(name, "topic"):
				_, err = d.ns.CreateTopic(ctx, servicebusapi.Topic{Name: name})
			default:
				_, err = d.ns.CreateQueue(ctx, servicebusapi.Queue{Name: name})
			}
			if err != nil {
				d.Fatal(err)
			}
		}
	})
}
