package emulator

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/bindings"
)

// QueueAdmin keeps what the queue service knows beside messages: metadata and
// stored access policies of queues, and the settings of the service. Make one
// per Storage with [NewQueueAdmin]. All methods may be called concurrently; on a
// virtual clock, from inside the clock.
//
// Each method asks Options.Fault like the calls of bindings.Queue, with its own
// name as the operation ("QueueMetadata", "SetQueuePolicies", ...); CreateQueue
// and DeleteQueue go through the queue's Create and DeleteQueue, and have their
// fault points.
type QueueAdmin struct {
	s *Storage

	// Guarded by s.mu.
	queues     map[string]*queueFacts
	properties bindings.ServiceProperties
}

// queueFacts is what is kept about one queue.
type queueFacts struct {
	metadata map[string]string
	policies []bindings.AccessPolicy
	creating bool // the queue itself is about to be made
}

var _ bindings.QueueAdmin = (*QueueAdmin)(nil)

// NewQueueAdmin returns the admin side of an account's queues.
func NewQueueAdmin(s *Storage) *QueueAdmin {
	return &QueueAdmin{s: s, queues: map[string]*queueFacts{}}
}

// CreateQueue implements bindings.QueueAdmin.
func (a *QueueAdmin) CreateQueue(ctx context.Context, name string, metadata map[string]string) (created bool, err error) {
	if err := a.check(ctx, name); err != nil {
		return false, err
	}
	a.s.mu.Lock()
	exists, facts := a.factsLocked(name)
	switch {
	case exists || facts.creating:
		same := sameMetadata(facts.metadata, metadata)
		a.s.mu.Unlock()
		if !same {
			return false, fmt.Errorf("queue %q: %w", name, bindings.ErrAlreadyExists)
		}
		return false, nil
	default:
		facts.metadata, facts.creating = maps.Clone(metadata), true
		a.queues[name] = facts
		a.s.mu.Unlock()
	}
	err = a.s.Queue(name).Create(ctx)
	a.s.mu.Lock()
	defer a.s.mu.Unlock()
	facts.creating = false
	if err != nil {
		a.factsLocked(name) // forgets them, unless the queue was made all the same
		return false, err
	}
	return true, nil
}

// DeleteQueue implements bindings.QueueAdmin.
func (a *QueueAdmin) DeleteQueue(ctx context.Context, name string) error {
	err := a.s.Queue(name).DeleteQueue(ctx)
	a.s.mu.Lock()
	defer a.s.mu.Unlock()
	a.factsLocked(name)
	return err
}

// QueueMetadata implements bindings.QueueAdmin.
func (a *QueueAdmin) QueueMetadata(ctx context.Context, name string) (metadata map[string]string, err error) {
	err = a.operate(ctx, "QueueMetadata", name, func(f *queueFacts) { metadata = maps.Clone(f.metadata) })
	return metadata, err
}

// SetQueueMetadata implements bindings.QueueAdmin.
func (a *QueueAdmin) SetQueueMetadata(ctx context.Context, name string, metadata map[string]string) error {
	return a.operate(ctx, "SetQueueMetadata", name, func(f *queueFacts) { f.metadata = maps.Clone(metadata) })
}

// QueuePolicies implements bindings.QueueAdmin.
func (a *QueueAdmin) QueuePolicies(ctx context.Context, name string) (policies []bindings.AccessPolicy, err error) {
	err = a.operate(ctx, "QueuePolicies", name, func(f *queueFacts) { policies = slices.Clone(f.policies) })
	return policies, err
}

// SetQueuePolicies implements bindings.QueueAdmin.
func (a *QueueAdmin) SetQueuePolicies(ctx context.Context, name string, policies []bindings.AccessPolicy) error {
	if n := len(policies); n > bindings.MaxAccessPolicies {
		return fmt.Errorf("%w: %d access policies: want at most %d", bindings.ErrOutOfRange, n, bindings.MaxAccessPolicies)
	}
	return a.operate(ctx, "SetQueuePolicies", name, func(f *queueFacts) { f.policies = slices.Clone(policies) })
}

// QueueServiceProperties implements bindings.QueueAdmin.
func (a *QueueAdmin) QueueServiceProperties(ctx context.Context) (p bindings.ServiceProperties, err error) {
	err = a.faulty(ctx, FaultPoint{Op: "QueueServiceProperties"}, func() error {
		p = cloneProperties(a.properties)
		return nil
	})
	return p, err
}

// SetQueueServiceProperties implements bindings.QueueAdmin.
func (a *QueueAdmin) SetQueueServiceProperties(ctx context.Context, p bindings.ServiceProperties) error {
	return a.faulty(ctx, FaultPoint{Op: "SetQueueServiceProperties"}, func() error {
		p, to := cloneProperties(p), &a.properties
		setProperty(&to.Logging, p.Logging)
		setProperty(&to.HourMetrics, p.HourMetrics)
		setProperty(&to.MinuteMetrics, p.MinuteMetrics)
		setProperty(&to.CORS, p.CORS)
		setProperty(&to.DefaultVersion, p.DefaultVersion)
		setProperty(&to.SoftDelete, p.SoftDelete)
		setProperty(&to.StaticWebsite, p.StaticWebsite)
		return nil
	})
}

func (a *QueueAdmin) check(ctx context.Context, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return bindings.ValidateQueueName(name)
}

// operate runs f on the facts of a queue that exists, with the lock held.
func (a *QueueAdmin) operate(ctx context.Context, op, name string, f func(*queueFacts)) error {
	if err := a.check(ctx, name); err != nil {
		return err
	}
	return a.faulty(ctx, FaultPoint{Op: op, Queue: name}, func() error {
		exists, facts := a.factsLocked(name)
		if !exists {
			return fmt.Errorf("queue %q: %w", name, bindings.ErrNotFound)
		}
		f(facts)
		return nil
	})
}

// faulty runs f with the lock held, between two fault points.
func (a *QueueAdmin) faulty(ctx context.Context, p FaultPoint, f func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := a.s.fault(p); err != nil {
		return err
	}
	a.s.mu.Lock()
	err := f()
	a.s.mu.Unlock()
	if err != nil {
		return err
	}
	p.After = true
	return a.s.fault(p)
}

// factsLocked returns the facts of a queue and whether the queue exists. Those
// of a queue that was deleted meanwhile are forgotten.
func (a *QueueAdmin) factsLocked(name string) (exists bool, facts *queueFacts) {
	_, exists = a.s.queues[name]
	facts = a.queues[name]
	if !exists && (facts == nil || !facts.creating) {
		delete(a.queues, name)
		return false, &queueFacts{}
	}
	if facts == nil {
		facts = &queueFacts{}
		a.queues[name] = facts
	}
	return exists, facts
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

func cloneMetrics(p *bindings.MetricsProperties) *bindings.MetricsProperties {
	c := copyOf(p)
	if c != nil {
		c.IncludeAPIs = copyOf(c.IncludeAPIs)
	}
	return c
}

func cloneProperties(p bindings.ServiceProperties) bindings.ServiceProperties {
	c := bindings.ServiceProperties{
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
