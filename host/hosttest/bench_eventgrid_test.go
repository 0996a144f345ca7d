package hosttest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
)

// BenchmarkEventGrid is events published one by one, each delivered to a function
// in process.
func BenchmarkEventGrid(b *testing.B) {
	app := functions.New()
	got := 0
	app.EventGrid("OnOrder", func(context.Context, functions.EventGridEvent) error { got++; return nil })
	h := hosttest.New(b, &hosttest.Options{Handlers: app, Files: gridApp(""), Lax: true})
	sent := 0
	for b.Loop() {
		h.PublishEvents("shop", shopEvent(fmt.Sprint(sent)))
		sent++
	}
	b.ReportMetric(float64(sent)/b.Elapsed().Seconds(), "events/s")
	if got != sent {
		b.Errorf("%d of %d events delivered", got, sent)
	}
}
