package durable_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	api "github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/journal"
)

// counter is an entity with the operations add, get, delete and fail.
func counter(t *api.Turn) api.Reply {
	var in struct {
		Exists bool
		State  *string
		Batch  []struct {
			Name  string
			Input *string
		}
	}
	if err := json.Unmarshal([]byte(t.Request), &in); err != nil {
		panic(err)
	}
	n, exists := 0, true
	if in.State != nil {
		n, _ = strconv.Atoi(*in.State)
	}
	var results []map[string]any
	for _, o := range in.Batch {
		result := map[string]any{"isError": false, "duration": 0, "startTime": 0, "result": strconv.Itoa(n)}
		switch o.Name {
		case "add":
			by, _ := strconv.Atoi(*o.Input)
			n += by
		case "delete":
			exists = false
		case "fail":
			result["isError"], result["result"] = true, "{}"
		}
		results = append(results, result)
	}
	b, err := json.Marshal(map[string]any{"entityExists": exists, "entityState": strconv.Itoa(n), "results": results, "signals": []any{}})
	if err != nil {
		panic(err)
	}
	return api.Reply{Value: string(b)}
}

func (b *bench) signal(key, operation, input string, due time.Time) {
	b.Helper()
	b.do(func(ctx context.Context) error {
		return b.hub.Signal(ctx, api.EntityID{Name: "Counter", Key: key}, operation, input, due, "http")
	})
}

// entityState is the state of an entity; "" when it does not exist.
func (b *bench) entityState(key string) (state string) {
	b.do(func(ctx context.Context) error {
		got, err := b.hub.Entity(ctx, api.EntityID{Name: "counter", Key: key})
		if err == nil {
			state = *got.State
		} else if !api.Is(err, api.CodeNotFound) {
			return err
		}
		return nil
	})
	return state
}

// T-65, T-66, T-67, T-68.
func TestEntity(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) {
		b.entities["Counter"] = counter
		b.orchestrators["O"] = plans("sig @counter@k add 5, call @counter@k get —", "sig @counter@k add 5, call @counter@k get, call @counter@k fail —", "sig @counter@k add 5, call @counter@k get, call @counter@k fail, done 1")
		b.functions.MaxBatch = 40
	})
	b.start("O", "i1")
	b.run()
	got := b.want("i1", api.Completed, "1")
	var answers []string
	for _, e := range got.History {
		if e.Type == api.EventRaised {
			answers = append(answers, *e.Input)
		}
	}
	if want := `[{"result":"5"} {"result":"{}","exceptionType":"Error"}]`; fmt.Sprint(answers) != want {
		t.Errorf("answers %v, want %s", answers, want)
	}
	b.clk.Do("test", func() {
		for range 100 {
			if err := b.hub.Signal(b.ctx, api.EntityID{Name: "counter", Key: "many"}, "add", "1", time.Time{}, "http"); err != nil {
				t.Error(err)
			}
		}
	})
	b.run()
	if got := b.entityState("many"); got != "100" {
		t.Errorf("state %q after 100 signals", got)
	}
	batches := b.kinds(journal.EntityBatch, func(r *journal.Record) string { return r.MessageID + " " + r.Fields[0].Value })
	if got := strings.Join(batches[2:], ", "); got != "@counter@many add×40, @counter@many add×40, @counter@many add×20" {
		t.Errorf("batches %s", got)
	}
	b.signal("many", "delete", "", time.Time{})
	b.run()
	if got := b.entityState("many"); got != "" {
		t.Errorf("state %q after it was deleted", got)
	}
	b.do(func(ctx context.Context) error {
		page, _, err := b.hub.Instances(ctx, api.Query{Entities: true, Prefix: "@"})
		if err == nil && (len(page) != 1 || page[0].ID != "@counter@k") {
			err = fmt.Errorf("%d entities are listed", len(page))
		}
		return err
	})
}

// 7.3: a scheduled signal waits on the clock; an unknown entity is refused.
func TestScheduledSignal(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.entities["Counter"] = counter })
	b.signal("k", "add", "7", b.clk.Now().Add(10*24*time.Hour))
	b.clk.Advance(10*24*time.Hour - time.Second)
	if got := b.entityState("k"); got != "" {
		t.Errorf("state %q before it is due", got)
	}
	b.run()
	if got := b.entityState("k"); got != "7" || b.elapsed() != 10*24*time.Hour {
		t.Errorf("state %q after %s", got, b.elapsed())
	}
	b.do(func(ctx context.Context) error {
		if err := b.hub.Signal(ctx, api.EntityID{Name: "nope"}, "add", "", time.Time{}, "http"); !api.Is(err, api.CodeUnknown) {
			return fmt.Errorf("unknown entity: %w", err)
		}
		return nil
	})
}

// 7.4: a batch without a full reply comes again, the same operations, after 2, 4, ... s.
func TestBatchComesAgain(t *testing.T) {
	t.Parallel()
	var asked []string
	b := newBench(t, func(b *bench) {
		b.entities["Counter"] = func(t *api.Turn) api.Reply {
			asked = append(asked, fmt.Sprint(b.elapsed(), strings.Count(t.Request, `"add"`)))
			switch len(asked) {
			case 1:
				return api.Reply{Failed: true, Message: "no"}
			case 2:
				return api.Reply{Value: `{"entityExists":true,"entityState":"9","results":[]}`}
			}
			return counter(t)
		}
	})
	b.signal("k", "add", "1", time.Time{})
	b.clk.Advance(time.Second)
	b.signal("k", "add", "2", time.Time{})
	b.run()
	if got := strings.Join(asked, ", "); got != "0s 1, 2s 2, 6s 2" || b.entityState("k") != "3" {
		t.Errorf("asked %s, state %q", got, b.entityState("k"))
	}
}

type timeout struct{ error }

func (timeout) Timeout() bool { return true }

// 7.4: after a functionTimeout every operation of the batch answers an error; the state
// stays.
func TestBatchTimesOut(t *testing.T) {
	t.Parallel()
	n := 0
	b := newBench(t, func(b *bench) {
		b.entities["Counter"] = func(t *api.Turn) api.Reply {
			if n++; n == 1 {
				return api.Reply{Aborted: timeout{errors.New("too long")}}
			}
			return counter(t)
		}
		b.orchestrators["O"] = plans("call @counter@k get —", "call @counter@k get, done 1")
	})
	b.start("O", "i1")
	b.run()
	got := b.want("i1", api.Completed, "1")
	if answer := *got.History[len(got.History)-3].Input; answer != `{"result":"\"too long\"","exceptionType":"Error"}` || n != 1 {
		t.Errorf("answer %s after %d batches", answer, n)
	}
}
