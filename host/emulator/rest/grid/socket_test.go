package grid_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A request that is sent in pieces, without its length, and one that goes on and on:
// the client gets the answer, though it is still sending.
func TestOverTheSocket(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	server := httptest.NewServer(d.handler)
	t.Cleanup(server.Close)
	for name, test := range map[string]struct {
		key    string
		body   io.Reader
		status int
	}{
		"pieces":                 {key, io.MultiReader(strings.NewReader("["), strings.NewReader(event), strings.NewReader("]")), 200},
		"pieces over the limit":  {key, io.MultiReader(strings.NewReader("["), strings.NewReader(strings.Repeat(" ", 20<<20))), 413},
		"wrong key and too much": {"x", strings.NewReader(strings.Repeat(" ", 8<<20)), 401},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+events, struct{ io.Reader }{test.body})
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("aeg-sas-key", test.key)
			resp, err := server.Client().Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if resp.StatusCode != test.status {
				t.Errorf("status %d, want %d", resp.StatusCode, test.status)
			}
		})
	}
}

// A client that sends all before it reads, as Python's does, gets the refusal too.
func TestRefusedWhileSending(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(newServer(t, nil).handler)
	t.Cleanup(server.Close)
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	body := strings.Repeat(" ", 24<<20)
	if _, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\naeg-sas-key: wrong\r\nContent-Length: %d\r\n\r\n%s", events, len(body), body); err != nil {
		t.Fatalf("the server hung up: %v", err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != 401 {
		t.Errorf("status %d, want 401", resp.StatusCode)
	}
}
