package hosttest_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
)

// A queue that has no poison queue is named at the start, once: a poison queue
// (S-3), and a name of 57 characters or more (spec storage 2).
func TestWarningsAtStart(t *testing.T) {
	t.Parallel()
	start := func(files map[string]string) string {
		var log bytes.Buffer
		app := functions.New()
		fine := func(context.Context, functions.QueueMessage) error { return nil }
		app.Queue("Poison", "orders-poison", fine)
		app.Queue("Long", strings.Repeat("q", 57), fine)
		app.Queue("Fits", strings.Repeat("q", 56), fine)
		app.Queue("Retries", "retried", fine, functions.FixedDelay(1, 0))
		hosttest.New(t, &hosttest.Options{Handlers: app, Files: files, Logger: zerolog.New(&log)})
		return log.String()
	}
	log := start(nil)
	for line, want := range map[string]int{
		`"function":"Poison","lint":"L-12"`:        1,
		`"function":"Long","lint":"L-12"`:          1,
		`"function":"Fits"`:                        0,
		`"functions":["Retries"],"help":"https://`: 1, // 2.7
	} {
		if got := strings.Count(log, line); got != want {
			t.Errorf("the log has %d lines with %s, want %d:\n%s", got, line, want, log)
		}
	}
	if log := start(hostJSON(`"redeliver":{"ignore":["L-12"]}`)); strings.Contains(log, "L-12") {
		t.Errorf("L-12 is ignored, but the log says:\n%s", log)
	}
}
