package cosmos

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/cosmos"
	"github.com/redeliver/redeliver/host/emulator/epoch"
	"github.com/redeliver/redeliver/host/emulator/ordered"
)

// container is the state of one container.
type container struct {
	info   cosmos.ContainerInfo
	path   []string // of the partition key
	ranges []*feedRange
	items  map[itemName]*document
	names  ordered.Set[itemName] // of items, by identifier
}

func newContainer(info cosmos.ContainerInfo) *container {
	c := &container{info: info, items: map[itemName]*document{}, names: ordered.New(byID)}
	c.path, _ = keyPath(info.PartitionKey) // checked when it was made
	c.ranges = newRanges(info.Ranges)
	return c
}

// byID orders documents by identifier, then by partition key.
func byID(a, b itemName) int { return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.key, b.key)) }

// add puts a document in.
func (c *container) add(doc *document) {
	c.items[doc.itemName] = doc
	c.names.Insert(doc.itemName)
}

// rangeOf is the range of a partition key.
func (c *container) rangeOf(key cosmos.Key) *feedRange {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(key)) // never fails
	x := hash.Sum32()
	x ^= x >> 16 // keys that differ at their end only lie apart
	x *= 0x85ebca6b
	x ^= x >> 13
	return c.ranges[uint64(x)*uint64(len(c.ranges))>>32]
}

// empty removes all documents. Positions of the feeds stay.
func (c *container) empty(op *operation) {
	if len(c.items) > 0 {
		op.dropItems(c)
	}
	for name, doc := range c.items {
		delete(c.items, name)
		doc.deleted = true
	}
	for _, r := range c.ranges {
		r.feed, r.seen = nil, nil
	}
	c.names = ordered.New(byID)
}

// handle is a container as callers hold it. The container may be gone.
type handle struct {
	a     *Account
	info  cosmos.ContainerInfo
	epoch *epoch.Epoch // the epoch of the handle's holder; nil: it does not end
}

var (
	_ cosmos.Container = (*handle)(nil)
	_ cosmos.Watcher   = (*handle)(nil)
)

// Info implements cosmos.Container.
func (h *handle) Info() cosmos.ContainerInfo { return h.info }

func (h *handle) path() string { return pathOf(h.info.Database, h.info.Name) }

// operate runs f on the container, if it is still there.
func (h *handle) operate(ctx context.Context, p FaultPoint, f func(op *operation, c *container) error) error {
	p.Container = h.path()
	return h.epoch.During(func() error {
		return h.a.operate(ctx, p, func(op *operation) error {
			c := h.a.state.containers[p.Container]
			if c == nil || c.info.RID != h.info.RID {
				return fmt.Errorf("container %q of database %q: %w", h.info.Name, h.info.Database, bindings.ErrNotFound)
			}
			return f(op, c)
		})
	})
}

// Ranges implements cosmos.Container.
func (h *handle) Ranges(ctx context.Context) (out []cosmos.Range, err error) {
	err = h.operate(ctx, FaultPoint{Op: "Ranges"}, func(_ *operation, c *container) error {
		for _, r := range c.ranges {
			out = append(out, r.Range)
		}
		return nil
	})
	return out, err
}

// Create implements cosmos.Container.
func (h *handle) Create(ctx context.Context, text []byte) (*cosmos.Item, error) {
	return h.writeOne(ctx, "Create", text, func(c *container, d *draft) error {
		if c.items[d.name()] != nil {
			return fmt.Errorf("document %q: %w", d.id, bindings.ErrAlreadyExists)
		}
		return nil
	})
}

// Replace implements cosmos.Container.
func (h *handle) Replace(ctx context.Context, text []byte, ifMatch string) (*cosmos.Item, error) {
	return h.writeOne(ctx, "Replace", text, func(c *container, d *draft) error {
		_, err := c.find(d.name(), ifMatch)
		return err
	})
}

// Upsert implements cosmos.Container.
func (h *handle) Upsert(ctx context.Context, texts ...[]byte) ([]*cosmos.Item, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	size := 0
	for _, text := range texts {
		size += len(text)
	}
	if len(texts) > cosmos.MaxTransaction || len(texts) > 1 && size > cosmos.MaxItem {
		return nil, fmt.Errorf("transaction of %d documents, %d bytes: %w: at most %d and %d are possible", len(texts), size,
			bindings.ErrTooLarge, cosmos.MaxTransaction, cosmos.MaxItem)
	}
	drafts, err := h.parse(texts)
	if err != nil {
		return nil, err
	}
	for _, d := range drafts {
		if d.key != drafts[0].key {
			return nil, fmt.Errorf("transaction: %w: its documents have different partition keys", bindings.ErrInvalidArgument)
		}
	}
	p := FaultPoint{Op: "Upsert"}
	if len(drafts) == 1 {
		p.ItemID = drafts[0].id
	}
	return h.write(ctx, p, drafts, func(*container, *draft) error { return nil })
}

func (h *handle) parse(texts [][]byte) ([]*draft, error) {
	path, _ := keyPath(h.info.PartitionKey)
	drafts := make([]*draft, len(texts))
	for i, text := range texts {
		var err error
		if drafts[i], err = parseDraft(text, path); err != nil {
			return nil, err
		}
	}
	return drafts, nil
}

func (h *handle) writeOne(ctx context.Context, op string, text []byte, check func(*container, *draft) error) (*cosmos.Item, error) {
	drafts, err := h.parse([][]byte{text})
	if err != nil {
		return nil, err
	}
	items, err := h.write(ctx, FaultPoint{Op: op, ItemID: drafts[0].id}, drafts, check)
	if err != nil {
		return nil, err
	}
	return items[0], nil
}

// write puts documents of one partition key into the container, in one
// transaction, if check allows them all.
func (h *handle) write(ctx context.Context, p FaultPoint, drafts []*draft, check func(*container, *draft) error) (out []*cosmos.Item, err error) {
	err = h.operate(ctx, p, func(op *operation, c *container) error {
		for _, d := range drafts {
			if err := check(c, d); err != nil {
				return err
			}
		}
		r := c.rangeOf(drafts[0].key)
		r.lsn++
		now := h.a.now()
		for _, d := range drafts {
			doc := c.items[d.name()]
			if doc == nil {
				doc = &document{itemName: d.name(), rid: h.a.state.ids.item(c.info.RID), of: c, in: r}
				c.add(doc)
			}
			doc.content, doc.etag, doc.modified = d.content, h.a.state.ids.etag(now), now
			r.append(doc)
			op.saveItem(c, doc)
			out = append(out, doc.item(false))
		}
		op.saveSequence(c, r)
		op.touch(c, r)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if out == nil { // it was lost
		for _, d := range drafts {
			out = append(out, &cosmos.Item{ID: d.id, Key: d.key, Body: d.content})
		}
	}
	return out, nil
}

// find returns a document if it is there in the version asked for.
func (c *container) find(name itemName, ifMatch string) (*document, error) {
	doc := c.items[name]
	switch {
	case doc == nil:
		return nil, fmt.Errorf("document %q: %w", name.id, bindings.ErrNotFound)
	case ifMatch != "" && ifMatch != doc.etag:
		return nil, fmt.Errorf("document %q: %w: its etag is %s", name.id, bindings.ErrConditionNotMet, doc.etag)
	}
	return doc, nil
}

// Delete implements cosmos.Container.
func (h *handle) Delete(ctx context.Context, id string, key cosmos.Key, ifMatch string) error {
	return h.operate(ctx, FaultPoint{Op: "Delete", ItemID: id}, func(op *operation, c *container) error {
		doc, err := c.find(itemName{key, id}, ifMatch)
		if err != nil {
			return err
		}
		delete(c.items, doc.itemName)
		c.names.Remove(doc.itemName)
		doc.in.lsn++
		doc.in.died(doc)
		doc.deleted = true
		op.dropItem(c, doc)
		op.saveSequence(c, doc.in)
		return nil
	})
}

// Read implements cosmos.Container.
func (h *handle) Read(ctx context.Context, id string, key cosmos.Key) (out *cosmos.Item, err error) {
	err = h.operate(ctx, FaultPoint{Op: "Read", ItemID: id}, func(_ *operation, c *container) error {
		doc, err := c.find(itemName{key, id}, "")
		if err == nil {
			out = doc.item(false)
		}
		return err
	})
	return out, err
}

// Items implements cosmos.Container.
func (h *handle) Items(ctx context.Context, prefix string) (out []*cosmos.Item, err error) {
	err = h.operate(ctx, FaultPoint{Op: "Items"}, func(_ *operation, c *container) error {
		for name := range c.names.From(itemName{id: prefix}) {
			if !strings.HasPrefix(name.id, prefix) {
				break
			}
			out = append(out, c.items[name].item(false))
		}
		return nil
	})
	return out, err
}
