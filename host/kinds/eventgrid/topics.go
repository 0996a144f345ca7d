package eventgrid

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/kinds"
	blobkind "github.com/redeliver/redeliver/host/kinds/blob"
)

// described is a topic as host.json describes it.
type described struct {
	eventgrid.Topic
	Subscriptions []eventgrid.Subscription `json:"subscriptions"`
}

// Topics are the topics and subscriptions that the running app has asked the embedded
// Event Grid for. Its methods are used by the load that has its turn.
type Topics struct {
	env    *kinds.Env
	cancel context.CancelFunc // of what is still tried
}

// NewTopics returns Topics that nothing was asked for.
func NewTopics(env *kinds.Env) *Topics { return &Topics{env: env} }

// Restore makes Event Grid have again what an app describes, after its state was
// replaced; nil: there is none.
func (t *Topics) Restore(g kinds.Generation) error {
	if t.cancel != nil {
		t.cancel()
	}
	t.cancel = nil
	if g == nil {
		return nil
	}
	return t.apply(g)
}

// Apply is apply, whose faults the journal tells.
func (t *Topics) Apply(g kinds.Generation) {
	if err := t.apply(g); err != nil {
		t.fault(g, "host.json", err, 0)
	}
}

// apply makes the embedded Event Grid have what the app describes: switches,
// topics and subscriptions. Topics and subscriptions that only the app before
// described are removed, also when that was in another process. The ones made
// by hand stay, and unchanged ones keep their events. Subscriptions that
// cannot be made yet, because a web hook does not answer or a container is
// missing, are tried again until they can.
func (t *Topics) apply(g kinds.Generation) error {
	grid, sw := t.env.Embedded.EventGrid(), t.env.Switches(g.App().Switches)
	rules := eventgrid.Rules{Schedule: eventgrid.Schedule(sw.EventGridSchedule), JitterPercent: sw.EventGridJitterPercent, Probation: sw.EventGridProbation}
	if t.env.Predictable {
		rules.Probation = rules.Probation && sw.Explicit["eventGridProbation"]
		if !sw.Explicit["eventGridJitterPercent"] {
			rules.JitterPercent = 0
		}
	}
	// Events from before wait for this call: subscriptions are declared before
	// anything is delivered.
	defer grid.Configure(rules)
	var topics []described
	if raw := g.App().Config.EventGrid.Topics; raw != nil {
		if err := json.Unmarshal(raw, &topics); err != nil {
			return fmt.Errorf("redeliver.eventGrid: %w", err)
		}
	}
	if t.cancel != nil {
		t.cancel()
	}
	var ctx context.Context
	ctx, t.cancel = t.env.Clock.WithCancel(t.env.Root)
	for i := range topics {
		if d := &topics[i]; t.env.Embedded.Account(d.Name) != nil {
			d.Resource = eventgrid.StorageResource(d.Name)
		}
	}
	topics = t.own(withBlobs(topics, g), g)
	t.declare(ctx, topics)
	wanted := make([]eventgrid.Wanted, len(topics))
	for i, d := range topics {
		wanted[i] = eventgrid.Wanted{Topic: d.Topic, Subscriptions: d.Subscriptions}
	}
	grid.Await(t.env.AppName, wanted) // before anybody can publish
	for _, d := range topics {
		if err := grid.PutTopic(ctx, d.Topic); err != nil {
			t.fault(g, d.Name, err, 0)
			continue
		}
		for _, s := range d.Subscriptions {
			if s.Endpoint == "" {
				if _, err := grid.Subscribe(ctx, d.Name, s); err == nil {
					continue
				}
			}
			t.env.Go("event subscription "+d.Name+"/"+s.Name, func() { t.subscribe(ctx, g, d.Name, s) })
		}
	}
	return nil
}

// own qualifies the functions of subscriptions with the name of one of several apps, and
// leaves out, with a fault, the subscriptions that another app describes too.
func (t *Topics) own(topics []described, g kinds.Generation) []described {
	if t.env.AppName == "" {
		return topics
	}
	_, others := t.declared()
	for i := range topics {
		d := &topics[i]
		d.Subscriptions = slices.DeleteFunc(d.Subscriptions, func(s eventgrid.Subscription) bool {
			other := slices.IndexFunc(others, func(o eventgrid.Declared) bool { return o.Describes(d.Name, s.Name) })
			if other >= 0 {
				t.fault(g, d.Name+"/"+s.Name, fmt.Errorf("the app %q describes a subscription of this name too", others[other].App), 0)
			}
			return other >= 0
		})
		for n := range d.Subscriptions {
			s := &d.Subscriptions[n]
			s.Function = journal.Qualified(t.env.AppName, s.Function)
		}
	}
	return topics
}

// declared are what this app described last, and what others did. What an app described
// that ran alone is the first one's.
func (t *Topics) declared() (own, others []eventgrid.Declared) {
	for _, d := range t.env.Embedded.EventGrid().Declared() {
		if t.env.AppName == "" || d.App == t.env.AppName || d.App == "" && t.env.First {
			own = append(own, d)
		} else {
			others = append(others, d)
		}
	}
	return own, others
}

// declare removes what an app described before and does not any more, with its
// events, and notes what this one describes. What other apps describe stays.
func (t *Topics) declare(ctx context.Context, now []described) {
	next := make([]eventgrid.Declared, len(now))
	for i, d := range now {
		next[i].App, next[i].Topic = t.env.AppName, d.Name
		for _, s := range d.Subscriptions {
			next[i].Subscriptions = append(next[i].Subscriptions, s.Name)
		}
	}
	before, others := t.declared()
	theirs := func(topic, subscription string) bool {
		return slices.ContainsFunc(others, func(o eventgrid.Declared) bool { return o.Describes(topic, subscription) })
	}
	for _, old := range before {
		i := slices.IndexFunc(next, func(d eventgrid.Declared) bool { return strings.EqualFold(d.Topic, old.Topic) })
		if i < 0 && !theirs(old.Topic, "") {
			t.drop(old.Topic, "", func() error { return t.env.Embedded.EventGrid().DeleteTopic(ctx, old.Topic) })
			continue
		}
		for _, s := range old.Subscriptions {
			if (i < 0 || !next[i].Describes(old.Topic, s)) && !theirs(old.Topic, s) {
				t.drop(old.Topic, s, func() error { return t.env.Embedded.EventGrid().Unsubscribe(ctx, old.Topic, s) })
			}
		}
	}
	if len(before) == 0 && len(next) == 0 {
		return
	}
	if err := t.env.Embedded.EventGrid().Declare(ctx, append(others, next...)); err != nil && ctx.Err() == nil {
		t.env.Log.Warn().Err(err).Str("component", "eventgrid").Msg("the topics of host.json could not be written down")
	}
}

// drop removes a topic or a subscription, and says how many events went with it.
func (t *Topics) drop(topic, subscription string, remove func() error) {
	events := len(t.env.Embedded.EventGrid().Deliveries(topic, subscription))
	if remove() != nil {
		return // it is gone already
	}
	line := t.env.Log.Info()
	if events > 0 {
		line = t.env.Log.Warn()
	}
	if subscription != "" {
		topic += "/" + subscription
	}
	line.Str("component", "eventgrid").Str("source", topic).Int("events", events).Msg("removed, because host.json no longer describes it")
}

// subscribe tries to make a subscription. A web hook is asked again after 2, 4, 8,
// ... s, at most every two minutes; as long as only the container for dead letters
// is missing, there is a look for it every 2 s, and at once when a container is
// made. Time does not jump for it.
func (t *Topics) subscribe(ctx context.Context, g kinds.Generation, topic string, s eventgrid.Subscription) {
	const shortest, longest = 2 * time.Second, 2 * time.Minute
	for wait, said := shortest, ""; ; wait = min(2*wait, longest) {
		_, err := t.env.Embedded.EventGrid().Subscribe(ctx, topic, s)
		if err == nil || ctx.Err() != nil {
			return
		}
		missing := errors.Is(err, eventgrid.ErrNoContainer)
		if missing || s.Endpoint == "" {
			wait = shortest
		}
		if err.Error() != said {
			said = err.Error()
			t.fault(g, topic+"/"+s.Name, err, wait)
		}
		if missing && t.env.AwaitMade(ctx, t.env.Clock.Now().Add(wait)) != nil || !missing && t.env.Clock.Idle(ctx, wait) != nil {
			return
		}
	}
}

// fault records that a topic or a subscription of host.json cannot be made, and
// after which time it is tried again; 0: not before the next reload.
func (t *Topics) fault(g kinds.Generation, name string, err error, again time.Duration) {
	t.env.Journal.Append(journal.Record{
		Kind: journal.FunctionError, Generation: g.ID(), Source: name, Delay: again, HasDelay: again > 0,
		Message: "Event Grid refuses the topics of host.json", Error: err.Error(),
	})
}

// withBlobs adds the subscriptions that the generation's blob functions need.
func withBlobs(topics []described, g kinds.Generation) []described {
	for _, s := range blobkind.Subscriptions(g) {
		topics = add(topics, s.Account, s.Subscription)
	}
	return topics
}

func add(topics []described, account string, s eventgrid.Subscription) []described {
	for i := range topics {
		if strings.EqualFold(topics[i].Name, account) {
			topics[i].Subscriptions = append(topics[i].Subscriptions, s)
			return topics
		}
	}
	t := described{Topic: eventgrid.Topic{Name: account, Resource: eventgrid.StorageResource(account)}}
	t.Subscriptions = []eventgrid.Subscription{s}
	return append(topics, t)
}
