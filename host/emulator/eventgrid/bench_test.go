package eventgrid_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/eventgrid"
)

type refusing struct{}

func (refusing) Deliver(context.Context, *eventgrid.Request) (*eventgrid.Response, error) {
	return &eventgrid.Response{Status: 500}, nil
}

// BenchmarkDay is 10,000 events that an endpoint refuses for a day: 30 attempts
// each.
func BenchmarkDay(b *testing.B) {
	const events = 10_000
	for b.Loop() {
		clk := clock.NewVirtual(start, nil)
		grid := eventgrid.New(clk, &eventgrid.Options{Function: func(string) eventgrid.Endpoint { return refusing{} }})
		clk.Do("publish", func() {
			ctx := context.Background()
			if err := grid.CreateTopic(ctx, eventgrid.Topic{Name: "orders"}); err != nil {
				b.Fatal(err)
			}
			if _, err := grid.Subscribe(ctx, "orders", eventgrid.Subscription{Name: "s", Function: "F"}); err != nil {
				b.Fatal(err)
			}
			for i := range events {
				list, err := eventgrid.ParseEvents([]byte("["+eventJSON(fmt.Sprint(i))+"]"), eventgrid.EventGridSchema)
				if err != nil {
					b.Fatal(err)
				}
				if err := grid.Publish(ctx, "orders", list...); err != nil {
					b.Fatal(err)
				}
			}
		})
		clk.Run(48 * time.Hour)
		grid.Close()
	}
	b.ReportMetric(float64(b.N)*events*30/b.Elapsed().Seconds(), "attempts/s")
}

// BenchmarkOneEvent is the acceptance run: one event that is refused for a day, 30
// attempts, and its dead letter. The goal is less than 100 ms of real time.
func BenchmarkOneEvent(b *testing.B) {
	for b.Loop() {
		bench := newBench(b, eventgrid.Rules{})
		bench.answer = status(500)
		bench.subscribe(eventgrid.Subscription{Name: "s", Function: "F", DeadLetterContainer: "dead"})
		bench.publish("e")
		bench.clk.Run(day)
		if len(bench.calls) != 30 || len(bench.blobs("dead")) != 1 {
			b.Fatalf("%d attempts", len(bench.calls))
		}
	}
}
