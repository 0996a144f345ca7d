package eventhubs

import (
	"sort"
	"strconv"
	"time"

	"github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/host/clock"
)

// partition is one log. Sequence numbers count from 0, without gaps; an offset is
// the number of bytes before the event. Guarded by the namespace's mutex.
type partition struct {
	ns     *Namespace
	hub    *hub
	number int
	id     string

	events     []*eventhubs.ReceivedEvent // the kept ones; the last has the number next-1
	next       int64                      // sequence number of the next event
	offset     int64                      // of the next event
	lastOffset string                     // of the last event; "-1" when there never was one
	lastTime   time.Time

	readers []*reader   // open, in order of opening
	arrived *clock.Cond // an event came, or a reader has to look why it cannot go on
}

// noOffset stands for the place before the first event.
const noOffset = "-1"

func newPartition(ns *Namespace, h *hub, number int) *partition {
	return &partition{
		ns: ns, hub: h, number: number, id: strconv.Itoa(number), lastOffset: noOffset, arrived: clock.NewCond(ns.clk, &ns.mu),
	}
}

// first is the sequence number of the oldest event that is kept.
func (p *partition) first() int64 { return p.next - int64(len(p.events)) }

// trim drops what is older than the hub keeps.
func (p *partition) trim(op *operation) {
	oldest := op.now.Add(-p.hub.Retention)
	n := sort.Search(len(p.events), func(i int) bool { return p.events[i].EnqueuedTime.After(oldest) })
	if n == 0 {
		return
	}
	op.dropEvents(p, p.first(), p.first()+int64(n))
	clear(p.events[:n])
	p.events = p.events[n:]
}

// add puts an event at the end.
func (p *partition) add(op *operation, e *eventhubs.Event) *eventhubs.ReceivedEvent {
	r := &eventhubs.ReceivedEvent{Event: *e, SequenceNumber: p.next, Offset: strconv.FormatInt(p.offset, 10), EnqueuedTime: op.now.Truncate(time.Millisecond)}
	p.append(r)
	op.saveEvent(p, r)
	return r
}

// append is add for an event that has its numbers.
func (p *partition) append(r *eventhubs.ReceivedEvent) {
	p.events = append(p.events, r)
	p.next, p.offset = r.SequenceNumber+1, p.offset+sizeOf(&r.Event)
	p.lastOffset, p.lastTime = r.Offset, r.EnqueuedTime
}

func (p *partition) describe() *eventhubs.Partition {
	return &eventhubs.Partition{
		Hub: p.hub.Name, ID: p.id,
		BeginningSequence: p.first(), LastSequence: p.next - 1, LastOffset: p.lastOffset, LastEnqueued: p.lastTime,
		Empty: len(p.events) == 0,
	}
}

// seek returns the sequence number of the first event that a reader at a position
// gets. As at the service, a number or an offset behind the end is refused: it is from
// another log.
func (p *partition) seek(from eventhubs.Position) (int64, error) {
	behind := func(inclusive bool, cmp func(e *eventhubs.ReceivedEvent) int) int64 {
		n := sort.Search(len(p.events), func(i int) bool {
			c := cmp(p.events[i])
			return c > 0 || c == 0 && inclusive
		})
		return p.first() + int64(n)
	}
	switch {
	case from.SequenceNumber != nil:
		n := *from.SequenceNumber
		if !from.Inclusive {
			n++
		}
		if n > p.next {
			return 0, refuse(messaging.ConditionArgumentError, "the supplied sequence number '%d' is invalid: the last sequence number of %q is '%d'", *from.SequenceNumber, p.path(), p.next-1)
		}
		return max(n, p.first()), nil
	case from.Offset == noOffset:
		return p.first(), nil
	case from.Offset != "":
		at, err := strconv.ParseInt(from.Offset, 10, 64)
		if err != nil || at < 0 {
			return 0, refuse(messaging.ConditionArgumentError, "the supplied offset '%s' of %q is none: want a number", from.Offset, p.path())
		}
		if last, _ := strconv.ParseInt(p.lastOffset, 10, 64); at > max(last, 0) { // we made it
			return 0, refuse(messaging.ConditionArgumentError, "the supplied offset '%s' is invalid: the last offset of %q is '%s'", from.Offset, p.path(), p.lastOffset)
		}
		return behind(from.Inclusive, func(e *eventhubs.ReceivedEvent) int {
			own, _ := strconv.ParseInt(e.Offset, 10, 64) // we made it
			return int(min(max(own-at, -1), 1))
		}), nil
	case !from.EnqueuedTime.IsZero():
		return behind(from.Inclusive, func(e *eventhubs.ReceivedEvent) int { return e.EnqueuedTime.Compare(from.EnqueuedTime) }), nil
	case from.Latest:
		return p.next, nil
	}
	return p.first(), nil
}

// path names the partition to clients.
func (p *partition) path() string { return p.hub.Name + "/Partitions/" + p.id }

// sizeOf is the room that an event takes in its partition.
func sizeOf(e *eventhubs.Event) int64 {
	const header = 32 // sequence number, offset, time and the rest
	n := payloadOf(e) + header
	if e.PartitionKey != nil {
		n += int64(len(*e.PartitionKey))
	}
	return n
}

// payloadOf is the size of an event in a send: of its bytes as they came, or else
// of its body and of the name and value of each property.
func payloadOf(e *eventhubs.Event) int64 {
	if e.Wire != nil {
		return int64(e.Wire.Size())
	}
	n := len(e.Body)
	for k, v := range e.Properties {
		n += len(k) + 8
		switch v := v.(type) {
		case string:
			n += len(v)
		case []byte:
			n += len(v)
		}
	}
	return int64(n)
}
