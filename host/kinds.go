package host

import (
	"context"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings"
	queueapi "github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/schemas"
	"github.com/redeliver/redeliver/triggers"
	"github.com/redeliver/redeliver/triggers/httptrigger"
	"github.com/redeliver/redeliver/triggers/queue"
	"github.com/redeliver/redeliver/triggers/timer"
)

// kind is one trigger kind: its facts, and how to listen to it. Adding a kind
// is one line in the table below.
type kind struct {
	app.Kind

	// singleton kinds run one listener at a time, also across a reload, and among
	// the hosts that share the storage.
	singleton bool

	// serial kinds run one listener at a time in this host, also across a reload.
	serial bool

	// connect finds what the trigger connects to, for functions that could not
	// run without: such a function is in error. It does no I/O. Nil: nothing.
	connect func(f *function) error

	// listen makes the listener of a function.
	listen func(t *turn) (triggers.Listener, error)

	// unsettled is how a delivery ends whose settlement comes to nothing. Empty:
	// dropped.
	unsettled triggers.Decision

	// message makes what the function receives in a call by hand.
	message func(h *Host, f *function, input string) (triggers.Message, error)
}

// kinds is the kind table. Its column OfficialRetry says which kinds the
// platform supports retry policies on; D-2 decides what follows from that.
func kinds() []kind {
	return []kind{
		{Kind: app.Kind{Type: "httpTrigger", End: httpEnd, Validate: validateHTTP}, listen: listenHTTP, message: httpMessage},
		{Kind: app.Kind{Type: "queueTrigger", NeedsStorage: true, Connection: "Storage", Deliveries: queueDeliveries, End: queueEnd, Validate: validateQueue}, connect: connectQueue, listen: listenQueue, message: queueMessage},
		{Kind: app.Kind{Type: "blobTrigger", NeedsStorage: true, Connection: "Storage", Deliveries: blobDeliveries, End: blobEnd, Validate: validateBlob}, connect: connectBlob, listen: listenBlob, message: blobMessage},
		{Kind: app.Kind{Type: "serviceBusTrigger", NeedsStorage: true, Connection: "ServiceBus", Deliveries: serviceBusDeliveries, Lock: serviceBusLock, End: serviceBusEnd, Validate: validateServiceBus}, connect: connectServiceBus, listen: listenServiceBus, unsettled: triggers.LockLost, message: serviceBusMessage},
		{Kind: app.Kind{Type: "eventGridTrigger", NeedsStorage: true, Deliveries: eventGridDeliveries, End: eventGridEnd, Validate: validateEventGrid}, connect: connectEventGrid, listen: listenEventGrid, message: eventGridMessage},
		{Kind: app.Kind{Type: "timerTrigger", NeedsStorage: true, OfficialRetry: true, End: timerEnd, Period: timerPeriod, Validate: validateTimer}, singleton: true, connect: connectTimer, listen: listenTimer, message: timerMessage},

		{Kind: app.Kind{Type: "eventHubTrigger", NeedsStorage: true, OfficialRetry: true, Connection: "EventHub", End: eventHubEnd, Validate: validateEventHub}, serial: true, connect: connectEventHub, listen: listenEventHub, unsettled: triggers.NotCheckpointed, message: eventHubMessage},
		{Kind: app.Kind{Type: "cosmosDBTrigger", NeedsStorage: true, OfficialRetry: true, Connection: "CosmosDB", End: cosmosEnd, Validate: validateCosmos}, serial: true, connect: connectCosmos, listen: listenCosmos, unsettled: triggers.NotCheckpointed, message: cosmosMessage},

		{Kind: app.Kind{Type: "manualTrigger", NeedsStorage: true, End: manualEnd}, message: manualMessage},
		{Kind: app.Kind{Type: "warmupTrigger", NeedsStorage: true, End: warmupEnd}, listen: listenWarmup, message: warmupMessage},
	}
}

// Kinds returns the facts of the trigger kinds that this host knows, for
// loading and checking an app without running it.
func Kinds() []app.Kind {
	var out []app.Kind
	for _, k := range kinds() {
		out = append(out, k.Kind)
	}
	return out
}

// kindOf returns the kind of that type, or nil.
func kindOf(typ string) *kind {
	for _, k := range kinds() {
		if strings.EqualFold(k.Type, typ) {
			return &k
		}
	}
	return nil
}

// HTTP.

func listenHTTP(t *turn) (triggers.Listener, error) { return t.http, nil }

func httpMessage(_ *Host, f *function, input string) (triggers.Message, error) {
	return httptrigger.Message(&bindings.HTTPRequest{
		Method: "POST", URL: "http://localhost/admin/functions/" + f.def.Name, Body: []byte(input),
	}), nil
}

func httpEnd(*app.App, *app.Function) string { return "500 to the caller" }

func validateHTTP(_ *app.App, f *app.Function) []*schemas.Fault {
	route := f.Trigger.String("route")
	if route == "" {
		return nil
	}
	if _, err := httptrigger.ParseTemplate(route); err != nil {
		return []*schemas.Fault{{
			Path: f.Trigger.Path + ".route", Found: route, Allowed: "an ASP.NET route template, e.g. orders/{id:int?}",
			Reason: err.Error(), Kind: "argument",
		}}
	}
	return nil
}

// Storage queue.

func connectQueue(f *function) error {
	_, err := f.account(f.def.Trigger)
	return err
}

func listenQueue(t *turn) (triggers.Listener, error) {
	f, h := t.function, t.gen.host
	account, err := f.account(f.def.Trigger)
	if err != nil {
		return nil, err
	}
	account = t.queues(account)
	name, err := queueapi.Name(f.def.Trigger.String("queueName"))
	if err != nil {
		return nil, err
	}
	conf := f.gen.app.Config.Queues
	return queue.New(h.clk, account, name, &queue.Options{
		BatchSize:          conf.BatchSize,
		NewBatchThreshold:  conf.NewBatchThreshold,
		MaxPollingInterval: pollingInterval(conf),
		VisibilityTimeout:  conf.VisibilityTimeout,
		MaxDequeueCount:    conf.MaxDequeueCount,
		MessageEncoding:    encodingOf(f.gen.app),
		DataType:           f.def.Trigger.DataType,
		Rand:               jitterOf(h.opts.Seed, 1<<63|uint64(f.number)),
		Watcher:            h.watcher,
		Renewed:            f.gen.renewed(journal.Record{Function: f.def.Name, Trigger: f.def.Kind.Type, Source: name}),
		WakeUp:             f.gen.app.Switches.WakeUp == "fast",
	}), nil
}

// renewed returns what writes the renewal of a message's lock into the journal, as of.
func (g *generation) renewed(of journal.Record) func(m *queueapi.Message) {
	return func(m *queueapi.Message) {
		rec := of
		rec.Kind, rec.Generation, rec.MessageID, rec.DeliveryCount = journal.LockRenewed, g.id, m.ID, m.DequeueCount
		g.host.journal.Append(rec)
	}
}

// pollingInterval is the cap of the polling back-off. In development, which is
// our normal mode, the default of a minute is 2 s; an explicit value is kept, also
// that of one minute (storage.md S-9).
func pollingInterval(conf app.Queues) time.Duration {
	if !conf.MaxPollingExplicit {
		return 2 * time.Second
	}
	return conf.MaxPollingInterval
}

func queueMessage(_ *Host, f *function, input string) (triggers.Message, error) {
	return queue.Message([]byte(input), f.def.Trigger.DataType), nil
}

func queueDeliveries(a *app.App, f *app.Function) (n int, unbounded bool) {
	if _, ok := queueapi.PoisonName(queueName(f)); !ok {
		return 0, true
	}
	return a.Config.Queues.MaxDequeueCount, false
}

func queueEnd(_ *app.App, f *app.Function) string {
	if poison, ok := queueapi.PoisonName(queueName(f)); ok {
		return `queue "` + poison + `"`
	}
	return "expires in its queue, which has no poison queue"
}

func queueName(f *app.Function) string { return strings.ToLower(f.Trigger.String("queueName")) }

func validateQueue(_ *app.App, f *app.Function) []*schemas.Fault {
	path := f.Trigger.Path + ".queueName"
	name := f.Trigger.String("queueName")
	if _, err := queueapi.Name(name); err != nil {
		return []*schemas.Fault{{
			Path: path, Found: name, Allowed: "3 to 63 lower-case letters, digits and single dashes",
			Reason: err.Error(), Kind: "argument",
		}}
	}
	return nil
}

// Timer.

func connectTimer(f *function) error {
	_, err := f.schedule()
	return err
}

func listenTimer(t *turn) (triggers.Listener, error) {
	f, h := t.function, t.gen.host
	schedule, err := timer.ParseSchedule(f.def.Trigger.String("schedule"))
	if err != nil {
		return nil, err
	}
	in, err := t.hostContainer()
	if err != nil {
		return nil, err
	}
	location, _ := timer.Location(f.gen.app.Settings.Lookup)
	var sure func(ctx context.Context) error
	store := f.scheduleIn(in)
	if t.held != nil {
		store.held, sure = t.held, t.held.Sure
	}
	return timer.New(h.clk, schedule, &timer.Options{
		Sure:         sure,
		Location:     location,
		Store:        store,
		RunOnStartup: isTrue(f.def.Trigger.Value("runOnStartup"), false) && !t.again,
		Unmonitored:  !isTrue(f.def.Trigger.Value("useMonitor"), true),
	}), nil
}

func timerMessage(h *Host, f *function, _ string) (triggers.Message, error) {
	schedule, err := timer.ParseSchedule(f.def.Trigger.String("schedule"))
	if err != nil {
		return triggers.Message{}, err
	}
	var status *timer.Status
	if isTrue(f.def.Trigger.Value("useMonitor"), true) && !schedule.Frequent() {
		store, err := f.schedule()
		if err != nil {
			return triggers.Message{}, err
		}
		if status, err = store.Status(h.root); err != nil {
			return triggers.Message{}, err
		}
	}
	return triggers.Message{Value: timer.Info(schedule, status, false)}, nil
}

func timerEnd(*app.App, *app.Function) string { return "next tick" }

func timerPeriod(_ *app.App, f *app.Function) (time.Duration, bool) {
	schedule, err := timer.ParseSchedule(f.Trigger.String("schedule"))
	if err != nil {
		return 0, false
	}
	return schedule.Period(), true
}

func validateTimer(_ *app.App, f *app.Function) []*schemas.Fault {
	text := f.Trigger.String("schedule")
	if _, err := timer.ParseSchedule(text); err != nil {
		return []*schemas.Fault{{
			Path: f.Trigger.Path + ".schedule", Found: text,
			Allowed: "a cron expression of five or six fields, or a time span",
			Reason:  err.Error(), Kind: "argument",
		}}
	}
	return unknownNames(f, []string{"TimerTrigger"})
}

// isTrue reads a boolean property; text counts as the platform's binder reads
// it.
func isTrue(v any, otherwise bool) bool {
	switch v := v.(type) {
	case bool:
		return v
	case string:
		return strings.EqualFold(strings.TrimSpace(v), "true")
	default:
		return otherwise
	}
}
