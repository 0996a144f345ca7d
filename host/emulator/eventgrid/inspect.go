package eventgrid

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// TopicInfo is a topic with its subscriptions, for display. Keys are not in it.
type TopicInfo struct {
	Name          string             `json:"name"`
	InputSchema   Schema             `json:"inputSchema"`
	Resource      string             `json:"resource"`
	Subscriptions []SubscriptionInfo `json:"subscriptions"`
}

// SubscriptionInfo is an event subscription and how it stands.
type SubscriptionInfo struct {
	Subscription
	State State `json:"state"`

	Pending     int       `json:"pending"`              // events that are to be tried, or are being tried
	DeadLetters int       `json:"deadLetters"`          // events that were given up and wait to be written
	Next        time.Time `json:"next,omitzero"`        // the next attempt of any of them
	SparedUntil time.Time `json:"sparedUntil,omitzero"` // its endpoint is on probation
	Failures    int       `json:"failures,omitempty"`   // of its endpoint, in a row
}

// DeliveryInfo is one event at one subscription.
type DeliveryInfo struct {
	Topic        string    `json:"topic"`
	Subscription string    `json:"subscription"`
	EventID      string    `json:"eventId"`
	EventType    string    `json:"eventType"`
	Subject      string    `json:"subject"`
	Published    time.Time `json:"published"`
	Expires      time.Time `json:"expires"`
	Attempts     []Attempt `json:"attempts"`
	Outcome      Outcome   `json:"outcome,omitempty"` // of the last attempt, or Probation
	Next         time.Time `json:"next,omitzero"`     // attempt, end of its life, or write of the dead letter; zero: at work
	Reason       Reason    `json:"reason,omitempty"`  // why it was given up, or will be when its life ends
	Body         []byte    `json:"-"`                 // the event as JSON, not to be changed
}

// Topics lists topics by name, each with its subscriptions in order of creation.
func (g *Grid) Topics() (list []TopicInfo) {
	g.look(func() { list = g.state.overview(g.now(), g.rules) })
	return list
}

func (st *state) overview(now time.Time, rules Rules) []TopicInfo {
	counts := map[*subscription]*SubscriptionInfo{}
	list := []TopicInfo{}
	for _, key := range slices.Sorted(maps.Keys(st.topics)) {
		t := st.topics[key]
		info := TopicInfo{Name: t.Name, InputSchema: t.InputSchema, Resource: t.Resource, Subscriptions: make([]SubscriptionInfo, len(t.subscriptions))}
		for i, s := range t.subscriptions {
			s.expireLocked(now)
			x := &info.Subscriptions[i]
			*x = SubscriptionInfo{Subscription: s.Subscription, State: s.state, Failures: s.endpoint.failures}
			if rules.Probation && s.endpoint.until.After(now) {
				x.SparedUntil = s.endpoint.until
			}
			counts[s] = x
		}
		list = append(list, info)
	}
	for _, d := range st.live {
		x := counts[d.sub]
		switch d.state {
		case unwritten:
			continue
		case dead, writing:
			x.DeadLetters++
			continue
		case waiting:
			if next := d.next(rules); x.Next.IsZero() || next.Before(x.Next) {
				x.Next = next
			}
		}
		x.Pending++
	}
	return list
}

// Deliveries lists the events of a subscription that are neither delivered nor
// gone, in order of publication; "" for all subscriptions, or of all topics.
func (g *Grid) Deliveries(topicName, subscription string) (list []DeliveryInfo) {
	g.look(func() { list = g.state.deliveries(topicName, subscription, g.rules) })
	return list
}

func (st *state) deliveries(topicName, subscription string, rules Rules) []DeliveryInfo {
	var found []*delivery
	for _, d := range st.live {
		if d.state != unwritten && (topicName == "" || fold(topicName) == fold(d.sub.topic.Name)) && (subscription == "" || fold(subscription) == fold(d.sub.Name)) {
			found = append(found, d)
		}
	}
	slices.SortFunc(found, func(a, b *delivery) int { return cmp.Compare(a.number, b.number) })
	list := make([]DeliveryInfo, len(found))
	for i, d := range found {
		list[i] = DeliveryInfo{
			Topic: d.sub.topic.Name, Subscription: d.sub.Name, EventID: d.event.ID, EventType: d.event.Type, Subject: d.event.Subject,
			Published: d.published, Expires: d.expires, Attempts: slices.Clone(d.attempts), Outcome: d.outcome, Reason: d.reason, Body: d.event.object(),
		}
		switch d.state {
		case waiting:
			list[i].Next = d.next(rules)
		case dead:
			list[i].Next = d.when
		case expiring:
			list[i].Next, list[i].Reason = d.when, TimeToLiveExceeded
		}
	}
	return list
}

// next is when a waiting event is tried next, or its life ends: an endpoint that
// is spared is spared its retries too.
func (d *delivery) next(rules Rules) time.Time {
	until := d.sub.endpoint.until
	switch {
	case !rules.Probation || !until.After(d.when):
		return d.when
	case until.After(d.expires):
		return d.expires
	}
	return until
}
