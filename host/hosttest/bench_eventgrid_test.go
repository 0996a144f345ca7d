package hosttest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
)

// BenchmarkEventGrid is events published one by one, and a hundred at a time, each
// delivered to a function in process.
func BenchmarkEventGrid(b *testing.B) {
	for _, size := range []int{1, 100} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			app := functions.New()
			got := 0
			app.EventGrid("OnOrder", func(context.Context, functions.EventGridEvent) error { got++; return nil })
			h := hosttest.New(b, &hosttest.Options{Handlers: app, Files: gridApp(""), Lax: true})
			sent := 0
			for b.Loop() {
				ids := make([]string, size)
				for i := range ids {
					ids[i] = fmt.Sprint(sent + i)
				}
				h.PublishEvents("shop", shopEvent(ids...))
				sent += size
			}
			b.ReportMetric(float64(sent)/b.Elapsed().Seconds(), "events/s")
			if got != sent {
				b.Errorf("%d of %d events delivered", got, sent)
			}
		})
	}
}

// BenchmarkEventGridDay is events to a function that always fails, each tried 30
// times over a day: the whole host, with its journal.
func BenchmarkEventGridDay(b *testing.B) {
	const events = 1_000
	attempts := 0
	for b.Loop() {
		app := functions.New()
		app.EventGrid("OnOrder", func(context.Context, functions.EventGridEvent) error { attempts++; return errors.New("no") })
		h := hosttest.New(b, &hosttest.Options{Handlers: app, Files: gridApp(""), Lax: true})
		ids := make([]string, 100)
		for n := range events / len(ids) {
			for i := range ids {
				ids[i] = fmt.Sprint(n, "-", i)
			}
			h.PublishEvents("shop", shopEvent(ids...))
		}
		h.Run(48 * time.Hour)
	}
	if attempts != b.N*events*30 {
		b.Errorf("%d attempts, want 30 for each event", attempts)
	}
	b.ReportMetric(float64(attempts)/b.Elapsed().Seconds(), "attempts/s")
}
