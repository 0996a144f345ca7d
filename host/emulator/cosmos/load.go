package cosmos

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/redeliver/redeliver/bindings/cosmos"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
)

// takeLocked replaces the state in memory. No identifier is given twice: an etag from
// before fits no document of now.
func (a *Account) takeLocked(fresh state, from keep.Origin) {
	fresh.ids.epoch = from.Epoch
	if from.Follow {
		fresh.ids.n = max(fresh.ids.n, a.state.ids.n)
	}
	a.state = fresh
}

// readState reads an account; dir names what is read, for errors.
func readState(r store.Reader, dir string) (state, error) {
	l := &loader{view: r, dir: dir, state: newState(), byRID: map[string]*container{}}
	err := l.load()
	return l.state, err
}

// loader reads an account.
type loader struct {
	view  store.Reader
	dir   string
	state state
	byRID map[string]*container
}

func (l *loader) damage(format string, args ...any) error {
	return &store.CorruptError{Path: l.dir, Err: fmt.Errorf(format, args...)}
}

func (l *loader) load() error {
	b, err := l.view.Get([]byte(idsKey))
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil // nothing was ever written
	case err != nil:
		return err
	case len(b) != 8:
		return l.damage("the count of identifiers has %d bytes", len(b))
	}
	l.state.ids.n = binary.BigEndian.Uint64(b)
	for _, step := range []struct {
		kind byte
		f    func(name string, value []byte) error
	}{{databaseKind, l.database}, {containerKind, l.container}, {sequenceKind, l.sequence}, {itemKind, l.item}} {
		prefix := kindKey(step.kind)
		err := l.view.Scan(prefix, store.PrefixEnd(prefix), func(key, value []byte) error {
			return step.f(string(key[len(prefix):]), value)
		})
		if err != nil {
			return err
		}
	}
	for _, c := range l.byRID {
		for _, r := range c.ranges {
			r.sortFeed()
		}
	}
	return nil
}

func (l *loader) database(name string, value []byte) error {
	var rid string
	if json.Unmarshal(value, &rid) != nil || len(rid) != len("AAAAAA==") {
		return l.damage("the database %q cannot be read", name)
	}
	l.state.databases[name] = rid
	return nil
}

func (l *loader) container(rid string, value []byte) error {
	var info cosmos.ContainerInfo
	if err := json.Unmarshal(value, &info); err != nil {
		return l.damage("the container %q cannot be read: %w", rid, err)
	}
	spec, err := checkSpec(info.ContainerSpec)
	if err != nil || info.RID != rid || l.state.databases[spec.Database] != info.DatabaseRID {
		return l.damage("the container %q says that it is %q of database %q", rid, info.Name, info.Database)
	}
	info.ContainerSpec = spec // with what is missing
	c := newContainer(info)
	l.byRID[rid] = c
	l.state.containers[pathOf(info.Database, info.Name)] = c
	return nil
}

func (l *loader) sequence(name string, value []byte) error {
	rid, id, _ := strings.Cut(name, "\x00")
	if c := l.byRID[rid]; c != nil && len(value) == 8 {
		for _, r := range c.ranges {
			if r.ID == id {
				r.lsn = binary.BigEndian.Uint64(value)
				return nil
			}
		}
	}
	return l.damage("the sequence number of range %q of container %q cannot be used", id, rid)
}

func (l *loader) item(name string, value []byte) error {
	rid, rest, _ := strings.Cut(name, "\x00")
	key, id, _ := strings.Cut(rest, "\x00")
	c := l.byRID[rid]
	var rec itemRecord
	if c == nil || json.Unmarshal(value, &rec) != nil {
		return l.damage("document %q of container %q cannot be read", id, rid)
	}
	d, err := parseDraft([]byte(rec.Content), c.path)
	if err != nil || d.id != id || string(d.key) != key {
		return l.damage("document %q of container %q is not what its key says", id, rid)
	}
	r := c.rangeOf(d.key)
	if rec.LSN == 0 || rec.LSN > r.lsn {
		return l.damage("document %q of container %q was changed after the last change of its range", id, rid)
	}
	doc := &document{itemName: d.name(), content: d.content, rid: rec.RID, etag: rec.ETag, lsn: rec.LSN, modified: rec.Modified, of: c, in: r}
	c.add(doc)
	r.feed = append(r.feed, entry{doc.lsn, doc.modified, doc})
	return nil
}
