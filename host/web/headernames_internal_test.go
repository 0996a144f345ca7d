package web

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/host/listen"
)

// Functions see the names of headers as the platform's server spells and orders them
// (observed of the platform's host 4.1037; more in the tables of host/judge).
func TestHeaderNames(t *testing.T) {
	t.Parallel()
	s := &listen.Server{Wrap: listen.Spelling(""), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, strings.Join(headerNames(r), " "))
	})}
	addr, err := s.Listen(listen.Port{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	nc, err := net.Dial("tcp", addr.String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = nc.Close() }()
	answers := bufio.NewReader(nc)
	for _, c := range []struct{ sent, body, want string }{
		{"Host: x", "", "Host"},
		{"x-own: 1\r\nHost: x\r\nX-B: 2\r\na-c: 3\r\nACCEPT: y", "", "Accept Host x-own X-B a-c"},
		{"X-OWN: 1\r\nHost: x\r\nA-C: 3\r\nx-b: 2", "", "Host X-OWN A-C x-b"}, // the same connection
		{"TraceParent: 1\r\nte: y\r\nHost: x\r\nx-frame-options: 1\r\nZ: 1\r\nx-requested-with: 1", "", "Host TE traceparent X-Frame-Options Z X-Requested-With"},
		{"x-a: 1\r\nCONTENT-TYPE: t\r\nHost: x\r\nX-a: 2", "X-A: b\r\n\r\nContent-type: u", "Host Content-Type Content-Length x-a"},
		{"cookie: 1\r\nHost: x\r\nconnection: keep-alive\r\nuser-agent: u", "", "Connection Host User-Agent Cookie"},
	} {
		if c.body != "" {
			c.sent += fmt.Sprintf("\r\ncontent-length: %d", len(c.body))
		}
		if _, err := io.WriteString(nc, "POST / HTTP/1.1\r\n"+c.sent+"\r\n\r\n"+c.body); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		if err != nil || string(got) != c.want {
			t.Errorf("%q: names %q, %v; want %q", c.sent, got, err, c.want)
		}
		_ = resp.Body.Close()
	}
}
