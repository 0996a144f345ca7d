//clock:outside measures real time

package invokertest_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/invokertest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/kinds/served"
	"github.com/redeliver/redeliver/host/launch"
)

// each runs a benchmark for JavaScript and for Python, with the program's own workers and
// functions of files.
func each(b *testing.B, run func(b *testing.B, m model, dir string, env []string)) {
	for _, m := range models() {
		if m.name != "node-classic" && (m.name != "python-v1" || !m.standIn) {
			continue
		}
		b.Run(m.runtime, func(b *testing.B) {
			env := m.need(b)
			run(b, m, m.folder(b), env)
		})
	}
}

// bareOf starts the worker of an app without a host.
func (m model) bareOf(b *testing.B, dir string, env []string) *bare {
	b.Helper()
	a, err := app.Load(dir, &app.Options{Env: map[string]string{"FUNCTIONS_WORKER_RUNTIME": m.runtime}, Kinds: served.Facts()})
	if err != nil {
		b.Fatal(err)
	}
	found, err := launch.Worker(context.Background(), a, &app.HandlerSpec{Runtime: m.runtime}, launch.Build{Worker: launch.PreferShim})
	if err != nil {
		b.Fatal(err)
	}
	env = append(env, found.Environment(func(string) bool { return false })...)
	return startBare(b, found, dir, env, filepath.Join(dir, m.script()), "nothing")
}

// BenchmarkFirstResult is from the start of a worker to the result of its first call:
// as the host does it, and over the bare transport.
func BenchmarkFirstResult(b *testing.B) {
	each(b, func(b *testing.B, m model, dir string, env []string) {
		b.Run("host", func(b *testing.B) {
			for b.Loop() {
				inv, err := m.open(b, clock.System(), dir, env)
				if err != nil {
					b.Fatal(err)
				}
				invoke(b, inv, "first")
				b.StopTimer()
				_ = inv.Close(context.Background())
				b.StartTimer()
			}
		})
		b.Run("bare", func(b *testing.B) {
			for b.Loop() {
				w := m.bareOf(b, dir, env)
				if err := w.call("first"); err != nil {
					b.Error(err)
				}
				b.StopTimer()
				w.end()
				b.StartTimer()
			}
		})
	})
}

func invoke(b *testing.B, inv invokertest.Invoker, id string) {
	resp, err := inv.Invoke(context.Background(), &call.Request{
		InvocationID: id, Function: "Nothing", Inputs: []call.Input{{Name: "item", Value: bindings.StringValue(`{"id":"7"}`)}},
	}, func(call.Log) {})
	if err != nil || resp.Status != call.Succeeded {
		b.Errorf("%+v, %v", resp, err)
	}
}

// BenchmarkInvoke is a call of a function that does nothing, 1 and 32 at once: through
// the invoker, and over the bare transport.
func BenchmarkInvoke(b *testing.B) {
	each(b, func(b *testing.B, m model, dir string, env []string) {
		inv, err := m.open(b, clock.System(), dir, env)
		if err != nil {
			b.Fatal(err)
		}
		defer func() { _ = inv.Close(context.Background()) }()
		w := m.bareOf(b, dir, env)
		defer w.end()
		for _, c := range []int{1, 32} {
			b.Run(fmt.Sprintf("host/%d", c), func(b *testing.B) {
				spread(b, c, func(id string) { invoke(b, inv, id) })
			})
			b.Run(fmt.Sprintf("bare/%d", c), func(b *testing.B) {
				spread(b, c, func(id string) {
					if err := w.call(id); err != nil {
						b.Error(err)
					}
				})
			})
		}
	})
}

// spread makes b.N calls, c at once.
func spread(b *testing.B, c int, one func(id string)) {
	var next atomic.Int64
	var callers sync.WaitGroup
	for range c {
		callers.Go(func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				one(fmt.Sprint("call-", i))
			}
		})
	}
	callers.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
}

// benchHost makes a host that runs only the function Nothing of an app, at the pace of
// real time.
func (m model) benchHost(b *testing.B, dir string, env []string) *host.Host {
	b.Helper()
	h, err := host.New(dir, &host.Options{
		Env:       append(append(os.Environ(), "FUNCTIONS_WORKER_RUNTIME="+m.runtime, "AzureWebJobsStorage=UseDevelopmentStorage=true"), env...),
		Functions: []string{"Nothing"}, Worker: launch.PreferShim,
	})
	if err != nil {
		b.Fatal(err)
	}
	return h
}

// BenchmarkMessages is the whole way of a queue message, from the embedded queue to its
// deletion, with the batchSize and newBatchThreshold of the platform.
func BenchmarkMessages(b *testing.B) {
	each(b, func(b *testing.B, m model, dir string, env []string) {
		h := m.benchHost(b, dir, env)
		h.Clock().Inside("fill", func() {
			for range b.N {
				if _, err := queue.PutOrCreate(context.Background(), h.Services().Storage().Queue("nothing"), queue.Base64.Encode([]byte(`{"id":"7"}`)), nil); err != nil {
					b.Error(err)
				}
			}
		})
		var settled atomic.Int64
		if err := h.Start(context.Background()); err != nil {
			b.Fatal(err)
		}
		b.ResetTimer()
		if _, err := h.Journal().Wait(context.Background(), func(r *journal.Record) bool {
			return r.Kind == journal.Settled && settled.Add(1) == int64(b.N)
		}); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
		if err := h.Close(); err != nil {
			b.Error(err)
		}
	})
}

// BenchmarkEdit is from the edit of a script to the generation that runs it, quiet time
// included. Compare it with BenchmarkFirstResult of the same run.
func BenchmarkEdit(b *testing.B) {
	each(b, func(b *testing.B, m model, dir string, env []string) {
		h := m.benchHost(b, dir, env)
		if err := h.Start(context.Background()); err != nil {
			b.Fatal(err)
		}
		ctx, stop := context.WithCancel(context.Background())
		var watcher sync.WaitGroup
		watcher.Go(func() {
			if err := h.Watch(ctx); err != nil {
				b.Error(err)
			}
		})
		path := filepath.Join(dir, m.script())
		text, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		comment := map[string]string{"node": "//", "python": "#"}[m.runtime]
		n := 0
		for b.Loop() {
			n++
			edited := string(text) + comment + strings.Repeat(" edited", n) + "\n"
			if err := os.WriteFile(path, []byte(edited), 0o600); err != nil {
				b.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
			_, err := h.Journal().Wait(ctx, func(r *journal.Record) bool { return r.Kind == journal.GenerationLoaded && r.Generation == n+1 })
			cancel()
			if err != nil {
				b.Fatalf("edit %d: %v", n, err)
			}
		}
		stop()
		watcher.Wait()
		if err := h.Close(); err != nil {
			b.Error(err)
		}
	})
}
