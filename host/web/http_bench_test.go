//go:build unix

//clock:outside measures real time

package web_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redeliver/redeliver/functions"
)

// BenchmarkHTTP compares the way of an HTTP request through the host with a bare server of
// net/http, in turns in one run: 16 callers post a short text, and both answer one. The
// handler is in the host's process, so that what is measured is the host's own share. The
// callers are another process, which parses no more of an answer than it needs. One
// operation is a request to each of the two, in each of four rounds.
func BenchmarkHTTP(b *testing.B) {
	hello := func(w http.ResponseWriter, r *http.Request) {
		said, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/plain")
		_, _ = w.Write(append([]byte("hello "), said...))
	}
	bare := httptest.NewServer(http.HandlerFunc(hello))
	defer bare.Close()
	handlers := functions.New()
	handlers.HTTP("Hello", hello, functions.AuthLevel("anonymous"))
	d := open(b, app(plainHostJSON), handlers, nil)

	const rounds = 4
	servers := []string{bare.URL, d.web.URL()}
	var took, used [2]time.Duration
	var tail [2][]time.Duration
	for range rounds {
		for i, url := range servers {
			before := processorTime(b)
			spent, p99 := call(b, url, b.N)
			used[i] += processorTime(b) - before
			took[i] += spent
			tail[i] = append(tail[i], p99)
		}
	}
	all := float64(rounds * b.N)
	for i, name := range []string{"bare", "host"} {
		b.ReportMetric(all/took[i].Seconds(), name+"/s")
		b.ReportMetric(float64(used[i].Microseconds())/all, "µs-cpu/"+name)
		slices.Sort(tail[i])
		b.ReportMetric(float64(tail[i][rounds/2].Microseconds()), "µs-p99/"+name)
	}
	b.ReportMetric(100*took[0].Seconds()/took[1].Seconds(), "%rate")
	b.ReportMetric(0, "ns/op")
}

// callersOf is where the callers are this binary, run once more.
const callersOf = "REDELIVER_BENCH_CALLERS"

// call lets the callers of another process make n requests, and returns how long all took,
// and how long the slowest hundredth of them took at least.
func call(b *testing.B, url string, n int) (took, p99 time.Duration) {
	b.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestAsCallers$", "-test.v=false")
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d", callersOf, strings.TrimPrefix(url, "http://"), n))
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	if _, err := fmt.Sscanf(string(out), "took %d %d", &took, &p99); err != nil {
		b.Fatalf("the callers say %q: %v", out, err)
	}
	return took, p99
}

// TestAsCallers makes the requests of BenchmarkHTTP.
func TestAsCallers(t *testing.T) {
	var addr string
	var n int
	if told := os.Getenv(callersOf); told == "" {
		t.Skip("these are the callers of BenchmarkHTTP")
	} else if _, err := fmt.Sscanf(told, "%s %d", &addr, &n); err != nil {
		t.Fatal(err)
	}
	const callers = 16
	request := []byte("POST /api/Hello HTTP/1.1\r\nHost: " + addr + "\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nworld")
	times := make([][]time.Duration, callers)
	begun := time.Now()
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			c, err := net.Dial("tcp", addr)
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = c.Close() }()
			in := bufio.NewReader(c)
			for range (n + callers - 1 - i) / callers {
				sent := time.Now()
				if _, err := c.Write(request); err != nil {
					t.Error(err)
					return
				}
				if err := answered(in, "hello world"); err != nil {
					t.Error(err)
					return
				}
				times[i] = append(times[i], time.Since(sent))
			}
		})
	}
	all.Wait()
	took := time.Since(begun)
	sorted := slices.Concat(times...)
	slices.Sort(sorted)
	fmt.Printf("took %d %d\n", took, sorted[len(sorted)*99/100])
}

// answered reads an answer of 200 with the body.
func answered(in *bufio.Reader, body string) error {
	for n := 0; ; n++ {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return err
		}
		if n == 0 && !strings.HasPrefix(string(line), "HTTP/1.1 200 ") {
			return fmt.Errorf("the answer is %q", line)
		}
		if len(line) == 2 {
			break
		}
	}
	said := make([]byte, len(body))
	if _, err := io.ReadFull(in, said); err != nil || string(said) != body {
		return fmt.Errorf("the body is %q: %v", said, err)
	}
	return nil
}
