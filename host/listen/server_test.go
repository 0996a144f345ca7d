package listen_test

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/host/listen"
)

// start serves at one port.
func start(t *testing.T, s *listen.Server, secure bool) (address string) {
	t.Helper()
	addr, err := s.Listen(listen.Port{TLS: secure})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return addr.String()
}

// certificate is a configuration for TLS, and a client that does not look at it.
func certificate() (*tls.Config, *http.Client) {
	borrowed := httptest.NewTLSServer(nil)
	defer borrowed.Close()
	return &tls.Config{Certificates: borrowed.TLS.Certificates},
		&http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true, ForceAttemptHTTP2: true}}
}

// Where there is nothing but HTTP, a port that may speak TLS speaks HTTP besides, and one
// that must refuses it.
func TestTLS(t *testing.T) {
	t.Parallel()
	config, client := certificate()
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s, TLS %v, connection %v", r.Proto, r.TLS != nil, listen.Conn(r) != nil)
	})
	for _, row := range []struct {
		name   string
		server *listen.Server
		secure bool
		scheme string
		want   string
	}{
		{"HTTP alone", &listen.Server{}, false, "http", "HTTP/1.1, TLS false, connection true"},
		{"either, HTTP", &listen.Server{TLS: config}, false, "http", "HTTP/1.1, TLS false, connection true"},
		{"either, HTTPS", &listen.Server{TLS: config}, false, "https", "HTTP/1.1, TLS true, connection true"},
		{"HTTPS alone", &listen.Server{TLS: config}, true, "https", "HTTP/1.1, TLS true, connection true"},
		{"HTTPS alone, HTTP", &listen.Server{TLS: config}, true, "http", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			row.server.Handler = handler
			resp, err := client.Get(row.scheme + "://" + start(t, row.server, row.secure))
			if err != nil {
				if row.want != "" {
					t.Error(err)
				}
				return
			}
			defer resp.Body.Close()
			if b, err := io.ReadAll(resp.Body); string(b) != row.want || err != nil {
				t.Errorf("%q, %v; want %q", b, err, row.want)
			}
		})
	}
}

// Where HTTP is all that is spoken, another protocol is answered as HTTP answers it.
func TestNoOtherProtocol(t *testing.T) {
	t.Parallel()
	config, _ := certificate()
	nc, err := net.Dial("tcp", start(t, &listen.Server{TLS: config}, false))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	io.WriteString(nc, "AMQP\x00\x01\x00\x00\r\n\r\n")
	if b, err := io.ReadAll(nc); !strings.HasPrefix(string(b), "HTTP/1.1 400 ") || err != nil {
		t.Errorf("%q, %v; want 400", b, err)
	}
}

// A listener that is closed early serves nobody, and Close may be called again.
func TestClosed(t *testing.T) {
	t.Parallel()
	var s listen.Server
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := http.Get("http://" + start(t, &s, false)); err == nil {
		t.Error("a request is served after Close")
	}
}

func TestPortTaken(t *testing.T) {
	t.Parallel()
	_, port, _ := net.SplitHostPort(start(t, &listen.Server{}, false))
	taken, err := net.LookupPort("tcp", port)
	if err != nil {
		t.Fatal(err)
	}
	for want, p := range map[string]listen.Port{
		"port " + port + " is in use": {Number: taken},
		"queue service: port " + port + " is in use: is another emulator running?": {Number: taken, Service: "queue service", Rivals: "another emulator"},
		"queue service: cannot listen on 192.0.2.7:0: bind: ":                      {Address: "192.0.2.7", Service: "queue service", Rivals: "another emulator"},
	} {
		_, err := new(listen.Server).Listen(p)
		e, ok := errors.AsType[*listen.PortError](err)
		if !ok || e.Number != p.Number || e.Busy() != strings.Contains(want, "in use") || !strings.HasPrefix(e.Error(), want) {
			t.Errorf("Listen(%+v) = %v, want a *PortError %q", p, err, want)
		}
	}
}
