package process

import (
	"context"
	"fmt"
	"time"
)

// apart is the time after which a call that waited is let in although the one before it
// still runs.
const apart = time.Second

// Acquire returns a running process, each in its turn, after waiting for one if need be,
// and counts a call in it until [Keeper.Leave].
//
// While processes crash, calls pile up that wait for the next one. If they all came to it
// at once, the call that crashes it would take the others along, again and again, and
// messages of healthy functions would go to poison. So after a crash those that waited are
// let in one after the other (spec workers 9). Calls that find a process ready are not held up.
func (k *Keeper[C]) Acquire(ctx context.Context) (*Run[C], error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	waits := false
	defer func() {
		if waits {
			k.stepOutLocked()
		}
	}()
	for {
		if err := k.endedLocked(); err != nil {
			return nil, err
		}
		r, left := k.pickLocked()
		until := k.resumeLocked()
		switch {
		case r != nil && waits && k.wary && r.calls > 0 && k.clk.Now().Before(k.letIn.Add(apart)):
			until = k.letIn.Add(apart)
		case r != nil:
			if waits {
				k.letIn = k.clk.Now()
			}
			k.turn = (r.place + 1) % len(k.runs)
			r.calls++
			return r, nil
		case left != nil:
			k.mu.Unlock()
			k.reap(left)
			k.mu.Lock()
			continue
		}
		if !waits {
			waits = true
			k.waiting++
		}
		if err := k.changed.WaitUntil(ctx, until); err != nil {
			return nil, err
		}
	}
}

// stepOutLocked is the end of a call's wait.
func (k *Keeper[C]) stepOutLocked() {
	if k.waiting--; k.waiting == 0 {
		k.wary = false
	}
}

// endedLocked is why no process can be called any more, nil while one can.
func (k *Keeper[C]) endedLocked() error {
	if k.closing.Load() {
		return ErrClosed
	}
	return k.stopped
}

// pickLocked is the process whose turn it is, nil if none is ready. left is then one that
// has ended, and that no call will notice.
func (k *Keeper[C]) pickLocked() (r, left *Run[C]) {
	for i := range k.runs {
		switch r := k.runs[(k.turn+i)%len(k.runs)]; {
		case r == nil:
		case !r.Ended():
			return r, nil
		case left == nil && r.idle():
			left = r
		}
	}
	return nil, left
}

// resumeLocked is when the pause before the next start ends; zero if a start is under way.
func (k *Keeper[C]) resumeLocked() (until time.Time) {
	for _, at := range k.resume {
		if until.IsZero() || at.Before(until) {
			until = at
		}
	}
	if !until.After(k.clk.Now()) {
		return time.Time{}
	}
	return until
}

// Ready is Acquire without the wait: the error says why no process can be called now.
func (k *Keeper[C]) Ready() (*Run[C], error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.endedLocked(); err != nil {
		return nil, err
	}
	r, _ := k.pickLocked()
	if r == nil {
		return nil, fmt.Errorf("no %s process runs", k.spec.Name)
	}
	r.calls++
	return r, nil
}
