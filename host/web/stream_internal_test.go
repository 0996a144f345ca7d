//clock:outside sockets and their callers are of the real world

package web

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/listen"
)

// streaming is a server whose function takes its request as it comes in.
func streaming(t *testing.T, serve func(*bindings.HTTPRequest) *bindings.HTTPResponse) *httptest.Server {
	t.Helper()
	s := &Server{opts: Options{MaxBody: 1 << 20}}
	server := httptest.NewServer(listen.Bodies(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.stream(w, r, serve) })))
	t.Cleanup(server.Close)
	return server
}

// Both directions are open while the function runs.
func TestStreamBothWays(t *testing.T) {
	t.Parallel()
	server := streaming(t, func(r *bindings.HTTPRequest) *bindings.HTTPResponse {
		w := r.Stream.Answer(201, http.Header{"X-Caller": {r.Caller}, "Connection": {"close"}})
		_, _ = io.WriteString(w, "first ")
		_, _ = io.Copy(w, r.Stream)
		_ = w.Close()
		return nil
	})
	body, send := io.Pipe()
	resp, err := http.Post(server.URL, "text/plain", body)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	first := make([]byte, len("first "))
	if _, err := io.ReadFull(resp.Body, first); err != nil || string(first) != "first " {
		t.Errorf("before the request has ended: %q, %v", first, err)
	}
	_, _ = io.WriteString(send, "last")
	_ = send.Close()
	if rest, err := io.ReadAll(resp.Body); err != nil || string(rest) != "last" {
		t.Errorf("then: %q, %v", rest, err)
	}
	if resp.StatusCode != 201 || resp.Header.Get("X-Caller") != "127.0.0.1" {
		t.Errorf("answer %d %v", resp.StatusCode, resp.Header)
	}
}

// An answer that breaks off does not look whole; one that has not begun is the host's.
func TestStreamFailures(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		body   string
		serve  func(*bindings.HTTPRequest) *bindings.HTTPResponse
		status int // 0: the answer breaks off
	}{
		"breaks off": {"x", func(r *bindings.HTTPRequest) *bindings.HTTPResponse {
			_, _ = io.WriteString(r.Stream.Answer(200, nil), "part")
			return &bindings.HTTPResponse{StatusCode: 500}
		}, 0},
		"no answer": {"x", func(*bindings.HTTPRequest) *bindings.HTTPResponse {
			return &bindings.HTTPResponse{StatusCode: 500}
		}, 500},
		"too large": {strings.Repeat("x", 1<<20+1), func(r *bindings.HTTPRequest) *bindings.HTTPResponse {
			_, err := io.Copy(io.Discard, r.Stream)
			if _, ok := errors.AsType[*http.MaxBytesError](err); !ok {
				return &bindings.HTTPResponse{StatusCode: 200}
			}
			return &bindings.HTTPResponse{StatusCode: 500}
		}, 413},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resp, err := http.Post(streaming(t, tt.serve).URL, "text/plain", strings.NewReader(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			text, err := io.ReadAll(resp.Body)
			if tt.status == 0 {
				if err == nil {
					t.Errorf("a part looks whole: %q", text)
				}
			} else if resp.StatusCode != tt.status || err != nil {
				t.Errorf("got %d, %v; want %d", resp.StatusCode, err, tt.status)
			}
		})
	}
}

// Who reads on when the function is over gets nothing, and a caller that sends slowly
// holds nobody.
func TestStreamLeftUnread(t *testing.T) {
	t.Parallel()
	read := make(chan error, 1)
	server := streaming(t, func(r *bindings.HTTPRequest) *bindings.HTTPResponse {
		reading := make(chan struct{})
		go func() {
			buf := make([]byte, 16)
			_, _ = r.Stream.Read(buf)
			close(reading)
			_, err := r.Stream.Read(buf)
			read <- err
		}()
		<-reading
		return &bindings.HTTPResponse{StatusCode: 202}
	})
	nc, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	_, _ = io.WriteString(nc, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\npart")
	if err := <-read; err == nil {
		t.Error("the function is over, and its request can be read")
	}
	answer := make([]byte, 12)
	if _, err := io.ReadFull(nc, answer); err != nil || !bytes.Equal(answer, []byte("HTTP/1.1 202")) {
		t.Errorf("got %q, %v", answer, err)
	}
}

// The page tells the messages of a batch apart by what stands beside their record.
func TestRecordsWithTheirMembers(t *testing.T) {
	t.Parallel()
	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	got := string(appendBeside(nil, &journal.Record{
		Seq: 1, Time: at, Kind: journal.Received, MessageID: "a", MessageNumber: 4,
		Beside: journal.Beside{Batch: `["a","b"]`, Members: "[4,5]", Counts: "[2,1]"},
	}))
	want := `{"seq":1,"time":"2030-01-01T00:00:00.0000000Z","kind":"received","message_id":"a","message_number":4,"batch":["a","b"],"members":[4,5],"counts":[2,1]}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
