package storage

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
	"github.com/redeliver/redeliver/host/emulator/store/keep"
)

// queueFacts is what is kept about a queue beside its messages. Its maps and
// slices are replaced, never written to.
type queueFacts struct {
	metadata map[string]string
	policies []storage.AccessPolicy
}

var _ queueapi.Admin = (*Storage)(nil)

// CreateQueue implements queue.Admin. Its fault points are the same as of the
// queue's Create.
func (s *Storage) CreateQueue(ctx context.Context, name string, metadata map[string]string) (created bool, err error) {
	err = s.queue(name).operate(ctx, FaultPoint{Op: "Create"}, true, func(_ time.Time, state *queueState, e *effects) error {
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
func (s *Storage) DeleteQueue(ctx context.Context, name string) error {
	return s.Queue(name).DeleteQueue(ctx)
}

// QueueMetadata implements queue.Admin.
func (s *Storage) QueueMetadata(ctx context.Context, name string) (metadata map[string]string, err error) {
	err = s.facts(ctx, "QueueMetadata", name, func(f *queueFacts) { metadata = maps.Clone(f.metadata) })
	return metadata, err
}

// SetQueueMetadata implements queue.Admin.
func (s *Storage) SetQueueMetadata(ctx context.Context, name string, metadata map[string]string) error {
	return s.setFacts(ctx, "SetQueueMetadata", name, func(f *queueFacts) { f.metadata = maps.Clone(metadata) })
}

// QueuePolicies implements queue.Admin.
func (s *Storage) QueuePolicies(ctx context.Context, name string) (policies []storage.AccessPolicy, err error) {
	err = s.facts(ctx, "QueuePolicies", name, func(f *queueFacts) { policies = slices.Clone(f.policies) })
	return policies, err
}

// SetQueuePolicies implements queue.Admin.
func (s *Storage) SetQueuePolicies(ctx context.Context, name string, policies []storage.AccessPolicy) error {
	if n := len(policies); n > storage.MaxAccessPolicies {
		return fmt.Errorf("%w: %d access policies: want at most %d", bindings.ErrOutOfRange, n, storage.MaxAccessPolicies)
	}
	return s.setFacts(ctx, "SetQueuePolicies", name, func(f *queueFacts) { f.policies = slices.Clone(policies) })
}

// facts reads what is kept about a queue.
func (s *Storage) facts(ctx context.Context, op, name string, f func(*queueFacts)) error {
	return s.queue(name).operate(ctx, FaultPoint{Op: op}, false, func(_ time.Time, state *queueState, _ *effects) error {
		f(&state.queueFacts)
		return nil
	})
}

func (s *Storage) setFacts(ctx context.Context, op, name string, f func(*queueFacts)) error {
	return s.queue(name).operate(ctx, FaultPoint{Op: op}, false, func(_ time.Time, state *queueState, e *effects) error {
		f(&state.queueFacts)
		e.saveQueue(name, state.queueFacts)
		return nil
	})
}

// QueueServiceProperties implements queue.Admin.
func (s *Storage) QueueServiceProperties(ctx context.Context) (p storage.ServiceProperties, err error) {
	err = s.operate(ctx, FaultPoint{Op: "QueueServiceProperties"}, func(*change) { p = cloneProperties(s.properties) })
	return p, err
}

// SetQueueServiceProperties implements queue.Admin.
func (s *Storage) SetQueueServiceProperties(ctx context.Context, p storage.ServiceProperties) error {
	return s.operate(ctx, FaultPoint{Op: "SetQueueServiceProperties"}, func(c *change) {
		p, to := cloneProperties(p), &s.properties
		setProperty(&to.Logging, p.Logging)
		setProperty(&to.HourMetrics, p.HourMetrics)
		setProperty(&to.MinuteMetrics, p.MinuteMetrics)
		setProperty(&to.CORS, p.CORS)
		setProperty(&to.DefaultVersion, p.DefaultVersion)
		setProperty(&to.SoftDelete, p.SoftDelete)
		setProperty(&to.StaticWebsite, p.StaticWebsite)
		c.saveProperties(s.properties)
	})
}

// operate runs f on what belongs to no queue, between the fault points.
func (s *Storage) operate(ctx context.Context, p FaultPoint, f func(c *change)) error {
	return s.kept.Operate(ctx, false, func(after bool) error { p.After = after; return s.fault(p) }, func() error {
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

func setProperty[T any](to **T, by *T) {
	if by != nil {
		*to = by
	}
}

func copyOf[T any](p *T) *T {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}

func cloneMetrics(p *storage.MetricsProperties) *storage.MetricsProperties {
	c := copyOf(p)
	if c != nil {
		c.IncludeAPIs = copyOf(c.IncludeAPIs)
	}
	return c
}

func cloneProperties(p storage.ServiceProperties) storage.ServiceProperties {
	c := storage.ServiceProperties{
		Logging:        copyOf(p.Logging),
		HourMetrics:    cloneMetrics(p.HourMetrics),
		MinuteMetrics:  cloneMetrics(p.MinuteMetrics),
		CORS:           copyOf(p.CORS),
		DefaultVersion: copyOf(p.DefaultVersion),
		SoftDelete:     copyOf(p.SoftDelete),
		StaticWebsite:  copyOf(p.StaticWebsite),
	}
	if c.CORS != nil {
		*c.CORS = slices.Clone(*c.CORS)
	}
	return c
}
