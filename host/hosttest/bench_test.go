package hosttest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/triggers"
)

// BenchmarkPoison runs poison messages through 5 deliveries of 10 attempts each,
// with back-off, on virtual time, the journal on: one operation is one attempt.
// With -benchtime 500000x it is the run of docs/performance.md: 10,000 messages.
func BenchmarkPoison(b *testing.B) {
	app := functions.New()
	app.Queue("Orders", "orders", func(context.Context, functions.QueueMessage) error { return errBroken },
		functions.ExponentialBackoff(9, time.Second, time.Minute))
	messages := (b.N + 49) / 50
	h := hosttest.New(b, &hosttest.Options{Handlers: app, Lax: true})
	b.ResetTimer()
	for i := range messages {
		h.SendWith("orders", fmt.Sprint(i), &queue.PutOptions{TTL: queue.NeverExpires}) // many take more than seven days
	}
	for range messages {
		h.AwaitSettled("Orders", triggers.Poisoned)
	}
	b.StopTimer()
	b.ReportMetric(float64(messages*50)/b.Elapsed().Seconds(), "attempts/s")
}

// BenchmarkReset is one test's worth of cleaning up.
func BenchmarkReset(b *testing.B) {
	h := hosttest.New(b, &hosttest.Options{Handlers: alwaysFails(), Lax: true})
	for b.Loop() {
		h.Reset()
	}
}

// BenchmarkCheck is a day of 20 timers of a minute, without the check for foreign
// goroutines and with it, in turns: what the check costs is the difference.
func BenchmarkCheck(b *testing.B) {
	app := functions.New()
	for i := range 20 {
		app.Timer(fmt.Sprint("Tick", i), "0 * * * * *", func(context.Context, functions.TimerInfo) error { return nil })
	}
	day := func(unchecked bool) time.Duration {
		h := hosttest.New(b, &hosttest.Options{Handlers: app, Unchecked: unchecked})
		begun := time.Now()
		h.Advance(24 * time.Hour)
		return time.Since(begun)
	}
	var with, without time.Duration
	for b.Loop() {
		without += day(true)
		with += day(false)
	}
	b.ReportMetric(100*float64(with-without)/float64(without), "%")
}
