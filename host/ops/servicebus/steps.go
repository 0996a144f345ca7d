package servicebus

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/ops"
)

// DeadLetterMessages moves messages of an entity to its dead-letter queue by hand.
type DeadLetterMessages struct {
	ops.Op[Chosen] `step:"deadLetter"`

	Path        string `step:"serviceBus,place"`
	ID          string `step:"messageId"` // empty: all of them
	Reason      string `step:"reason"`
	Description string `step:"description"`
}

func (in DeadLetterMessages) Do(ctx context.Context, e *ops.Env) (Chosen, error) {
	return eachChosen(ctx, e, in.Path, in.ID, anyState, func(path string, number int64) error {
		return e.Host.Services().ServiceBus().Bury(ctx, path, number, in.Reason, in.Description)
	})
}

// CancelMessages takes back messages of an entity that are scheduled.
type CancelMessages struct {
	ops.Op[Chosen] `step:"cancel"`

	Path string `step:"serviceBus,place"`
	ID   string `step:"messageId"` // empty: all of them
}

func (in CancelMessages) Do(ctx context.Context, e *ops.Env) (Chosen, error) {
	scheduled := func(m *servicebus.Received) bool { return m.State == servicebus.StateScheduled }
	return eachChosen(ctx, e, in.Path, in.ID, scheduled, func(path string, number int64) error {
		return e.Host.Services().ServiceBus().CancelScheduled(ctx, path, number)
	})
}

// Chosen is how many messages something was done to.
type Chosen int

// Changed is their number.
func (c Chosen) Changed() int { return int(c) }

func anyState(*servicebus.Received) bool { return true }

// eachChosen does something to the messages of an entity that numbered chooses.
func eachChosen(ctx context.Context, e *ops.Env, entity, id string, are func(*servicebus.Received) bool, do func(path string, number int64) error) (n Chosen, err error) {
	entity = spelled(entity)
	numbers, err := numbered(ctx, e, entity, id, are)
	for _, number := range numbers {
		if err == nil {
			n++
			err = do(entity, number)
		}
	}
	return n, err
}

// numbered are the sequence numbers of the messages of an entity that have an ID, or any when
// it is empty, and are as they should be.
func numbered(ctx context.Context, e *ops.Env, entity, id string, are func(*servicebus.Received) bool) (numbers []int64, err error) {
	list, err := e.Host.Services().ServiceBus().Peek(ctx, entity, nil, 0, math.MaxInt)
	for _, m := range list {
		if (id == "" || m.MessageID == id) && are(m) {
			numbers = append(numbers, m.SequenceNumber)
		}
	}
	return numbers, err
}

// spelled is the path of an entity as the service writes it: "topic/subscription" is a
// subscription too.
func spelled(path string) string {
	parts := strings.SplitN(path, "/", 3)
	if len(parts) < 2 || strings.HasPrefix(parts[1], "$") || strings.EqualFold(parts[1], "Subscriptions") {
		return path
	}
	return strings.Join(slices.Insert(parts, 1, "Subscriptions"), "/")
}
