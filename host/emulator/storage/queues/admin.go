package queues

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings"
	queueapi "github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/host/emulator/storage/account"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
)

// queueFacts is what is kept about a queue beside its messages. Its maps and
// slices are replaced, never written to.
type queueFacts struct {
	metadata map[string]string
	policies []storage.AccessPolicy
}

var _ queueapi.Admin = (*Service)(nil)

// CreateQueue implements queue.Admin. Its fault points are the same as of the
// queue's Create.
func (s *Service) CreateQueue(ctx context.Context, name string, metadata map[string]string) (created bool, err error) {
	err = s.queue(name).operate(ctx, account.FaultPoint{Op: "Create"}, true, func(_ time.Time, state *queueState, e *effects) error {
		if state != nil {
			if !sameMetadata(state.metadata, metadata) {
				return bindings.ErrAlreadyExists
			}
			return nil
		}
		state = newQueueState()
		state.metadata = maps.Clone(metadata)
		s.queues[name] = state
		e.saveQueue(name, state.queueFacts)
		created = true
		return nil
	})
	return created && err == nil, err
}

// DeleteQueue implements queue.Admin.
func (s *Service) DeleteQueue(ctx context.Context, name string) error {
	return s.Queue(name).DeleteQueue(ctx)
}

// QueueMetadata implements queue.Admin.
func (s *Service) QueueMetadata(ctx context.Context, name string) (metadata map[string]string, err error) {
	err = s.facts(ctx, "QueueMetadata", name, func(f *queueFacts) { metadata = maps.Clone(f.metadata) })
	return metadata, err
}

// SetQueueMetadata implements queue.Admin.
func (s *Service) SetQueueMetadata(ctx context.Context, name string, metadata map[string]string) error {
	return s.setFacts(ctx, "SetQueueMetadata", name, func(f *queueFacts) { f.metadata = maps.Clone(metadata) })
}

// QueuePolicies implements queue.Admin.
func (s *Service) QueuePolicies(ctx context.Context, name string) (policies []storage.AccessPolicy, err error) {
	err = s.facts(ctx, "QueuePolicies", name, func(f *queueFacts) { policies = slices.Clone(f.policies) })
	return policies, err
}

// SetQueuePolicies implements queue.Admin.
func (s *Service) SetQueuePolicies(ctx context.Context, name string, policies []storage.AccessPolicy) error {
	if n := len(policies); n > storage.MaxAccessPolicies {
		return fmt.Errorf("%w: %d access policies: want at most %d", bindings.ErrOutOfRange, n, storage.MaxAccessPolicies)
	}
	return s.setFacts(ctx, "SetQueuePolicies", name, func(f *queueFacts) { f.policies = slices.Clone(policies) })
}

// facts reads what is kept about a queue.
func (s *Service) facts(ctx context.Context, op, name string, f func(*queueFacts)) error {
	return s.queue(name).operate(ctx, account.FaultPoint{Op: op}, false, func(_ time.Time, state *queueState, _ *effects) error {
		f(&state.queueFacts)
		return nil
	})
}

func (s *Service) setFacts(ctx context.Context, op, name string, f func(*queueFacts)) error {
	return s.queue(name).operate(ctx, account.FaultPoint{Op: op}, false, func(_ time.Time, state *queueState, e *effects) error {
		f(&state.queueFacts)
		e.saveQueue(name, state.queueFacts)
		return nil
	})
}

// QueueServiceProperties implements queue.Admin.
func (s *Service) QueueServiceProperties(ctx context.Context) (p storage.ServiceProperties, err error) {
	err = s.operate(ctx, account.FaultPoint{Op: "QueueServiceProperties"}, func(*change) { p = account.CloneProperties(s.properties) })
	return p, err
}

// SetQueueServiceProperties implements queue.Admin.
func (s *Service) SetQueueServiceProperties(ctx context.Context, p storage.ServiceProperties) error {
	return s.operate(ctx, account.FaultPoint{Op: "SetQueueServiceProperties"}, func(c *change) {
		account.SetProperties(&s.properties, p)
		c.saveProperties(s.properties)
	})
}

// operate runs f on what belongs to no queue, between the fault points.
func (s *Service) operate(ctx context.Context, p account.FaultPoint, f func(c *change)) error {
	return s.kept.Operate(ctx, false, s.opts.Points(p), func() error {
		s.mu.Lock()
		err := s.kept.Ready()
		var commit keep.Awaited
		if err == nil {
			c := change{s.kept.Change()}
			f(&c)
			commit, err = s.kept.Begin(&c.Change)
		}
		s.mu.Unlock()
		if waitErr := s.kept.Wait(ctx, commit); err == nil {
			err = waitErr
		}
		return err
	})
}

// sameMetadata compares names without regard to case, values exactly.
func sameMetadata(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	lower := make(map[string]string, len(a))
	for name, value := range a {
		lower[strings.ToLower(name)] = value
	}
	for name, value := range b {
		if v, ok := lower[strings.ToLower(name)]; !ok || v != value {
			return false
		}
	}
	return true
}
