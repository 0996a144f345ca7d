package faults

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/services"
)

// A List holds the faults of one host, or of several that share their services. Without
// Services nothing can fail. Its methods may be called concurrently.
type List struct {
	// Services are those whose operations can fail, set once.
	Services Services

	mu     sync.Mutex
	active []*entry
	ended  []Active // those that have ended without an operation
	taken  int
}

// entry is a fault that is not used up.
type entry struct {
	Active
	limited bool // by Left
}

// Active is a fault that waits for operations.
type Active struct {
	Fault
	// Left is how many operations it is still for; 0 while only its time ends it.
	Left int
	// Until is when it ends; zero: by Left alone.
	Until time.Time
	// Met is how many operations it was for.
	Met int
}

// Add lets operations fail from now on, by the clock.
func (l *List) Add(now time.Time, f Fault) error {
	if err := l.Services.check(&f); err != nil {
		return err
	}
	e := &entry{Active: Active{Fault: f, Left: f.Times}, limited: f.Times > 0 || f.For == 0}
	if e.limited {
		e.Left = max(f.Times, 1)
	}
	if f.For > 0 {
		e.Until = now.Add(f.For)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.active = append(l.active, e)
	return nil
}

// Active lists the faults that have not ended, in the order in which they were added.
func (l *List) Active(now time.Time) []Active {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.prune(now)
	list := make([]Active, len(l.active))
	for i, e := range l.active {
		list[i] = e.Active
	}
	return list
}

// Unmet lists the faults that no operation has met, whether they still wait or not, in the
// order in which they ended or were added. Those that Clear has ended are not among them.
func (l *List) Unmet(now time.Time) []Active {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.prune(now)
	list := slices.Clone(l.ended)
	for _, e := range l.active {
		if e.Met == 0 {
			list = append(list, e.Active)
		}
	}
	return list
}

// Clear ends all faults, and returns how many there were.
func (l *List) Clear(now time.Time) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.prune(now)
	n := len(l.active)
	l.active, l.ended = nil, nil
	return n
}

// Taken is how many operations have failed or waited.
func (l *List) Taken() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.taken
}

// prune forgets the faults that have ended.
func (l *List) prune(now time.Time) {
	l.active = slices.DeleteFunc(l.active, func(e *entry) bool {
		over := e.limited && e.Left == 0 || !e.Until.IsZero() && !e.Until.After(now)
		if over && e.Met == 0 {
			l.ended = append(l.ended, e.Active)
		}
		return over
	})
}

// Ask is what a service asks at a point: the error of the first fault that is for it. It
// takes the fault's latency on the clock. Listeners may leave out polls that find nothing:
// faults are for operations with a purpose.
func (l *List) Ask(clk clock.Clock, p services.FaultPoint) error {
	if p.Op == services.Foresee {
		return services.ErrNoEffect
	}
	f := l.take(clk.Now(), p)
	if f == nil {
		return nil
	}
	if f.Latency > 0 {
		_ = clk.Sleep(context.Background(), f.Latency)
	}
	return l.Services.of(p.Service).err(f)
}

// take is the fault for a point, which has it once less.
func (l *List) take(now time.Time, p services.FaultPoint) *Fault {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.active) == 0 {
		return nil
	}
	l.prune(now)
	of := l.Services.of(p.Service)
	for _, e := range l.active {
		if of.is(&e.Fault, p) {
			e.Left = max(e.Left-1, 0)
			e.Met++
			l.taken++
			return &e.Fault
		}
	}
	return nil
}
