package durable_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	api "github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/emulator/durable"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/journal"
)

// answers is a server that answers its n-th request with the n-th answer, and later ones with
// the last. Its count is that of requests.
func answers(t *testing.T, list ...http.HandlerFunc) (url string, count *atomic.Int64) {
	t.Helper()
	count = &atomic.Int64{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		list[min(int(count.Add(1)), len(list))-1](w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL, count
}

// says answers with a status, headers and a text.
func says(status int, text string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, r.Method+" "+text)
	}
}

// calling is an orchestrator that makes one request, and returns "told" once the host has its
// end.
func calling(request string) script {
	return func(turn *api.Turn) api.Reply {
		end := `"isDone":false`
		if strings.Contains(turn.Request, `"EventType":5`) || strings.Contains(turn.Request, `"EventType":6`) {
			end = `"isDone":true,"output":"told"`
		}
		return api.Reply{Value: `{` + end + `,"actions":[[{"actionType":8,"httpRequest":` + request + `}]],"schemaVersion":2}`}
	}
}

// told are the ends of an instance's tasks: the result or the reason of each.
func told(inst *api.Instance) (out []string) {
	for _, e := range inst.History {
		switch {
		case e.Type == api.TaskCompleted:
			out = append(out, *e.Result)
		case e.Type == api.TaskFailed && e.Failure != nil:
			out = append(out, e.Failure.Type)
		case e.Type == api.TaskFailed:
			out = append(out, *e.Reason)
		}
	}
	return out
}

func wantTold(t *testing.T, inst *api.Instance, want ...string) {
	t.Helper()
	got := told(inst)
	if len(got) != len(want) {
		t.Fatalf("told %q, want %q", got, want)
	}
	for i := range want {
		if !strings.Contains(got[i], want[i]) {
			t.Errorf("told %s, want %s", got[i], want[i])
		}
	}
}

// T-75: a 202 is polled, and the waits are of the clock.
func TestCallHTTPPolls(t *testing.T) {
	t.Parallel()
	url, count := answers(t, says(202, "1", "Location", "/next", "Retry-After", "60"), says(202, "2", "Location", "/next"), says(200, "3"))
	b := newBench(t, func(b *bench) {
		b.orchestrators["O"] = calling(`{"method":"POST","uri":"` + url + `","content":"x","asynchronousPatternEnabled":true}`)
	})
	b.start("O", "i1")
	b.run()
	got := b.want("i1", api.Completed, "told")
	wantTold(t, got, `"content":"POST 1"`, `"content":"GET 2"`, `"statusCode":200,`)
	numbers := ""
	for _, e := range got.History {
		switch e.Type {
		case api.TaskScheduled:
			numbers += fmt.Sprint(e.ID, "T ")
		case api.TimerCreated:
			numbers += fmt.Sprint(e.ID, "W ")
		}
	}
	if numbers != "0T 1W 2T 3W 4T " || b.elapsed() != 90*time.Second || count.Load() != 3 {
		t.Errorf("numbers %s, %s, %d requests", numbers, b.elapsed(), count.Load())
	}
	ends := b.kinds(journal.TaskEnded, func(r *journal.Record) string { return r.Name + " " + r.Status })
	if text := strings.Join(ends, ", "); text != "BuiltIn::HttpActivity succeeded, timer fired, BuiltIn::HttpActivity succeeded, timer fired, BuiltIn::HttpActivity succeeded" {
		t.Errorf("the journal has %s", text)
	}
}

// T-91: without asynchronousPatternEnabled the 202 is the result.
func TestCallHTTPWithoutPolling(t *testing.T) {
	t.Parallel()
	url, count := answers(t, says(202, "1", "Location", "/next"))
	b := newBench(t, func(b *bench) { b.orchestrators["O"] = calling(`{"method":"GET","uri":"` + url + `"}`) })
	b.start("O", "i1")
	b.run()
	wantTold(t, b.want("i1", api.Completed, "told"), `"statusCode":202,`)
	if count.Load() != 1 || b.elapsed() != 0 {
		t.Errorf("%d requests in %s", count.Load(), b.elapsed())
	}
}

// 6.5: a request with retryOptions is made again on the codes that they name.
func TestCallHTTPRetries(t *testing.T) {
	t.Parallel()
	url, count := answers(t, says(503, ""), says(503, ""), says(404, ""))
	b := newBench(t, func(b *bench) {
		b.orchestrators["O"] = calling(`{"method":"GET","uri":"` + url + `","retryOptions":{"firstRetryIntervalInMilliseconds":3600000,"maxNumberOfAttempts":5,"statusCodesToRetry":[503]}}`)
	})
	b.start("O", "i1")
	b.run()
	wantTold(t, b.want("i1", api.Completed, "told"), `:503,`, `:503,`, `:404,`)
	if count.Load() != 3 || b.elapsed() != 2*time.Hour {
		t.Errorf("%d requests in %s", count.Load(), b.elapsed())
	}
}

// 6.5: a failure has the reason alone, or details; a request can be made to fail.
func TestCallHTTPFails(t *testing.T) {
	t.Parallel()
	url, count := answers(t, says(200, ""))
	for request, want := range map[string]string{
		`{"uri":"http://127.0.0.1:1/"}`: "Connection refused (127.0.0.1:1)", `{"uri":"nonsense"}`: "System.InvalidOperationException",
		`{"uri":"` + url + `","tokenSource":{"kind":"AzureManagedIdentity"}}`: "callHttp with a tokenSource is not emulated",
		`{"uri":"` + url + `/fault"}`:                                         "broken",
	} {
		b := newBench(t, func(b *bench) {
			b.orchestrators["O"] = calling(request)
			b.fault = func(p durable.FaultPoint) error {
				if p.Op == durable.CallHTTP && !p.After && strings.Contains(request, "fault") {
					return errors.New("broken")
				}
				return nil
			}
		})
		b.start("O", "i1")
		b.run()
		got := b.want("i1", api.Completed, "told")
		wantTold(t, got, want)
		for _, e := range got.History {
			if e.Type == api.TaskFailed && (e.Details == nil) != (e.Failure != nil) {
				t.Errorf("%s: details %v, failure %v: want one of them", request, e.Details, e.Failure)
			}
		}
	}
	if count.Load() != 0 {
		t.Errorf("%d requests went out", count.Load())
	}
}

// A request that a stop breaks off is made again by the next engine; at most so many are out
// as activities may run.
func TestCallHTTPOverARestart(t *testing.T) {
	t.Parallel()
	db, err := store.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	came := make(chan struct{}, 10)
	hangs := func(_ http.ResponseWriter, r *http.Request) {
		came <- struct{}{}
		<-r.Context().Done()
	}
	url, count := answers(t, hangs, says(200, "again"))
	b := newBench(t, func(b *bench) {
		b.db = db
		b.functions.MaxActivities = 1
		b.orchestrators["O"] = calling(`{"method":"GET","uri":"` + url + `"}`)
	})
	b.clk.Inside("start", func() { // which does not wait for the request
		for _, id := range []string{"i1", "i2"} {
			if _, err := b.hub.Start(b.ctx, api.Start{Name: "O", ID: id}); err != nil {
				t.Error(err)
			}
		}
	})
	<-came
	b.stop()
	if n := count.Load(); n != 1 {
		t.Errorf("%d requests are out", n)
	}
	b.open()
	b.run()
	for _, id := range []string{"i1", "i2"} {
		wantTold(t, b.want(id, api.Completed, "told"), `"content":"GET again"`)
	}
	if n := count.Load(); n != 3 {
		t.Errorf("%d requests were made", n)
	}
}

// A request waits while no app serves the hub, also where requests were made before.
func TestCallHTTPUnserved(t *testing.T) {
	t.Parallel()
	url, count := answers(t, says(200, "1"))
	calls := calling(`{"method":"GET","uri":"` + url + `"}`)
	leaves := false
	b := newBench(t, func(b *bench) {
		b.orchestrators["O"] = func(turn *api.Turn) api.Reply {
			if leaves {
				b.hub.Serve("app", api.Functions{}) // the app goes while its turn is out
			}
			return calls(turn)
		}
	})
	b.start("O", "before")
	b.run()
	leaves = true
	b.start("O", "i1")
	b.run()
	if n := count.Load(); n != 1 {
		t.Fatalf("%d requests", n)
	}
	leaves = false
	b.do(func(context.Context) error {
		b.hub.Serve("app", api.Functions{Runtime: "node", Known: []api.Function{{Kind: api.Orchestrator, Name: "O"}}})
		return nil
	})
	b.run()
	wantTold(t, b.want("i1", api.Completed, "told"), `"content":"GET 1"`)
}

// Requests count among the activities of the app.
func TestCallHTTPAmongActivities(t *testing.T) {
	t.Parallel()
	url, count := answers(t, says(200, "1"))
	early := int64(-1)
	b := newBench(t, func(b *bench) {
		b.functions.MaxActivities = 1
		b.orchestrators["A"] = plans("act Slow —", "act Slow, done 1")
		b.orchestrators["O"] = calling(`{"method":"GET","uri":"` + url + `"}`)
		b.activities["Slow"] = func(*api.Activity) api.Reply {
			_ = b.clk.Sleep(b.ctx, time.Second)
			early = count.Load()
			return api.Reply{Value: "1"}
		}
	})
	b.start("A", "a1")
	b.start("O", "i1")
	b.run()
	b.want("i1", api.Completed, "told")
	if early != 0 || count.Load() != 1 {
		t.Errorf("%d requests beside the activity, %d in all", early, count.Load())
	}
}

// What ends after its instance is told to nobody.
func TestCallHTTPTooLate(t *testing.T) {
	t.Parallel()
	var b *bench
	url, _ := answers(t, func(http.ResponseWriter, *http.Request) {
		b.clk.Inside("terminate", func() {
			_ = b.hub.Control(context.Background(), "i1", api.Control{Command: api.Terminate, Reason: "why", By: "test"})
		})
	})
	b = newBench(t, func(b *bench) { b.orchestrators["O"] = calling(`{"method":"GET","uri":"` + url + `"}`) })
	b.start("O", "i1")
	b.run()
	b.want("i1", api.Terminated, "why")
	ends := b.kinds(journal.TaskEnded, func(r *journal.Record) string { return fmt.Sprint(r.Name, " ", r.Status, r.Fields) })
	if text := strings.Join(ends, ", "); text != "BuiltIn::HttpActivity ignored[{number 0} {what http}]" {
		t.Errorf("the journal has %s", text)
	}
}
