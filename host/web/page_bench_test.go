//go:build unix

//clock:outside measures real time

package web_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/functions"
)

// BenchmarkPage compares a host with and without an open page, in turns in one run: one
// operation is a message in each of the two, in each of four rounds. Paced: 1,000 messages
// a second come; Full: as many as the host can do. The page is another process, which asks
// for what the page asks for with its view of functions: the stream of lives, the
// clock each second, status, inventory and app every three. Logs: in the place of the page
// is the stream of "redeliver logs", at 1,000 messages a second.
func BenchmarkPage(b *testing.B) {
	for _, row := range []struct {
		name, accept string
		rate         int
	}{{"Paced", "text/event-stream", 1000}, {"Logs", "", 1000}, {"Full", "text/event-stream", 0}} {
		b.Run(row.name, func(b *testing.B) { benchPage(b, row.accept, row.rate) })
	}
}

func benchPage(b *testing.B, accept string, rate int) {
	var handled atomic.Int64
	done := make(chan struct{}, 1)
	var goal int64
	handlers := functions.New()
	handlers.Queue("Orders", "orders", func(context.Context, functions.QueueMessage) error {
		if handled.Add(1) == goal {
			done <- struct{}{}
		}
		return nil
	})
	d := open(b, app(plainHostJSON), handlers, nil)
	orders := d.host.AppStorage().Queue("orders")
	d.host.Clock().Inside("create", func() { _ = orders.Create(context.Background()) }) // the function has made it already
	body := queue.Base64.Encode([]byte(`{"id":"7","customer":"a","amount":12}`))
	send := func(n int) {
		d.host.Clock().Inside("send", func() {
			for range n {
				if _, err := orders.Put(context.Background(), body, nil); err != nil {
					b.Error(err)
				}
			}
		})
	}
	const rounds = 4
	var took, used [2]time.Duration
	for range rounds {
		for mode := range took {
			closePage := func() {}
			if mode == 1 {
				closePage = openPage(b, d.web.URL(), accept)
			}
			goal = handled.Load() + int64(b.N)
			begun, before := time.Now(), processorTime(b)
			for sent := 0; sent < b.N; {
				n := b.N - sent
				if rate > 0 {
					due := int(time.Since(begun).Seconds()*float64(rate)) - sent
					if n = min(n, due); n <= 0 {
						time.Sleep(5 * time.Millisecond) // senders of the real world, which are paced
						continue
					}
				}
				send(min(n, 100))
				sent += min(n, 100)
			}
			<-done
			took[mode] += time.Since(begun)
			used[mode] += processorTime(b) - before
			closePage()
		}
	}
	all := float64(rounds * b.N)
	b.ReportMetric(all/took[0].Seconds(), "messages/s")
	b.ReportMetric(100*took[0].Seconds()/took[1].Seconds(), "%rate")
	b.ReportMetric(float64(used[0].Microseconds())/all, "µs-cpu/message")
	b.ReportMetric(float64(used[1].Microseconds())/all, "µs-cpu-open/message")
	// What the page takes of the processors that the host could use for messages.
	b.ReportMetric(100*(used[1]-used[0]).Seconds()/took[1].Seconds(), "%core")
	b.ReportMetric(0, "ns/op")
}

// processorTime is what this process has used.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// pageOf is where the page is read by this binary, run once more.
const pageOf, acceptOf = "REDELIVER_BENCH_PAGE", "REDELIVER_BENCH_ACCEPT"

// openPage opens a page in another process, and waits until it has the stream.
func openPage(b *testing.B, url, accept string) (closePage func()) {
	cmd := exec.Command(os.Args[0], "-test.run=^TestAsPage$")
	cmd.Env = append(os.Environ(), pageOf+"="+url, acceptOf+"="+accept)
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	lines := bufio.NewReader(out)
	if line, err := lines.ReadString('\n'); err != nil {
		b.Fatalf("the page says %q, %v", line, err)
	}
	return func() {
		_ = in.Close()
		said, _ := io.ReadAll(lines)
		if err := cmd.Wait(); err != nil {
			b.Fatalf("the page ended with %v: %s", err, said)
		}
	}
}

// TestAsPage reads what the page reads, until the standard input ends.
func TestAsPage(t *testing.T) {
	url := os.Getenv(pageOf)
	if url == "" {
		t.Skip("this is the page of BenchmarkPage")
	}
	ctx, cancel := context.WithCancel(context.Background())
	get := func(path string) io.ReadCloser {
		r, err := http.NewRequestWithContext(ctx, "GET", url+prefix+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", os.Getenv(acceptOf))
		resp, err := http.DefaultClient.Do(r)
		if ctx.Err() != nil {
			return http.NoBody
		}
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Error(path, resp, err)
			return http.NoBody
		}
		return resp.Body
	}
	path := "/lives"
	if os.Getenv(acceptOf) == "" {
		path = "/journal?follow=true&since=1"
	}
	stream := get(path)
	// What was before is read when the page opens, not while it is open.
	idle := time.AfterFunc(time.Second, func() { fmt.Println("open") })
	for buf := make([]byte, 1<<20); idle.Stop(); {
		idle.Reset(time.Second)
		if _, err := stream.Read(buf); err != nil {
			t.Fatal(err)
		}
	}
	var both sync.WaitGroup
	defer both.Wait()
	both.Go(func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	})
	both.Go(func() {
		for n := 0; ctx.Err() == nil && os.Getenv(acceptOf) != ""; n++ {
			paths := []string{"/clock"}
			if n%3 == 0 {
				paths = append(paths, "/status", "/inventory", "/app")
			}
			for _, path := range paths {
				_, _ = io.Copy(io.Discard, get(path))
			}
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
			}
		}
	})
	_, _ = io.Copy(io.Discard, stream)
}
