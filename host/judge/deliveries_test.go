//clock:outside the hosts of the tests are of the real world

package judge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/host/app"
)

// Messages of a queue whose function has one output: how often the handler ran, and where
// the message is then. A message is delivered twice at most.
func TestOutputNames(t *testing.T) {
	t.Parallel()
	tab := readTable(t, "testdata/outputs.tsv", 2, 2)
	all := func(t *testing.T, start starter) [][]string {
		run := newID()
		files := []txtar.File{{Name: "host.json", Data: []byte(`{"version":"2.0","extensions":{"queues":{"maxDequeueCount":2,"visibilityTimeout":"00:00:00","maxPollingInterval":"00:00:01"}}}`)}}
		for i, r := range tab.rows {
			files = append(files, txtar.File{Name: fmt.Sprintf("Row%d/function.json", i), Data: functionOf(queueOf(run, i), r.in[0])})
		}
		a := lay(t, files, run)
		s := start(t, a.dir, "custom", a.env)
		s.inside(func() { // else some of the attempts that make it at once fail
			if _, err := s.blobs.Container("judge-out").Create(context.Background(), nil); err != nil && !errors.Is(err, bindings.ErrAlreadyExists) {
				t.Error(err)
			}
		})
		var facts [][]string
		for i, r := range tab.rows { // one after another: several write the same blob, and one of two at once meets 412
			s.inside(func() {
				_, err := queue.PutOrCreate(context.Background(), s.queues.Queue(queueOf(run, i)), queue.Base64.Encode([]byte(r.in[1])), nil)
				if err != nil {
					t.Error(err)
				}
			})
			if function := fmt.Sprintf("Row%d", i); s.function(function) == "runs" {
				s.wait(t, function, queueOf(run, i))
			}
			facts = append(facts, []string{fmt.Sprint(attempts(t, a.given, fmt.Sprintf("Row%d", i))), s.end(t, queueOf(run, i))})
		}
		return facts
	}
	tab.judge(t, judgeVariable, all(t, openOurs), func(t *testing.T) [][]string { return all(t, openTheirs) })
	var functions []txtar.File
	says := map[string]string{}
	for i, r := range tab.rows {
		if r.why == failsDeliveries {
			name := fmt.Sprintf("Row%d", i)
			says[name] = app.FailsDeliveries
			functions = append(functions, txtar.File{Name: name + "/function.json", Data: functionOf(queueOf("own", i), r.in[0])})
		}
	}
	saying(t, functions, says)
}

// functionOf is a function.json with a queue trigger and one more binding.
func functionOf(queueName, binding string) []byte {
	return fmt.Appendf(nil, `{"bindings":[{"type":"queueTrigger","direction":"in","name":"m","queueName":"%s"},%s]}`, queueName, binding)
}

func queueOf(run string, i int) string { return fmt.Sprintf("judge-%s-%d", run, i) }

// wait waits until the message of a queue is in it no more.
func (s *subject) wait(t *testing.T, function, name string) {
	t.Helper()
	if s.settled != nil {
		s.settled(t, function)
		return
	}
	for end := time.Now().Add(60 * time.Second); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if n, err := s.queues.Queue(name).Count(t.Context()); err == nil && n == 0 {
			return
		}
	}
	t.Errorf("the message of %q is still in its queue after 60 s", name)
}

// end is where the message of a queue is.
func (s *subject) end(t *testing.T, name string) (where string) {
	t.Helper()
	where = "deleted"
	s.inside(func() {
		for _, q := range []string{name, name + "-poison"} {
			switch n, err := s.queues.Queue(q).Count(context.Background()); {
			case err != nil && !errors.Is(err, bindings.ErrNotFound):
				t.Error(err)
			case n > 0 && q == name:
				where = "in its queue"
			case n > 0:
				where = "poison"
			}
		}
	})
	return where
}

// attempts counts what the handler was given for a function.
func attempts(t *testing.T, path, function string) (n int) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var g given
		if err := json.Unmarshal([]byte(line), &g); err != nil {
			t.Fatal(err)
		}
		if g.Function == function {
			n++
		}
	}
	return n
}
