package eventgrid

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/host/journal"
)

// DeadLetter is the blob of an event that a subscription gave up.
type DeadLetter struct {
	Topic, Subscription string
	Container, Name     string // of the blob
	EventID             string
	Reason              string // such as MaxDeliveryAttemptsExceeded
	Body                []byte // the blob: an array with the event

	blob    blob.Blob
	event   *Event // as it was delivered
	written time.Time
}

// Source is the subscription as the journal names it.
func (d *DeadLetter) Source() string { return d.Topic + "/" + d.Subscription }

const (
	moveLease = 30 * time.Second // of a dead letter that is being moved

	// mostDeadLetter is more than the largest event with what a dead letter adds.
	mostDeadLetter = MaxEvent + 4<<10
)

// DeadLetter reads a blob of an account. It is nil for a blob that is no dead letter of a
// subscription which there is now: subscriptions are found by the container, by the
// blob's folder and by the topic that the event names.
func (g *Grid) DeadLetter(ctx context.Context, account blob.Account, container, name string) (*DeadLetter, error) {
	found := candidates(g, account, container, name)
	if len(found) == 0 {
		return nil, nil
	}
	return readDeadLetter(ctx, account.Container(container), name, found)
}

// DeadLetters reads the dead letters of a subscription, the oldest first.
func (g *Grid) DeadLetters(ctx context.Context, topicName, name string) (list []*DeadLetter, err error) {
	var from *subscription
	g.look(func() { from, err = g.state.subscription(topicName, name) })
	if err != nil {
		return nil, err
	}
	if from.place == "" {
		return nil, unable("event subscription %q has no container for dead letters: what it gives up is dropped", from.source())
	}
	c, err := from.container(&g.opts)
	if err != nil {
		return nil, err
	}
	for opts := (&blob.ListOptions{Prefix: from.upper + "/"}); ; {
		page, err := c.Blobs(ctx, opts)
		if err != nil {
			return nil, fmt.Errorf("container %q: %w", from.place, err)
		}
		for i := range page.Blobs {
			item := &page.Blobs[i]
			d, err := readDeadLetter(ctx, c, item.Name, candidates(g, g.opts.Blobs(from.account), from.place, item.Name))
			if err != nil && !errors.Is(err, bindings.ErrNotFound) {
				return nil, err
			}
			if d != nil && d.Source() == from.source() {
				list = append(list, d)
			}
		}
		if opts.Marker = page.NextMarker; opts.Marker == "" {
			slices.SortStableFunc(list, func(a, b *DeadLetter) int {
				return cmp.Or(a.written.Compare(b.written), cmp.Compare(a.Name, b.Name))
			})
			return list, nil
		}
	}
}

// Redrive gives an event back to the subscription that gave it up, and to no other: it is
// tried as a new one, whatever the filters say now. The event is kept before its blob is
// deleted: after a crash on the way it is in both places, and never lost. A blob that
// somebody else has under a lease is refused with a conflict.
func (g *Grid) Redrive(ctx context.Context, d *DeadLetter) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	lease, err := d.blob.AcquireLease(ctx, moveLease, "", nil)
	switch {
	case errors.Is(err, storage.ErrLeaseHeld):
		return unable("dead letter %q is under a lease: somebody moves it", d.Name)
	case errors.Is(err, bindings.ErrNotFound):
		return notFound("dead letter %q is gone", d.Name)
	case err != nil:
		return err
	}
	made, err := g.takeBack(ctx, d)
	if err != nil {
		_, releaseErr := d.blob.ReleaseLease(ctx, lease.ID, nil)
		return errors.Join(err, releaseErr)
	}
	number := int64(made[0].number)
	g.opts.record([]journal.Record{{
		Kind: journal.Forwarded, Service: journal.EventGrid, MessageNumber: number, Source: d.Container + "/" + d.Name, Target: d.Source(), MessageID: d.EventID, Cause: "redrive",
	}})
	g.mu.Lock()
	g.enqueueLocked(made)
	g.mu.Unlock()
	if err := d.blob.Delete(ctx, &blob.DeleteOptions{Conditions: &blob.Conditions{LeaseID: lease.ID}}); err != nil {
		return fmt.Errorf("event %q is with its subscription again, and in its dead letter %q: %w", d.EventID, d.Name, err)
	}
	return nil
}

// takeBack makes the delivery of a dead letter's event, and returns when it is written.
func (g *Grid) takeBack(ctx context.Context, d *DeadLetter) (made []*delivery, err error) {
	err = g.change(ctx, func() error {
		s, err := g.state.subscription(d.Topic, d.Subscription)
		if err != nil {
			return err
		}
		out := d.event.as(s.schema)
		switch {
		case s.state != Active:
			return unable("event subscription %q gets no events: the validation of its endpoint is not complete", s.source())
		case out.schema != s.schema:
			return unable("event %q is a cloud event; event subscription %q delivers %s", d.EventID, s.source(), s.schema)
		}
		made = append(made, g.admitLocked(s, out.seal(), g.now()))
		return nil
	})
	if err != nil {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.state.withdraw(made)
	}
	return made, err
}

// candidates are the subscriptions whose dead letter a blob of that name can be.
func candidates(g *Grid, account blob.Account, container, name string) (found []*subscription) {
	folder, _, _ := strings.Cut(name, "/")
	g.look(func() {
		found = nil
		for _, t := range g.topics {
			for _, s := range t.subscriptions {
				if s.place == container && s.upper == folder && g.opts.Blobs(s.account) == account {
					found = append(found, s)
				}
			}
		}
	})
	return found
}

// readDeadLetter reads a blob; nil for one that is no dead letter of the subscriptions.
func readDeadLetter(ctx context.Context, c blob.Container, name string, of []*subscription) (*DeadLetter, error) {
	d := &DeadLetter{Container: c.Name(), Name: name, blob: c.Blob(name)}
	got, err := d.blob.Get(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer got.Body.Close()
	if d.Body, err = io.ReadAll(io.LimitReader(got.Body, mostDeadLetter+1)); err != nil || len(d.Body) > mostDeadLetter {
		return nil, err
	}
	d.written = got.Properties.LastModified
	var topic string
	if !d.parse(&topic) {
		return nil, nil
	}
	if len(of) > 1 {
		of = slices.DeleteFunc(of, func(s *subscription) bool { return fold(s.topic.Resource) != fold(topic) })
	}
	if len(of) != 1 {
		return nil, nil
	}
	d.Topic, d.Subscription = of[0].topic.Name, of[0].Name
	return d, nil
}

// parse takes the event out of the text, and says which topic it names.
func (d *DeadLetter) parse(topic *string) bool {
	var raws []json.RawMessage
	if json.Unmarshal(d.Body, &raws) != nil || len(raws) != 1 {
		return false
	}
	members, err := parseObject(bytes.TrimSpace(raws[0]))
	if err != nil {
		return false
	}
	whole := &Event{schema: EventGridSchema, members: members}
	if whole.get("specversion") != nil {
		whole.schema = CloudEventSchema
	}
	event := &Event{schema: whole.schema}
	for _, m := range members {
		if !slices.ContainsFunc(deadLetterMembers, func(name string) bool { return deadLetterMember(name, whole.schema) == m.name }) {
			event.members = append(event.members, m)
		}
	}
	if len(event.members) == len(members) {
		return false // it tells nothing of deliveries
	}
	event.ID, event.Subject, event.Type = event.text("id"), event.text("subject"), event.text(typeField(event.schema))
	d.event, d.EventID, d.Reason = event, event.ID, whole.text(deadLetterMember("deadLetterReason", whole.schema))
	*topic = event.text("topic")
	if event.schema == CloudEventSchema {
		*topic = event.text("source")
	}
	return d.EventID != ""
}
