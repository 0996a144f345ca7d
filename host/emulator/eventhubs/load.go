package eventhubs

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
)

// takeLocked replaces the hubs in memory. Readers go on where their hub is there, from
// where they are or, if their partition ends before, from its end.
func (ns *Namespace) takeLocked(hubs map[string]*hub, _ keep.Origin) {
	was := ns.hubs
	ns.hubs = hubs
	for _, key := range slices.Sorted(maps.Keys(was)) {
		was[key].moveReaders()
	}
}

// moveReaders takes the readers of a hub over to the state that was read anew: the log
// is the same, except for unwritten events, or it is another one.
func (h *hub) moveReaders() {
	for _, p := range h.partitions {
		for _, r := range p.readers {
			to, err := p.ns.inGroup(r.hub, r.group, r.id)
			if err != nil {
				r.end = err
				continue
			}
			r.p, r.next = to, min(r.next, to.next)
			to.readers = append(to.readers, r)
		}
		p.arrived.Broadcast()
	}
}

// read reads the hubs; dir names what is read, for errors.
func (ns *Namespace) read(v store.Reader, dir string) (map[string]*hub, error) {
	l := &loader{ns: ns, view: v, dir: dir, hubs: map[string]*hub{}, ends: map[*partition]endRecord{}}
	for _, part := range []struct {
		kind byte
		read func(name string, rest, value []byte) error
	}{{hubKind, l.hub}, {endKind, l.end}, {eventKind, l.event}} {
		if err := l.scan(part.kind, part.read); err != nil {
			return nil, err
		}
	}
	return l.hubs, l.finish()
}

// loader makes hubs out of records.
type loader struct {
	ns   *Namespace
	view store.Reader
	dir  string
	hubs map[string]*hub
	ends map[*partition]endRecord
}

func (l *loader) damage(format string, args ...any) error {
	return &store.CorruptError{Path: l.dir, Err: fmt.Errorf(format, args...)}
}

// scan calls f with the hub and the rest of the key of everything of a kind.
func (l *loader) scan(kind byte, f func(name string, rest, value []byte) error) error {
	prefix := []byte(keyPrefix + string(kind))
	return l.view.Scan(prefix, store.PrefixEnd(prefix), func(key, value []byte) error {
		name, rest, ok := bytes.Cut(key[len(prefix):], []byte{0})
		if !ok {
			return l.damage("the key %q names no hub", key)
		}
		return f(string(name), rest, value)
	})
}

// partition finds what a key belongs to.
func (l *loader) partition(name string, rest []byte) (*partition, error) {
	h := l.hubs[name]
	if h == nil || len(rest) < 4 || int(binary.BigEndian.Uint32(rest)) >= len(h.partitions) {
		return nil, l.damage("something of event hub %q is there without its partition", name)
	}
	return h.partitions[binary.BigEndian.Uint32(rest)], nil
}

func (l *loader) hub(name string, _, value []byte) error {
	var r hubRecord
	if err := json.Unmarshal(value, &r); err != nil {
		return l.damage("the event hub %q cannot be read: %w", name, err)
	}
	if strings.ToLower(r.Name) != name || r.Partitions < 1 || r.Partitions > eventhubs.MaxPartitions {
		return l.damage("the event hub %q says that it is %q with %d partitions", name, r.Name, r.Partitions)
	}
	l.hubs[name] = l.ns.newHub(r.Hub, r.Created)
	return nil
}

func (l *loader) end(name string, rest, value []byte) error {
	p, err := l.partition(name, rest)
	if err != nil {
		return err
	}
	var r endRecord
	if err := json.Unmarshal(value, &r); err != nil {
		return l.damage("the end of partition %s of event hub %q cannot be read: %w", p.id, name, err)
	}
	l.ends[p] = r
	return nil
}

func (l *loader) event(name string, rest, value []byte) error {
	p, err := l.partition(name, rest)
	if err != nil {
		return err
	}
	if len(rest) != 12 {
		return l.damage("an event of partition %s of event hub %q has no number", p.id, name)
	}
	seq := int64(binary.BigEndian.Uint64(rest[4:]))
	r, ok := decodeEvent(value, seq)
	if !ok || len(p.events) > 0 && seq != p.next {
		return l.damage("event %d of partition %s of event hub %q cannot be used", seq, p.id, name)
	}
	p.append(r)
	return nil
}

// finish holds the ends of partitions against their events.
func (l *loader) finish() error {
	for _, key := range slices.Sorted(maps.Keys(l.hubs)) {
		for _, p := range l.hubs[key].partitions {
			end, ok := l.ends[p]
			if len(p.events) > 0 && (!ok || end.Next != p.next) {
				return l.damage("partition %s of event hub %q ends at %d, its events at %d", p.id, key, end.Next, p.next)
			}
			if ok {
				p.next, p.offset, p.lastOffset, p.lastTime = end.Next, end.Offset, end.LastOffset, end.LastTime
			}
		}
	}
	return nil
}
