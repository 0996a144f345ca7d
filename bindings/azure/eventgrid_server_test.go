package azure_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/certificate"
	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/emulator/rest/grid"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/listen"
)

// gridKey is the key of all topics of a gridBench.
var gridKey = base64.StdEncoding.EncodeToString([]byte("0123456789abcdef0123456789abcdef")) // read only

// gridBench is a host with the topics "orders" (Event Grid schema), "cloud"
// (CloudEvents) and "other", behind the server of its Event Grid as "redeliver start"
// serves it: HTTP and HTTPS at one port. The functions OnOrder and OnCloud get what
// is published.
type gridBench struct {
	host  *hosttest.Host
	http  string // where it is served, without a path
	https string
	trust string // file with the certificate

	mu     sync.Mutex
	orders []functions.EventGridEvent // what the functions got
	clouds []functions.CloudEvent
}

func openGridServer(t *testing.T) *gridBench {
	t.Helper()
	d := &gridBench{}
	app := functions.New()
	app.EventGrid("OnOrder", func(_ context.Context, e functions.EventGridEvent) error {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.orders = append(d.orders, e)
		return nil
	})
	app.CloudEvent("OnCloud", func(_ context.Context, e functions.CloudEvent) error {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.clouds = append(d.clouds, e)
		return nil
	})
	topics, err := json.Marshal([]map[string]any{
		{"name": "orders", "key": gridKey, "subscriptions": []map[string]any{{"name": "function", "function": "OnOrder"}}},
		{"name": "cloud", "key": gridKey, "inputSchema": eventgrid.CloudEventSchema, "subscriptions": []map[string]any{{"name": "function", "function": "OnCloud"}}},
		{"name": "other", "key": gridKey},
	})
	if err != nil {
		t.Fatal(err)
	}
	d.host = hosttest.New(t, &hosttest.Options{Handlers: app, Files: map[string]string{
		"host.json": `{"version": "2.0", "redeliver": {"eventGrid": {"topics": ` + string(topics) + `}}}`,
	}})
	pair, err := certificate.SelfMade(t.TempDir(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	d.trust = pair.File
	server := &listen.Server{TLS: pair.Config(), Handler: grid.Handler(d.host.Clock(), d.host.Services().EventGrid(), nil)}
	addr := openPort(t, server, false)
	d.http, d.https = "http://"+addr, "https://"+addr
	return d
}

// openPort serves at a free port, and returns its address.
func openPort(t testing.TB, server *listen.Server, tls bool) string {
	t.Helper()
	addr, err := server.Listen(listen.Port{TLS: tls})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	return addr.String()
}

// client is an HTTP client that trusts only the server.
func (d *gridBench) client(t *testing.T) *http.Client {
	t.Helper()
	pem, err := os.ReadFile(d.trust)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: time.Minute}
}

// subscribe adds a web hook to a topic.
func (d *gridBench) subscribe(topic string, s eventgrid.Subscription) (state eventgrid.State, err error) {
	d.host.Clock().Inside("subscribe", func() {
		state, err = d.host.Services().EventGrid().Subscribe(d.host.Services().EventGrid().Context(), topic, s)
	})
	return state, err
}

// control lets a script subscribe its own web hook, when that listens:
//
//	POST /TOPIC/SUBSCRIPTION with the description as JSON
//
// The answer is the state that the validation led to.
func (d *gridBench) control(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		topic, name, _ := strings.Cut(strings.Trim(r.URL.Path, "/"), "/")
		s := eventgrid.Subscription{}
		err := json.NewDecoder(r.Body).Decode(&s)
		s.Name = name
		var state eventgrid.State
		if err == nil {
			state, err = d.subscribe(topic, s)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		_, _ = io.WriteString(w, string(state))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// received are the IDs of the events that the functions got, sorted.
func (d *gridBench) received() (orders, clouds []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, e := range d.orders {
		orders = append(orders, e.ID)
	}
	for _, e := range d.clouds {
		clouds = append(clouds, e.ID)
	}
	slices.Sort(orders)
	slices.Sort(clouds)
	return orders, clouds
}

// webHook is a web hook that says yes to every handshake and hands on what it gets.
type webHook struct {
	url      string
	requests chan hookRequest
}

type hookRequest struct {
	header http.Header
	body   []byte
}

// openWebHook serves a web hook until the test ends.
func openWebHook(t *testing.T) *webHook {
	t.Helper()
	h := &webHook{requests: make(chan hookRequest, 64)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		switch {
		case r.Method == http.MethodOptions:
			w.Header().Set("WebHook-Allowed-Origin", r.Header.Get("WebHook-Request-Origin"))
		case r.Header.Get("aeg-event-type") == "SubscriptionValidation":
			var events []struct {
				Data struct{ ValidationCode string }
			}
			if err := json.Unmarshal(body, &events); err != nil || len(events) != 1 {
				t.Errorf("validation: %v in %s", err, body)
				return
			}
			_ = json.NewEncoder(w).Encode(map[string]string{"validationResponse": events[0].Data.ValidationCode})
		default:
			h.requests <- hookRequest{r.Header, body}
		}
	}))
	t.Cleanup(server.Close)
	h.url = server.URL
	return h
}

// next waits for a notification.
func (h *webHook) next(t *testing.T) hookRequest {
	t.Helper()
	select {
	case r := <-h.requests:
		return r
	case <-t.Context().Done():
		t.Fatal("the test has ended")
	case <-time.After(30 * time.Second):
		t.Fatal("the web hook got nothing")
	}
	panic("unreachable")
}

// gridToken is a shared access signature for a topic, in the form of the service's
// documentation; azeventgrid takes such, but does not make them.
func gridToken(resource, key string, expiry time.Time) string {
	raw, err := base64.StdEncoding.DecodeString(key)
	if err != nil {
		panic(err)
	}
	signed := "r=" + url.QueryEscape(resource) + "&e=" + url.QueryEscape(expiry.UTC().Format("1/2/2006 3:04:05 PM"))
	mac := hmac.New(sha256.New, raw)
	mac.Write([]byte(signed))
	return signed + "&s=" + url.QueryEscape(base64.StdEncoding.EncodeToString(mac.Sum(nil)))
}
