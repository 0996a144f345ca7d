package amqp_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/redeliver/redeliver/host/emulator/amqp"
	"github.com/redeliver/redeliver/host/listen"
)

// Requests of a page of another origin reach neither a node nor the handler of
// requests; SDKs, which send no origin, and pages of origins that are named do.
func TestPagesOfOtherOrigins(t *testing.T) {
	t.Parallel()
	m := newMemory()
	broker := amqp.NewServer(m, nil)
	guard := &listen.Guard{Names: []string{"redeliver.test"}, Origins: []string{"http://shop.example/", "*"}}
	s := &listen.Server{Other: broker, Handler: guard.Protect(broker.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {})))}
	addr, err := s.Listen(listen.Port{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for _, row := range []struct {
		name    string
		headers []string
		taken   bool
	}{
		{"an SDK", nil, true},
		{"an SDK in a container", []string{"Host: host.docker.internal:5672"}, true},
		{"a name that was given", []string{"Host: redeliver.test"}, true},
		{"its own origin", []string{"Origin: http://" + addr.String()}, true},
		{"a page that is named", []string{"Origin: http://shop.example", "Sec-Fetch-Site: cross-site"}, true},

		{"a page", []string{"Origin: http://evil.example"}, false},
		{"a page of another port", []string{"Origin: http://127.0.0.1:3000", "Sec-Fetch-Site: same-site"}, false},
		{"a page without an origin", []string{"Origin: null"}, false},
		{"an image", []string{"Sec-Fetch-Site: cross-site"}, false},
		{"an image in a browser that says less", []string{"Referer: http://evil.example/"}, false},
		{"an image on a page that is named", []string{"Sec-Fetch-Site: cross-site", "Referer: http://shop.example/"}, false},
		{"a rebound name", []string{"Host: evil.example:5672", "Origin: http://evil.example:5672"}, false},
		{"a rebound name without an origin", []string{"Host: evil.example:5672"}, false},
	} {
		header, host := http.Header{}, ""
		for _, h := range row.headers {
			name, value, _ := strings.Cut(h, ": ")
			if name == "Host" {
				host = value
				continue
			}
			header.Set(name, value)
		}
		r, err := http.NewRequestWithContext(t.Context(), "POST", "http://"+addr.String()+"/orders", strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		r.Header, r.Host = header, host
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if taken := resp.StatusCode == 200; taken != row.taken || !taken && resp.StatusCode != 403 {
			t.Errorf("%s: POST answered %d, want taken: %v", row.name, resp.StatusCode, row.taken)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		c, resp, err := websocket.Dial(ctx, "ws://"+addr.String()+"/$servicebus/websocket",
			&websocket.DialOptions{Subprotocols: []string{"AMQPWSB10"}, HTTPClient: client, HTTPHeader: header, Host: host})
		if (err == nil) != row.taken || err != nil && (resp == nil || resp.StatusCode != 403) {
			t.Errorf("%s: WebSocket: %v, want taken: %v", row.name, err, row.taken)
		}
		if err == nil {
			c.CloseNow()
		}
		cancel()
	}
}
