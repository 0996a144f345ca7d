package growth_test

import (
	"context"
	"fmt"
	"time"

	"github.com/redeliver/redeliver/bindings/cosmos"
	"github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/host/clock"
	documentdb "github.com/redeliver/redeliver/host/emulator/cosmos"
	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	hubs "github.com/redeliver/redeliver/host/emulator/eventhubs"
)

func hub(b *bench) {
	ns := hubs.New(clock.System(), nil)
	b.must(ns.CreateHub(ctx, hubs.Hub{Name: "h", Partitions: 1}))
	var list []*eventhubs.Event
	for range 100 {
		list = append(list, &eventhubs.Event{Body: []byte("x")})
	}
	for i := 0; i < b.n; i += 100 {
		b.must(ns.SendEvents(ctx, "h", nil, list...))
	}
	b.per("send", func(int) error { return ns.SendEvents(ctx, "h", nil, list[0]) })
	b.per("partition properties", func(int) error { _, err := ns.Partition(ctx, "h", "0"); return err })
	middle := int64(b.n / 2)
	b.per("read 10 from the middle", func(int) error {
		r, err := ns.ReadEvents(ctx, "h", "$Default", "0", eventhubs.Position{SequenceNumber: &middle}, nil)
		if err != nil {
			return err
		}
		_, err = r.Receive(ctx, 10, 0)
		_ = r.Close(ctx)
		return err
	})
}

func documents(b *bench) {
	a := documentdb.New(clock.System(), nil)
	c, err := a.CreateContainer(ctx, cosmos.ContainerSpec{Database: "d", Name: "c", PartitionKey: "/pk"})
	b.must(err)
	document := func(i, v int) []byte { return fmt.Appendf(nil, `{"id":"%d","pk":"p","v":%d}`, i, v) }
	for i := range b.n {
		_, err := c.Upsert(ctx, document(i, 0))
		b.must(err)
	}
	for i := range b.n / 3 { // what the feed does not show any more
		b.must(c.Delete(ctx, fmt.Sprint(b.n/3+i), cosmos.KeyText("p"), ""))
	}
	b.per("upsert", func(i int) error { _, err := c.Upsert(ctx, document(i, 1)); return err })
	b.per("read", func(i int) error { _, err := c.Read(ctx, fmt.Sprint(i), cosmos.KeyText("p")); return err })
	b.per("documents by the beginning of their identifiers", func(int) error { _, err := c.Items(ctx, fmt.Sprint(b.n-1)); return err })
	middle, err := c.Changes(ctx, "0", cosmos.Position{}, b.n/4)
	b.must(err)
	b.per("10 changes before many deleted ones", func(int) error {
		_, err := c.Changes(ctx, "0", cosmos.Position{Continuation: middle.Continuation}, 10)
		return err
	})
	b.per("number of changes", func(int) error { _, err := a.Pending(ctx, "d", "c", "0", cosmos.Position{}); return err })
	var twice [][]byte
	for i := range 10 {
		twice = append(twice, document(0, i))
	}
	b.per("transaction with one document ten times", func(int) error { _, err := c.Upsert(ctx, twice...); return err })
	b.per("delete", func(i int) error { return c.Delete(ctx, fmt.Sprint(b.n-1-i), cosmos.KeyText("p"), "") })
}

type refusing struct{}

func (refusing) Deliver(context.Context, *eventgrid.Request) (*eventgrid.Response, error) {
	return &eventgrid.Response{Status: 500}, nil
}

// parked is events at an endpoint on probation: the cost of each, over a day.
func parked(b *bench) {
	n := min(b.n/4, 10_000)
	clk := clock.NewVirtual(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), nil)
	g := eventgrid.New(clk, &eventgrid.Options{
		Rules: eventgrid.Rules{Probation: true}, Function: func(string) eventgrid.Endpoint { return refusing{} },
	})
	defer g.Close()
	clk.Do("publish", func() {
		b.must(g.CreateTopic(ctx, eventgrid.Topic{Name: "orders"}))
		_, err := g.Subscribe(ctx, "orders", eventgrid.Subscription{Name: "s", Function: "F"})
		b.must(err)
		for i := range n {
			list, err := eventgrid.ParseEvents(fmt.Appendf(nil, `[{"id":"%d","subject":"s","eventType":"t","eventTime":"2024-01-01T00:00:00Z","data":{},"dataVersion":"1"}]`, i), eventgrid.EventGridSchema)
			b.must(err)
			b.must(g.Publish(ctx, "orders", list...))
		}
	})
	begun := time.Now()
	clk.Run(30 * time.Hour)
	b.costs["a day of each refused event"] = time.Since(begun) / time.Duration(n)
}
