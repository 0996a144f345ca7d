package verbs

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/ops/run"
)

// followed is what "redeliver logs" writes of some lines of a journal.
func followed(t *testing.T, l logs, lines ...string) (out, said string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	l.c, l.out = remote.NewClient("http://localhost:1"), cli.NewConsole(cli.Streams{Out: &stdout, Err: &stderr}, true)
	p := l.printer()
	for _, line := range lines {
		if err := l.take(t.Context(), p, []byte(line)); err != nil {
			stderr.WriteString(err.Error())
		}
	}
	return stdout.String(), stderr.String()
}

// Gaps of the journal are told, records of a later version are passed on, and foreign text
// steers no terminal.
func TestLogsOfOddJournals(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	begin := logs{host: run.Status{Clock: run.ClockStatus{Now: at}, Journal: 10}, mode: clock.Real, runs: true}
	line := func(r journal.Record) string {
		r.Seq, r.Time = 11, at
		return r.String()
	}
	ended := line(journal.Record{Kind: journal.AttemptEnded, Function: "F", Delivery: "d1", Attempt: 1, Status: "failed", Error: "\x1b[2J\u202eevil"})
	first := line(journal.Record{Kind: journal.ProcessStarted, Name: "go"})
	out, said := followed(t, begin, first, `{"missed":7}`, ended, line(journal.Record{Kind: journal.ProcessStarted, Name: "node"}))
	if !strings.Contains(out, "... 7 records are missing") || !strings.Contains(out, "attempt 1 failed") || strings.ContainsAny(out, "\x1b\u202e") || said != "" {
		t.Errorf("printed %q, said %q", out, said)
	}
	if !strings.Contains(out, "process started") || strings.Contains(out, "pid") {
		t.Errorf("a process without a number: %q", out)
	}
	asJSON := begin
	asJSON.json = true
	later := `{"seq":12,"time":"2026-01-02T03:04:05Z","kind":"new_kind","function":"F","colour":[1]}`
	out, said = followed(t, asJSON, first, `{"missed":7}`, later)
	if out != first+"\n"+later+"\n" || !strings.Contains(said, "7 records are missing") {
		t.Errorf("as JSON: printed %q, said %q", out, said)
	}
	said10 := "records before number 11 (" + at.Local().Format(time.TimeOnly) + ") have left the journal, which keeps 1 now"
	if _, said = followed(t, begin, `{"missed":10}`, first); !strings.Contains(said, said10) {
		t.Errorf("what has left the journal: said %q, want %q", said, said10)
	}
	recent := begin
	recent.from = at.Add(time.Second)
	if _, said = followed(t, recent, `{"missed":10}`, first); said != "" {
		t.Errorf("nothing that was asked for has left: said %q", said)
	}
	for _, damaged := range []string{"{", `{"seq":3,"delay":"x"}`} {
		if _, said = followed(t, begin, damaged); !strings.HasPrefix(said, "journal of http://localhost:1: ") {
			t.Errorf("%s: said %q", damaged, said)
		}
	}
}

// Filters select records, and are joined.
func TestLogFilter(t *testing.T) {
	t.Parallel()
	records := map[string]journal.Record{
		"ok":        {Kind: journal.AttemptEnded, Function: "F", Delivery: "d1", MessageID: "abc-1", Status: "succeeded"},
		"failed":    {Kind: journal.AttemptEnded, Function: "F", Delivery: "d2", MessageID: "ABD", Status: "timed_out"},
		"answer":    {Kind: journal.Settled, Function: "G", Decision: "responded", Invocation: "i1", Fields: []journal.Field{{Key: "http_status", Value: "500"}}},
		"deleted":   {Kind: journal.Settled, Function: "F", Delivery: "d1", Decision: "deleted"},
		"lost":      {Kind: journal.Settled, Function: "F", Delivery: "d2", Decision: "lock_lost"},
		"line":      {Kind: journal.HandlerLog, Function: "G", Level: "error"},
		"info":      {Kind: journal.HandlerLog, Function: "G", Level: "information"},
		"event":     {Kind: journal.EventAttempted, MessageID: "e", Status: "Delivered"},
		"event bad": {Kind: journal.EventAttempted, MessageID: "e", Status: "Busy"},
		"exit":      {Kind: journal.ProcessExited, Name: "node"},
		"refused":   {Kind: journal.GenerationRefused},
	}
	for want, f := range map[string]LogFilter{
		"answer deleted event event bad exit failed info line lost ok refused": {},
		"deleted failed lost ok":                    {Function: "f"},
		"answer event bad failed line lost refused": {Failed: true},
		"failed lost":                               {Function: "F", Failed: true},
		"failed ok":                                 {Message: "ab"},
		"deleted ok":                                {Message: "d1"},
		"answer":                                    {Message: "i1", Function: "G", Failed: true},
		"":                                          {Message: "abcdef"},
	} {
		var got []string
		for _, name := range strings.Split("answer|deleted|event|event bad|exit|failed|info|line|lost|ok|refused", "|") {
			if rec := records[name]; f.admits(&rec) {
				got = append(got, name)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%+v shows %q, want %q", f, got, want)
		}
	}
}
