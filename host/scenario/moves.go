package scenario

import (
	"context"
	"fmt"
	"runtime"
	"strings"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/redrive"
	"github.com/redeliver/redeliver/schemas"
)

// These steps do what an operator does to messages that lie somewhere. One that finds
// nothing to do fails: what it was for has not happened.

// redriven gives poison messages or dead letters back to where they came from.
type redriven struct {
	Queue      string `json:"queue"`
	To         string `json:"to"`
	ServiceBus string `json:"serviceBus"`
	EventGrid  string `json:"eventGrid"`
	MessageID  string `json:"messageId"` // empty: all of them
}

// purged removes all messages, blobs or documents of a place.
type purged struct {
	Queue      string `json:"queue"`
	ServiceBus string `json:"serviceBus"`
	Container  string `json:"container"`
	Cosmos     string `json:"cosmos"`
}

// buried moves messages of an entity of Service Bus to its dead-letter queue.
type buried struct {
	ServiceBus  string `json:"serviceBus"`
	MessageID   string `json:"messageId"` // empty: all of them
	Reason      string `json:"reason"`
	Description string `json:"description"`
}

// cancelled takes back messages of Service Bus that are scheduled.
type cancelled struct {
	ServiceBus string `json:"serviceBus"`
	MessageID  string `json:"messageId"` // empty: all of them
}

// moves carries out a step that is one of these; not ok: it is another.
func (r *run) moves(s *step) (ok bool) {
	switch {
	case s.Redrive != nil:
		r.redrive(s.Redrive)
	case s.Purge != nil:
		r.purge(s.Purge)
	case s.DeadLetter != nil:
		of := s.DeadLetter
		r.byHand("deadLetter", of.ServiceBus, of.MessageID, nil, func(ctx context.Context, path string, m *servicebus.Received) error {
			return r.h.Services().ServiceBus().Bury(ctx, path, m.SequenceNumber, of.Reason, of.Description)
		})
	case s.Cancel != nil:
		scheduled := func(m *servicebus.Received) bool { return m.State == servicebus.StateScheduled }
		r.byHand("cancel", s.Cancel.ServiceBus, s.Cancel.MessageID, scheduled, func(ctx context.Context, path string, m *servicebus.Received) error {
			return r.h.Services().ServiceBus().CancelScheduled(ctx, path, m.SequenceNumber)
		})
	default:
		return false
	}
	return true
}

// act does something inside the clock, lets what it made ready run, and fails the step when
// it has failed or has found nothing to do.
func (r *run) act(key string, f func(ctx context.Context) (n int, err error)) {
	var n int
	var err error
	r.h.Act(key, func(ctx context.Context) { n, err = f(ctx) })
	at := schemas.JoinPath(r.at, key)
	switch {
	case err != nil:
		r.mismatch(at, err.Error(), "", "", r.all)
	case n == 0:
		r.mismatch(at, "there is nothing to "+verb(key)+" there", "", "", r.all)
	default:
		return
	}
	runtime.Goexit()
}

// verb is a key as a word: deadLetter is to dead-letter.
func verb(key string) string {
	if key == "deadLetter" {
		return "dead-letter"
	}
	return key
}

func (r *run) redrive(of *redriven) {
	switch {
	case of.Queue != "":
		r.mustKnow("redrive.queue", aQueue, of.Queue)
		if of.To != "" {
			r.mustKnow("redrive.to", aQueue, of.To)
		}
		r.act("redrive", func(ctx context.Context) (int, error) {
			done, err := redrive.Messages(ctx, r.cast.queue(of.Queue).Host, of.Queue, of.To, of.MessageID, ctx.Err)
			return done.Moved, err
		})
	case of.ServiceBus != "":
		path := busPath(of.ServiceBus)
		r.mustKnow("redrive.serviceBus", anEntity, path)
		if !strings.Contains(path, "/$") {
			path += "/$DeadLetterQueue"
		}
		found := r.messagesOf(path, of.MessageID, nil)
		r.act("redrive", func(ctx context.Context) (int, error) {
			if len(found) == 0 {
				return 0, nil
			}
			return r.h.Services().ServiceBus().Redrive(ctx, path, found...)
		})
	default:
		r.mustKnow("redrive.eventGrid", aSubscription, of.EventGrid)
		topic, subscription, _ := strings.Cut(of.EventGrid, "/")
		r.act("redrive", func(ctx context.Context) (int, error) { return r.redriveEvents(ctx, topic, subscription, of.MessageID) })
	}
}

func (r *run) redriveEvents(ctx context.Context, topic, subscription, id string) (n int, err error) {
	grid := r.h.Services().EventGrid()
	letters, err := grid.DeadLetters(ctx, topic, subscription)
	if err != nil {
		return 0, err
	}
	for _, letter := range letters {
		if id != "" && letter.EventID != id {
			continue
		}
		if err := redriveEvent(ctx, grid, letter); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

func redriveEvent(ctx context.Context, grid *eventgrid.Grid, letter *eventgrid.DeadLetter) error {
	if err := grid.Redrive(ctx, letter); err != nil {
		return fmt.Errorf("event %q: %w", letter.EventID, err)
	}
	return nil
}

// messagesOf are the numbers of the messages of an entity that have an ID, or any when it is
// empty, and are as they should be.
func (r *run) messagesOf(path, id string, are func(*servicebus.Received) bool) (numbers []int64) {
	for _, m := range r.h.ServiceBusMessages(path) {
		if (id == "" || m.MessageID == id) && (are == nil || are(m)) {
			numbers = append(numbers, m.SequenceNumber)
		}
	}
	return numbers
}

// byHand does something to each message of an entity of Service Bus.
func (r *run) byHand(key, entity, id string, are func(*servicebus.Received) bool, do func(ctx context.Context, path string, m *servicebus.Received) error) {
	path := busPath(entity)
	r.mustKnow(key+".serviceBus", anEntity, path)
	r.act(key, func(ctx context.Context) (n int, err error) {
		list, err := r.h.Services().ServiceBus().Peek(ctx, path, nil, 0, 1<<31)
		for _, m := range list {
			if err == nil && (id == "" || m.MessageID == id) && (are == nil || are(m)) {
				n++
				err = do(ctx, path, m)
			}
		}
		return n, err
	})
}

func (r *run) purge(of *purged) {
	switch {
	case of.Queue != "":
		r.mustKnow("purge.queue", aQueue, of.Queue)
		r.act("purge", func(ctx context.Context) (int, error) {
			q := r.h.AppStorage().Queue(of.Queue)
			n, err := q.Count(ctx)
			if err == nil {
				err = q.Clear(ctx)
			}
			return n, err
		})
	case of.ServiceBus != "":
		r.mustKnow("purge.serviceBus", anEntity, busPath(of.ServiceBus))
		r.act("purge", func(ctx context.Context) (int, error) {
			return r.h.Services().ServiceBus().Purge(ctx, busPath(of.ServiceBus))
		})
	case of.Container != "":
		r.mustKnow("purge.container", aContainer, of.Container)
		found := r.h.Blobs(of.Container)
		r.act("purge", func(ctx context.Context) (int, error) {
			for _, name := range found {
				if err := r.h.AppStorage().Container(of.Container).Blob(name).Delete(ctx, &blob.DeleteOptions{Snapshots: blob.IncludeSnapshots}); err != nil {
					return 0, err
				}
			}
			return len(found), nil
		})
	default:
		r.mustKnow("purge.cosmos", aCosmos, of.Cosmos)
		database, container, _ := strings.Cut(of.Cosmos, "/")
		r.act("purge", func(ctx context.Context) (int, error) {
			return r.h.Services().Cosmos().Purge(ctx, database, container)
		})
	}
}
