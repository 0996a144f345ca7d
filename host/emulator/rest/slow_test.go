package rest_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/rest"
	"github.com/redeliver/redeliver/host/emulator/rest/served"
	emulator "github.com/redeliver/redeliver/host/emulator/storage"
)

// patience is how long a server waits for each part of a body, and for a client to
// take a part of an answer.
const patience = 2 * time.Minute

// pipes is a listener whose connections are pipes in memory: in a bubble of synctest
// they have deadlines, and no minute passes.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	close func()
}

func newPipes() *pipes {
	done := make(chan struct{})
	return &pipes{conns: make(chan net.Conn), done: done, close: sync.OnceFunc(func() { close(done) })}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.close(); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

func (p *pipes) dial() net.Conn {
	client, server := net.Pipe()
	p.conns <- server
	return client
}

// slowServer runs f in a bubble with a connection to one service of a server.
func slowServer(t *testing.T, service string, f func(t *testing.T, storage *emulator.Storage, conn net.Conn)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clk := clock.System()
		storage := emulator.New(clk, nil)
		server, err := served.NewServer(clk, &rest.Options{Accounts: []rest.Account{
			{Name: rest.DevAccount, Keys: []string{rest.DevKey}, Queues: storage, QueueAdmin: storage, Blobs: storage},
		}})
		if err != nil {
			t.Fatal(err)
		}
		l := newPipes()
		server.ServeAt(service, l)
		defer server.Close()
		conn := l.dial()
		defer conn.Close()
		f(t, storage, conn)
	})
}

// head writes a signed request without its body, which has that many bytes.
func head(t *testing.T, conn net.Conn, method, path string, size int, headers ...string) {
	t.Helper()
	var body io.Reader
	if size > 0 {
		body = bytes.NewReader(make([]byte, size))
	}
	r, err := http.NewRequest(method, "http://localhost/"+rest.DevAccount+path, body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Ms-Version", "2021-12-02")
	r.Header.Set("X-Ms-Date", time.Now().UTC().Format(http.TimeFormat))
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	sign(t, r, rest.DevAccount, rest.DevKey, stringToSign(r, rest.DevAccount))
	var text bytes.Buffer
	fmt.Fprintf(&text, "%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n", method, r.URL.RequestURI(), size)
	_ = r.Header.Write(&text)
	text.WriteString("\r\n")
	write(t, conn, text.String())
}

func write(t *testing.T, conn net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
}

// wantAnswer reads an answer, and checks how long after since it came.
func wantAnswer(t *testing.T, conn net.Conn, since time.Time, after time.Duration, status int, code string) {
	t.Helper()
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	if got := resp.Header.Get("X-Ms-Error-Code"); resp.StatusCode != status || got != code {
		t.Errorf("answer = %d %s, want %d %s\n%s", resp.StatusCode, got, status, code, body)
	}
	if got := time.Since(since); got != after {
		t.Errorf("the answer came after %v, want %v", got, after)
	}
}

// A small body that does not go on is refused after two minutes as a whole.
func TestSlowMessage(t *testing.T) {
	slowServer(t, "queue", func(t *testing.T, storage *emulator.Storage, conn net.Conn) {
		if err := storage.Queue("orders").Create(t.Context()); err != nil {
			t.Fatal(err)
		}
		since := time.Now()
		head(t, conn, "POST", "/orders/messages", 100)
		write(t, conn, "<QueueMessage>")
		time.Sleep(patience - time.Second) // in a bubble no time passes
		write(t, conn, "<MessageText>")
		wantAnswer(t, conn, since, patience, 400, "InvalidInput")
		if n, err := storage.Queue("orders").Count(t.Context()); n != 0 || err != nil {
			t.Errorf("%d messages, %v: want none", n, err)
		}
	})
}

// A body that is refused for its length is read on for a while, but not for ever.
func TestSlowRefusal(t *testing.T) {
	slowServer(t, "queue", func(t *testing.T, storage *emulator.Storage, conn net.Conn) {
		if err := storage.Queue("orders").Create(t.Context()); err != nil {
			t.Fatal(err)
		}
		since := time.Now()
		head(t, conn, "POST", "/orders/messages", 16<<20)
		write(t, conn, "<QueueMessage>")
		wantAnswer(t, conn, since, patience, 413, "RequestBodyTooLarge")
	})
}

// A blob may take as long as it likes, as long as each part comes in two minutes.
func TestSlowBlob(t *testing.T) {
	const part = "0123456789"
	for _, row := range []struct {
		name   string
		pauses []time.Duration // before each part after the first; the last one is silence
		total  time.Duration
		status int
		code   string
	}{
		{"goes on", []time.Duration{patience - time.Second, patience - time.Second, patience - time.Second}, 3 * (patience - time.Second), 201, ""},
		{"stops", []time.Duration{patience - time.Second}, patience - time.Second + patience, 400, "InvalidInput"},
	} {
		t.Run(row.name, func(t *testing.T) {
			slowServer(t, "blob", func(t *testing.T, storage *emulator.Storage, conn net.Conn) {
				if _, err := storage.Container("files").Create(t.Context(), nil); err != nil {
					t.Fatal(err)
				}
				since := time.Now()
				head(t, conn, "PUT", "/files/a.txt", 4*len(part), "X-Ms-Blob-Type: BlockBlob")
				write(t, conn, part)
				for _, pause := range row.pauses {
					time.Sleep(pause) // in a bubble no time passes
					write(t, conn, part)
				}
				wantAnswer(t, conn, since, row.total, row.status, row.code)
				_, err := storage.Container("files").Blob("a.txt").Properties(t.Context(), nil)
				if there := err == nil; there != (row.status == 201) {
					t.Errorf("blob after %d: %v", row.status, err)
				}
				if row.status != 201 && !errors.Is(err, bindings.ErrNotFound) {
					t.Errorf("blob after %d: %v", row.status, err)
				}
			})
		})
	}
}

// A client that does not take what it asked for is cut off after two minutes.
func TestSlowReader(t *testing.T) {
	const size = 1 << 20
	slowServer(t, "blob", func(t *testing.T, storage *emulator.Storage, conn net.Conn) {
		container := storage.Container("files")
		if _, err := container.Create(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if _, err := container.Blob("a.txt").Put(t.Context(), bytes.NewReader(make([]byte, size)), nil); err != nil {
			t.Fatal(err)
		}
		head(t, conn, "GET", "/files/a.txt", 0)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || resp.StatusCode != 200 {
			t.Fatalf("%v, %v", resp, err)
		}
		defer resp.Body.Close()
		time.Sleep(patience + time.Second) // in a bubble no time passes
		n, err := io.Copy(io.Discard, resp.Body)
		if err == nil || n == size {
			t.Errorf("%d bytes and %v after a pause of more than %v, want a cut", n, err, patience)
		}
	})
}
