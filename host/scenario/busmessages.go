package scenario

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/schemas"
)

// busMessages are messages of Service Bus: their number, or each.
type busMessages struct {
	count  int // -1: the list counts
	list   []busMessage
	absent bool // there is no such entity
}

func (b *busMessages) UnmarshalJSON(raw []byte) error {
	if raw[0] == '{' { // exists: false
		b.absent = true
		return nil
	}
	return countOrList(raw, &b.count, &b.list)
}

// A busMessage is a body, or facts of a message.
type busMessage struct {
	body  *body
	facts map[string]json.RawMessage // without the body
}

// factsOfMessages are what can be said of a message beside its body.
var factsOfMessages = map[string]func(*servicebus.Received) any{ // read only
	"reason": func(m *servicebus.Received) any { return m.ApplicationProperties[servicebus.DeadLetterReason] },
	"description": func(m *servicebus.Received) any {
		return m.ApplicationProperties[servicebus.DeadLetterErrorDescription]
	},
	"deliveryCount": func(m *servicebus.Received) any { return m.DeliveryNumber() },
	"source":        func(m *servicebus.Received) any { return m.DeadLetterSource },
	"properties":    func(m *servicebus.Received) any { return m.ApplicationProperties },
	"messageId":     func(m *servicebus.Received) any { return m.MessageID },
}

// UnmarshalJSON takes an object with a body and at least one fact for facts; everything
// else is a body.
func (b *busMessage) UnmarshalJSON(raw []byte) error {
	b.body = &body{slices.Clone(raw)}
	var object map[string]json.RawMessage
	if raw[0] != '{' || json.Unmarshal(raw, &object) != nil || object["body"] == nil || len(object) == 1 {
		return nil
	}
	for name := range object {
		if name != "body" && factsOfMessages[name] == nil {
			return nil
		}
	}
	b.body = &body{object["body"]}
	delete(object, "body")
	b.facts = object
	return nil
}

// matches compares the facts that are given; of properties those that are given.
func (b *busMessage) matches(m *servicebus.Received) bool {
	if !b.body.matches(string(m.Body)) {
		return false
	}
	for name, want := range b.facts {
		got, err := json.Marshal(factsOfMessages[name](m))
		if err != nil || !covers(decoded(want), decoded(got), false) {
			return false
		}
	}
	return true
}

// show is a message with the facts that are asked of it.
func (b *busMessage) show(m *servicebus.Received) string {
	text := string(m.Body)
	for _, name := range slices.Sorted(maps.Keys(b.facts)) {
		text += fmt.Sprintf(" %s=%v", name, factsOfMessages[name](m))
	}
	return text
}

func (b *busMessage) want() string {
	text := b.body.text()
	for _, name := range slices.Sorted(maps.Keys(b.facts)) {
		text += fmt.Sprintf(" %s=%s", name, textOf(b.facts[name]))
	}
	return text
}

// busMessages compares the messages of entities of Service Bus.
func (r inspection) busMessages(at string, want map[string]busMessages) {
	for _, path := range slices.Sorted(maps.Keys(want)) {
		where, expected := schemas.JoinPath(at, path), want[path]
		if r.missing(where, anEntity, busPath(path), expected.absent) {
			continue
		}
		got := r.h.ServiceBusMessages(path)
		if expected.count >= 0 {
			if len(got) != expected.count {
				r.mismatch(where, fmt.Sprintf("entity %q holds another number of messages", path), fmt.Sprint(expected.count), fmt.Sprintf("%d: %s", len(got), showList(r.busBodies(path))), r.all)
			}
			continue
		}
		same := len(got) == len(expected.list)
		wanted, found := make([]string, len(expected.list)), make([]string, len(got))
		for i := range expected.list {
			wanted[i] = expected.list[i].want()
		}
		for i := range got {
			found[i] = string(got[i].Body)
			if i < len(expected.list) {
				found[i] = expected.list[i].show(got[i])
				same = same && expected.list[i].matches(got[i])
			}
		}
		if !same {
			r.mismatch(where, fmt.Sprintf("entity %q holds other messages", path), showList(wanted), showList(found), r.all)
		}
	}
}
