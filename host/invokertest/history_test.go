package invokertest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/launch"
)

// told is what a function says of its attempt in the text of its failure.
var told = regexp.MustCompile(`attempt \d+ fails; retry \d+ of \d+; before: (nothing|attempt \d+ fails)`)

// history is what happened to functions, a line for each record. Texts of errors differ
// from language to language; what told finds in them does not.
func history(h *hosttest.Host, functions ...string) (lines []string) {
	for _, r := range h.Select(func(r *journal.Record) bool { return slices.Contains(functions, r.Function) }) {
		switch r.Kind {
		case journal.Received, journal.AttemptStarted, journal.AttemptEnded, journal.RetryScheduled, journal.RetriesExhausted, journal.Settled:
			lines = append(lines, fmt.Sprint(r.Time.Format("15:04:05.000 "), r.Kind, " ", r.Function, " ", r.Trigger, " ", r.Source, " ", r.Delivery,
				" count ", r.DeliveryCount, " attempt ", r.Attempt, "/", r.MaxRetryCount, " delay ", r.Delay, " ", r.Status, " ", r.Decision, " ", r.Target, " ", r.Cause, " ", told.FindString(r.Error)))
		}
	}
	return lines
}

// wantSame checks that two histories are the same.
func wantSame(t *testing.T, got, want []string) {
	t.Helper()
	if len(want) == 0 {
		t.Error("nothing has happened")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what happened (-in Go +here):\n%s", diff)
	}
}

// hostOf runs a copy of the app of a model in a folder.
func (m model) hostOf(t *testing.T, dir string, env []string, functions ...string) *hosttest.Host {
	t.Helper()
	opts := &hosttest.Options{Dir: dir, Files: map[string]string{}, Env: append([]string{"FUNCTIONS_WORKER_RUNTIME=" + m.runtime}, env...), Functions: functions, Worker: launch.PreferShim}
	if m.official() {
		worker, err := filepath.Abs(m.prefer())
		if err != nil {
			t.Fatal(err)
		}
		opts.Worker, opts.Env = worker, append(opts.Env, "VIRTUAL_ENV="+os.Getenv("VIRTUAL_ENV"))
	}
	return hosttest.New(t, opts)
}
