// Package queue is the trigger and the output of storage queues as the host knows them.
package queue

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/app/hostjson"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/kinds"
	"github.com/redeliver/redeliver/schemas"
	"github.com/redeliver/redeliver/triggers"
	trigger "github.com/redeliver/redeliver/triggers/queue"
)

// Kind is the queue trigger.
func Kind() kinds.Kind {
	return kinds.Kind{
		Kind: app.Kind{
			Type: "queueTrigger", NeedsStorage: true, Connection: "Storage",
			Deliveries: deliveries, End: end, Validate: validate, Lint: lint, InWork: inWork,
			Redelivery: "the queue's maxDequeueCount", Feeds: kinds.Fed("queue", kinds.Named{Key: "queueName", Noun: "queue"}),
		},
		Keeper: "queue", Connect: connect, Listen: listen, Message: message, CountName: "DequeueCount",
	}
}

func connect(f *kinds.Function) error {
	_, err := f.Queues(f.Def.Trigger.Connection)
	return err
}

func listen(t *kinds.Turn) (triggers.Listener, error) {
	f := t.Function
	account, err := f.Queues(f.Def.Trigger.Connection)
	if err != nil {
		return nil, err
	}
	name, err := queue.Name(f.Def.Trigger.String("queueName"))
	if err != nil {
		return nil, err
	}
	conf := f.App().Config.Queues
	return trigger.New(f.Clock, t.QueuesIn(account), name, &trigger.Options{
		BatchSize:          conf.BatchSize,
		NewBatchThreshold:  conf.NewBatchThreshold,
		MaxPollingInterval: pollingInterval(conf),
		VisibilityTimeout:  conf.VisibilityTimeout.Truncate(time.Second), // as the platform's SDK sends it
		MaxDequeueCount:    conf.MaxDequeueCount,
		MessageEncoding:    Encoding(f.App()),
		DataType:           f.Def.Trigger.DataType,
		TextMembers:        kinds.OfThePlatform(f),
		Deferred:           f.Def.DefersTrigger(),
		Rand:               f.Jitter(1<<63 | uint64(f.Number)),
		Watcher:            f.Watcher,
		Renewed:            Renewed(f, f.Journal, journal.Record{Function: f.Def.Name, Trigger: f.Def.Kind.Type, Source: name}),
		WakeUp:             f.App().Switches.WakeUp == "fast",
	}), nil
}

// pollingInterval is the cap of the polling back-off. In development, which is
// Redeliver's normal mode, the default of a minute is 2 s; an explicit value is
// kept, one minute included (storage.md S-9).
func pollingInterval(conf hostjson.Queues) time.Duration {
	if !conf.MaxPollingExplicit {
		return 2 * time.Second
	}
	return conf.MaxPollingInterval
}

func message(f *kinds.Function, input string) (triggers.Message, error) {
	m := trigger.Message([]byte(input), f.Def.Trigger.DataType, f.Clock.Now())
	f.AddInput(m.Metadata, input)
	if f.Def.DefersTrigger() {
		m.Value = trigger.Model(&queue.Message{DequeueCount: 1, Inserted: f.Clock.Now()}, []byte(input))
	}
	return m, nil
}

func deliveries(a *app.App, f *app.Function) (n int, unbounded bool) {
	if _, ok := queue.PoisonName(queueName(f)); !ok {
		return 0, true
	}
	return a.Config.Queues.MaxDequeueCount, false
}

func end(_ *app.App, f *app.Function) string {
	if poison, ok := queue.PoisonName(queueName(f)); ok {
		return `queue "` + poison + `"`
	}
	return "expires in its queue, which has no poison queue"
}

func queueName(f *app.Function) string { return strings.ToLower(f.Trigger.String("queueName")) }

func validate(_ *app.App, f *app.Function) []*schemas.Fault {
	path := f.Trigger.Path + ".queueName"
	name := f.Trigger.String("queueName")
	if _, err := queue.Name(name); err != nil {
		reason := err.Error()
		if refusedAtFirstPoll(name) {
			reason = fmt.Sprintf("the service takes ASCII letters only - %q, and %s", strings.ToLower(name), app.StopsTheApp)
		}
		return []*schemas.Fault{{
			Path: path, Found: name, Allowed: "3 to 63 lower-case letters, digits and single dashes",
			Reason: reason, Kind: "argument",
		}}
	}
	return nil
}

// refusedAtFirstPoll says whether the platform takes a name for its letters and digits of
// any script, so that it is the service that refuses it, which ends the platform's process
// (observed: host 4.1037).
func refusedAtFirstPoll(name string) bool {
	plain := strings.Map(func(r rune) rune {
		if r > unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return 'a'
		}
		return r
	}, name)
	_, err := queue.Name(plain)
	return plain != name && err == nil
}

// lint is L-2 and L-12.
func lint(r *app.Review) {
	if r.App.Config.Queues.VisibilityTimeout != 0 {
		r.Setting("L-2", "extensions.queues.visibilityTimeout",
			"visibilityTimeout delays the next delivery of a failed message; the waits between retries (%s) come from the policy")
	}
	name := queueName(r.Function)
	if _, ok := queue.PoisonName(name); ok {
		return
	}
	if _, ok := queue.PoisonOrigin(name); ok {
		r.Trigger("L-12", "queueName",
			"the function is triggered by a poison queue, which has no poison queue of its own: a message that fails comes back every 10 minutes until it expires (7 days by default); storage extension 5.3.7, which apps on a bundle have, skips it silently instead once its dequeue count has passed the maximum")
		return
	}
	r.Trigger("L-12", "queueName",
		"the name has %d characters, so no poison queue can be named after it (56 is the most): a message that fails comes back every 10 minutes until it expires (7 days by default)", len(name))
}

// inWork tells the default, which depends on this machine's processors (storage.md S-10).
func inWork(a *app.App) string {
	q := a.Config.Queues
	return fmt.Sprintf("up to %d of a queue in work: batchSize %d + newBatchThreshold %d", q.BatchSize+q.NewBatchThreshold, q.BatchSize, q.NewBatchThreshold)
}

// Renewed returns what writes the renewal of a message's lock into the journal, as of.
func Renewed(g kinds.Generation, to *journal.Journal, of journal.Record) func(m *queue.Message) {
	return func(m *queue.Message) {
		rec := of
		rec.Kind, rec.Generation, rec.MessageID, rec.DeliveryCount = journal.LockRenewed, g.ID(), m.ID, m.DequeueCount
		to.Append(rec)
	}
}
