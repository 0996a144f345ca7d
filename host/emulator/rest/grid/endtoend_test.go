package grid_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/emulator/rest/grid"
)

// hook is a web hook that keeps what it gets, and answers handshakes as it is told.
type hook struct {
	consent func(w http.ResponseWriter, code string)
	link    *url.URL // the validation URL that it was sent
	got     []*http.Request
	bodies  []string
}

func yes(w http.ResponseWriter, code string) {
	_ = json.NewEncoder(w).Encode(map[string]string{"validationResponse": code})
}

func (h *hook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(err)
	}
	if r.Header.Get("aeg-event-type") == "SubscriptionValidation" {
		var events []struct {
			Data struct{ ValidationCode, ValidationURL string }
		}
		if err := json.Unmarshal(body, &events); err != nil {
			panic(err)
		}
		if h.link, err = url.Parse(events[0].Data.ValidationURL); err != nil {
			panic(err)
		}
		h.consent(w, events[0].Data.ValidationCode)
		return
	}
	h.got, h.bodies = append(h.got, r), append(h.bodies, string(body))
}

// line is a Grid behind a socket, and a web hook at the other end.
type line struct {
	*server
	url  string
	hook *hook
	at   string // of the hook
}

func newLine(t *testing.T) *line {
	d := &server{TB: t, clk: clock.NewVirtual(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), nil)}
	d.grid = eventgrid.New(d.clk, nil)
	t.Cleanup(d.grid.Close)
	d.handler = grid.Handler(d.clk, d.grid, nil)
	server := httptest.NewServer(d.handler)
	t.Cleanup(server.Close)
	l := &line{server: d, url: server.URL, hook: &hook{consent: yes}}
	there := httptest.NewServer(l.hook)
	t.Cleanup(there.Close)
	l.at = there.URL + "/hook"
	d.clk.Do("create", func() {
		d.grid.ServedAt(server.URL)
		if err := d.grid.CreateTopic(context.Background(), eventgrid.Topic{Name: "orders", Key: key}); err != nil {
			t.Fatal(err)
		}
	})
	return l
}

func (l *line) subscribe(s eventgrid.Subscription) (state eventgrid.State, err error) {
	s.Name, s.Endpoint = "hook", l.at
	l.clk.Do("subscribe", func() { state, err = l.grid.Subscribe(context.Background(), "orders", s) })
	return state, err
}

// fetch makes a GET request and returns its status.
func (l *line) fetch(link string) int {
	l.Helper()
	resp, err := http.Get(link)
	if err != nil {
		l.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode
}

// The asynchronous handshake: a web hook that answers otherwise fetches the validation
// URL from the server, within five minutes.
func TestValidationURL(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		wait   time.Duration
		edit   func(url.Values)
		status int
	}{
		"in time":              {5 * time.Minute, func(url.Values) {}, 200},
		"too late":             {5*time.Minute + 1, func(url.Values) {}, 400},
		"wrong code":           {0, func(q url.Values) { q.Set("id", "x") }, 404},
		"no code":              {0, func(q url.Values) { q.Del("id") }, 404},
		"another subscription": {0, func(q url.Values) { q.Set("subscription", "other") }, 404},
		"code in lower case":   {0, func(q url.Values) { q.Set("id", strings.ToLower(q.Get("id"))) }, 200},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLine(t)
			l.hook.consent = func(w http.ResponseWriter, _ string) { w.WriteHeader(http.StatusAccepted) }
			if state, err := l.subscribe(eventgrid.Subscription{}); state != eventgrid.AwaitingManualAction || err != nil {
				t.Fatalf("%s, %v", state, err)
			}
			if !strings.HasPrefix(l.hook.link.String(), l.url+"/orders/validate?") {
				t.Fatalf("validation URL %s, want one of %s", l.hook.link, l.url)
			}
			l.clk.Advance(test.wait)
			q := l.hook.link.Query()
			test.edit(q)
			link := *l.hook.link
			link.RawQuery = q.Encode()
			if status := l.fetch(link.String()); status != test.status {
				t.Errorf("status %d, want %d", status, test.status)
			}
			if w := l.send("POST", events, "["+event+"]", "aeg-sas-key", key); w.Code != 200 {
				t.Errorf("publish: %d", w.Code)
			}
			if want := test.status == 200; len(l.hook.got) == 1 != want {
				t.Errorf("%d deliveries", len(l.hook.got))
			}
		})
	}
}

// Headers of a subscription's own reach the web hook; the service's cannot be changed.
func TestDeliveryHeaders(t *testing.T) {
	t.Parallel()
	many := func(n int) map[string]string {
		h := map[string]string{}
		for i := range n {
			h[fmt.Sprint("X-Mine-", i)] = strings.Repeat("v", 4096)
		}
		return h
	}
	for name, test := range map[string]struct {
		headers map[string]string
		want    string // of the refusal
	}{
		"ten of 4096 bytes": {many(10), ""},
		"eleven":            {many(11), "11 delivery headers; the limit is 10"},
		"4097 bytes":        {map[string]string{"X-Mine": strings.Repeat("v", 4097)}, "at most 4096 bytes"},
		"two lines":         {map[string]string{"X-Mine": "a\r\nb"}, "in one line"},
		"a name with space": {map[string]string{"X Mine": "a"}, "no name of a header"},
		"no name":           {map[string]string{"": "a"}, "no name of a header"},
		"a control byte":    {map[string]string{"X-Mine": "a\x00"}, "in one line"},
		"the service's own": {map[string]string{"aeg-event-type": "Mine", "Content-Type": "text/plain", "Aeg-Delivery-Count": "7", "X-Mine": "a b"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLine(t)
			_, err := l.subscribe(eventgrid.Subscription{DeliveryHeaders: test.headers})
			if test.want != "" {
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("%v, want %q", err, test.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			l.send("POST", events, "["+event+"]", "aeg-sas-key", key)
			if len(l.hook.got) != 1 {
				t.Fatalf("%d deliveries", len(l.hook.got))
			}
			want := map[string]string{"Aeg-Event-Type": "Notification", "Content-Type": "application/json; charset=utf-8", "Aeg-Delivery-Count": "0"}
			for name, value := range test.headers {
				if http.CanonicalHeaderKey(name) == name && strings.HasPrefix(name, "X-") {
					want[name] = value
				}
			}
			got := map[string]string{}
			for name := range want {
				got[name] = l.hook.got[0].Header.Get(name)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("headers (-want +got):\n%s", diff)
			}
		})
	}
}

// Each attempt is the same request except for its count, and the schedule runs from
// one request at the server to the last at the web hook.
func TestDeliveryCounts(t *testing.T) {
	t.Parallel()
	l := newLine(t)
	if _, err := l.subscribe(eventgrid.Subscription{MaxDeliveryAttempts: 3}); err != nil {
		t.Fatal(err)
	}
	counts, fail := []string{}, l.hook
	there := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fail.ServeHTTP(httptest.NewRecorder(), r)
		counts = append(counts, l.clk.Now().Format("15:04:05 ")+r.Header.Get("aeg-delivery-count"))
		w.WriteHeader(http.StatusInternalServerError)
	}))
	t.Cleanup(there.Close)
	l.clk.Do("move", func() {
		if err := l.grid.Unsubscribe(context.Background(), "orders", "hook"); err != nil {
			t.Error(err)
		}
	})
	l.at = there.URL
	l.hook.consent = yes
	if state, err := l.subscribe(eventgrid.Subscription{MaxDeliveryAttempts: 3}); err != nil || state != eventgrid.AwaitingManualAction {
		t.Fatalf("%s, %v", state, err)
	}
	counts = nil
	if status := l.fetch(l.hook.link.String()); status != 200 {
		t.Fatalf("validation: %d", status)
	}
	l.hook.bodies = nil
	l.send("POST", events, "["+event+"]", "aeg-sas-key", key)
	l.clk.Run(48 * time.Hour)
	if diff := cmp.Diff([]string{"00:00:00 0", "00:00:10 1", "00:00:40 2"}, counts); diff != "" {
		t.Errorf("attempts (-want +got):\n%s", diff)
	}
	for _, body := range l.hook.bodies {
		if body != l.hook.bodies[0] {
			t.Errorf("body %s, want the body of the first attempt, %s", body, l.hook.bodies[0])
		}
	}
}
