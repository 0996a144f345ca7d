package explain

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/triggers"
)

// An Identity is what makes a message one message wherever it is told of: senders name
// messages as they like, so an identifier is one only within an entity of a service, and
// there its number tells messages of one identifier apart. Identities compare with ==.
type Identity struct {
	Service string // as in journal.Record, or the type of a trigger that has no service
	Entity  string // queue, topic and subscription, hub and partition; empty for storage queues, whose IDs are one in all of the account
	ID      string
	Number  int64 // 0: the service does not count
}

// services are those of triggers.
var services = map[string]string{ // read only
	"queuetrigger": journal.Queues, "blobtrigger": journal.Queues, "servicebustrigger": journal.ServiceBus,
	"eventhubtrigger": journal.EventHubs, "eventgridtrigger": journal.EventGrid,
}

// serviceOf is the service that a record is about.
func serviceOf(r *journal.Record) string {
	if r.Service != "" {
		return r.Service
	}
	trigger := strings.ToLower(r.Trigger)
	if name := services[trigger]; name != "" {
		return name
	}
	return trigger
}

// IdentityOf is the identity of the message of a record; of a batch, of its first one.
// Without an ID it is zero.
func IdentityOf(r *journal.Record) Identity {
	if r.MessageID == "" {
		return Identity{}
	}
	service, source := serviceOf(r), r.Source
	if service == journal.EventGrid && r.Kind == journal.Forwarded { // out of a blob, which is no entity
		source = r.Target
	}
	return Identity{Service: service, Entity: Place(service, source), ID: r.MessageID, Number: r.MessageNumber}
}

// Before is the identity that the message of a record had before it got the one that the
// record names: a message of Service Bus gets a number wherever it arrives.
func Before(r *journal.Record) (id Identity, ok bool) {
	text := field(r, "previous_number")
	if text == "" {
		return id, false
	}
	id = IdentityOf(r)
	id.Entity = Place(id.Service, field(r, "previous_entity"))
	id.Number, _ = strconv.ParseInt(text, 10, 64) // the service has written it
	return id, true
}

// Place is the entity that a source stands for: without its dead-letter queue, whose
// messages keep their numbers, and without a consumer group.
func Place(service, source string) string {
	switch service {
	case journal.Queues:
		return ""
	case journal.EventHubs:
		parts := strings.Split(strings.ToLower(source), "/")
		return parts[0] + "/" + parts[len(parts)-1]
	}
	return entity(source)
}

// Members are the identities of the messages of a record of kind received, in their
// order: one, or those of a batch.
func Members(r *journal.Record) []Identity {
	first := IdentityOf(r)
	if r.Beside.Batch == "" {
		return []Identity{first}
	}
	var ids []string
	var numbers []int64
	_ = json.Unmarshal([]byte(r.Beside.Batch), &ids) // the host has written them
	_ = json.Unmarshal([]byte(r.Beside.Members), &numbers)
	list := make([]Identity, len(ids))
	for i, id := range ids {
		one := *r
		if one.MessageID = id; len(numbers) == len(ids) {
			one.MessageNumber = numbers[i]
		}
		list[i] = IdentityOf(&one)
	}
	return list
}

// counts are the numbers of this delivery for each of n messages: of a batch, each has its
// own, where its source counts.
func counts(r *journal.Record, n int) []int64 {
	if n == 1 {
		return nil
	}
	var list []int64
	if r.Beside.Counts != "" && json.Unmarshal([]byte(r.Beside.Counts), &list) == nil && len(list) == n {
		return list
	}
	list = make([]int64, n)
	for i := range list {
		list[i] = r.DeliveryCount
	}
	return list
}

// Decisions are the decisions of a record of kind settled on each of n messages.
func Decisions(r *journal.Record, n int) []triggers.Decision {
	var list []triggers.Decision
	if r.Beside.Members != "" && json.Unmarshal([]byte(r.Beside.Members), &list) == nil && len(list) == n {
		return list
	}
	list = make([]triggers.Decision, n)
	for i := range list {
		list[i] = triggers.Decision(r.Decision)
	}
	return list
}

// Removes reports whether a settlement takes the message away for good.
func Removes(d triggers.Decision) bool {
	return d == triggers.Deleted || d == triggers.Poisoned || d == triggers.Completed || d == triggers.Undecodable
}

// entity is a queue, topic or subscription without its dead-letter queue.
func entity(source string) string {
	name, _, _ := strings.Cut(strings.ToLower(source), "/$")
	return name
}
