//clock:outside telemetry follows the journal in real time

package telemetry

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/clock"
	emulatorbus "github.com/redeliver/redeliver/host/emulator/servicebus"
	"github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/host/services"
)

// Depths looks at what queues hold, as a collector of Prometheus.
type Depths func(add func(Depth))

// A Depth is what one queue, or one entity of Service Bus, holds.
type Depth struct {
	Service  string // queue or servicebus
	Entity   string
	Messages map[string]int // by state
	Age      time.Duration  // of the oldest message that is not dead; 0: there is none
}

// DepthsOf looks at the storage queues of an account and at the entities of Service Bus.
// account is asked each time.
func DepthsOf(clk clock.Clock, of *services.Embedded, account func() *storage.Storage) Depths {
	return func(add func(Depth)) {
		clk.Inside("metrics", func() {
			queueDepths(clk.Now(), account(), add)
			busDepths(clk.Now(), of.ServiceBus(), add)
		})
	}
}

// queueDepths looks at storage queues. A queue that goes meanwhile has no depth.
func queueDepths(now time.Time, account *storage.Storage, add func(Depth)) {
	ctx := context.Background()
	names, _ := account.Queues(ctx)
	for _, name := range names {
		n, err := account.QueueCounts(ctx, name)
		if err != nil {
			continue
		}
		add(Depth{
			Service: "queue", Entity: name, Age: age(now, n.Oldest),
			Messages: map[string]int{"visible": n.Visible, "invisible": n.Invisible},
		})
	}
}

// busDepths looks at queues and subscriptions of Service Bus.
func busDepths(now time.Time, ns *emulatorbus.Namespace, add func(Depth)) {
	ctx := context.Background()
	entity := func(path string, n servicebus.Counts) {
		d := Depth{Service: "servicebus", Entity: path, Messages: map[string]int{
			"active": int(n.Active), "scheduled": int(n.Scheduled), "deferred": int(n.Deferred), "dead_letter": int(n.DeadLetter),
		}}
		if first, err := ns.Peek(ctx, path, nil, 0, 1); err == nil && len(first) > 0 {
			d.Age = age(now, first[0].EnqueuedTime)
		}
		add(d)
	}
	queues, _ := ns.ListQueues(ctx)
	for _, q := range queues {
		entity(q.Name, q.Counts)
	}
	topics, _ := ns.ListTopics(ctx)
	for _, t := range topics {
		subscriptions, _ := ns.ListSubscriptions(ctx, t.Name)
		for _, s := range subscriptions {
			entity(servicebus.Path{Entity: t.Name, Subscription: s.Name}.String(), s.Counts)
		}
	}
}

func age(now, then time.Time) time.Duration {
	if then.IsZero() {
		return 0
	}
	return max(now.Sub(then), 0)
}

// The series of the depths.
var (
	messagesDesc = prometheus.NewDesc("redeliver_queue_messages", "Messages in a queue or entity, by state.", []string{"service", "entity", "state"}, nil)
	ageDesc      = prometheus.NewDesc("redeliver_queue_oldest_message_age_seconds", "Age of the oldest message by the host's clock; 0 in an empty queue.", []string{"service", "entity"}, nil)
)

// Describe implements prometheus.Collector.
func (d Depths) Describe(out chan<- *prometheus.Desc) {
	out <- messagesDesc
	out <- ageDesc
}

// Collect implements prometheus.Collector.
func (d Depths) Collect(out chan<- prometheus.Metric) {
	var all []Depth
	d(func(depth Depth) { all = append(all, depth) }) // nothing is sent from inside the clock
	for _, depth := range all {
		depth.Entity = valid(depth.Entity)
		for state, n := range depth.Messages {
			out <- prometheus.MustNewConstMetric(messagesDesc, prometheus.GaugeValue, float64(n), depth.Service, depth.Entity, state)
		}
		out <- prometheus.MustNewConstMetric(ageDesc, prometheus.GaugeValue, depth.Age.Seconds(), depth.Service, depth.Entity)
	}
}
