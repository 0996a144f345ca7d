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
	hubs := map[string]*hub{}
	damage := func(format string, args ...any) error {
		return &store.CorruptError{Path: dir, Err: fmt.Errorf(format, args...)}
	}
	// scan calls f with the hub and the rest of the key of everything of a kind.
	scan := func(kind byte, f func(name string, rest, value []byte) error) error {
		prefix := []byte(keyPrefix + string(kind))
		return v.Scan(prefix, store.PrefixEnd(prefix), func(key, value []byte) error {
			name, rest, ok := bytes.Cut(key[len(prefix):], []byte{0})
			if !ok {
				return damage("the key %q names no hub", key)
			}
			return f(string(name), rest, value)
		})
	}
	// inPartition finds what a key belongs to.
	inPartition := func(name string, rest []byte) (*partition, error) {
		h := hubs[name]
		if h == nil || len(rest) < 4 || int(binary.BigEndian.Uint32(rest)) >= len(h.partitions) {
			return nil, damage("something of event hub %q is there without its partition", name)
		}
		return h.partitions[binary.BigEndian.Uint32(rest)], nil
	}
	err := scan(hubKind, func(name string, _, value []byte) error {
		var r hubRecord
		if err := json.Unmarshal(value, &r); err != nil {
			return damage("the event hub %q cannot be read: %w", name, err)
		}
		if strings.ToLower(r.Name) != name || r.Partitions < 1 || r.Partitions > eventhubs.MaxPartitions {
			return damage("the event hub %q says that it is %q with %d partitions", name, r.Name, r.Partitions)
		}
		hubs[name] = ns.newHub(r.Hub, r.Created)
		return nil
	})
	if err != nil {
		return nil, err
	}
	ends := map[*partition]endRecord{}
	err = scan(endKind, func(name string, rest, value []byte) error {
		p, err := inPartition(name, rest)
		if err != nil {
			return err
		}
		var r endRecord
		if err := json.Unmarshal(value, &r); err != nil {
			return damage("the end of partition %s of event hub %q cannot be read: %w", p.id, name, err)
		}
		ends[p] = r
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = scan(eventKind, func(name string, rest, value []byte) error {
		p, err := inPartition(name, rest)
		if err != nil {
			return err
		}
		if len(rest) != 12 {
			return damage("an event of partition %s of event hub %q has no number", p.id, name)
		}
		seq := int64(binary.BigEndian.Uint64(rest[4:]))
		r, ok := decodeEvent(value, seq)
		if !ok || len(p.events) > 0 && seq != p.next {
			return damage("event %d of partition %s of event hub %q cannot be used", seq, p.id, name)
		}
		p.append(r)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, key := range slices.Sorted(maps.Keys(hubs)) {
		for _, p := range hubs[key].partitions {
			end, ok := ends[p]
			if len(p.events) > 0 && (!ok || end.Next != p.next) {
				return nil, damage("partition %s of event hub %q ends at %d, its events at %d", p.id, key, end.Next, p.next)
			}
			if ok {
				p.next, p.offset, p.lastOffset, p.lastTime = end.Next, end.Offset, end.LastOffset, end.LastTime
			}
		}
	}
	return hubs, nil
}
