package clock

import (
	"context"
	"slices"
	"time"
)

// A call is one run of Outside or Away.
type call struct {
	name  string
	task  *task
	seq   uint64 // order of going out
	ctx   ctxLink
	back  bool // f has returned
	holds bool // is in Virtual.out
	slot  bool // has the one place that Serial gives out
	timer wallTimer

	patience time.Duration // real time for which it holds time still; 0: for ever
}

// Outside implements Clock.
func (v *Virtual) Outside(ctx context.Context, name string, f func()) {
	id := self()
	v.mu.Lock()
	t := v.holder
	if t == nil || t.self != id {
		if v.opts.Strict && !v.tasks.has(id) {
			v.mu.Unlock()
			panic("clock: Outside " + quote(name) + " called by a foreign goroutine: start it with a Group, or enter with Inside or Do")
		}
		v.mu.Unlock()
		f() // outside already
		return
	}
	v.outUnlock(ctx, t, name, f)
}

// Away implements Clock.
func (v *Virtual) Away(ctx context.Context, name string, f func()) {
	v.mu.Lock()
	v.outUnlock(ctx, v.holderLocked("Away"), name, f)
}

// outUnlock gives up the baton for t, the calling goroutine, releases mu, runs f,
// and returns when t has the baton again.
func (v *Virtual) outUnlock(ctx context.Context, t *task, name string, f func()) {
	if v.opts.Serial {
		if v.slot {
			t.doing = waitSerial
			v.queued = append(v.queued, t)
			v.waitUnlock(t) // comes back with the slot
			v.mu.Lock()
		}
		v.slot = true
	}
	c := &call{name: name, task: t, seq: v.nextSeqLocked(), slot: v.opts.Serial, holds: true}
	v.out = append(v.out, c)
	t.doing = waitOutside
	vc, _ := ctx.Value(ctxKey{}).(*virtualContext)
	if vc != nil && (vc.v != v || vc.Err() != nil) {
		vc = nil
	}
	if c.patience = v.opts.Patience; c.patience > 0 {
		c.ctx.call = c
		if vc != nil {
			vc.joinLocked(&c.ctx)
		}
		c.timer = v.wall.afterFunc(c.patience, func() { c.losePatience(v) })
	}
	v.holder = nil
	v.unlock(v.passLocked(), nil)
	defer c.comeBack(v)
	f()
}

// comeBack returns when the goroutine of c has the baton again.
func (c *call) comeBack(v *Virtual) {
	v.mu.Lock()
	var next *task
	if v.holder == nil && v.pace.kind != "" {
		next = v.passLocked() // lets the pace catch up first
	}
	c.back = true
	c.ctx.leave()
	if c.timer != nil {
		c.timer.Stop()
	}
	t := c.task
	t.call = c
	if !c.holds || v.opts.Arrival {
		c.uncountLocked(v)
		t.doing = waitReady
		v.ready.pushGuest(t)
	}
	if v.holder == nil {
		next = v.passLocked()
	}
	if !v.unlock(next, t) {
		<-t.park
	}
}

// uncountLocked makes c no longer hold time still.
func (c *call) uncountLocked(v *Virtual) {
	if !c.holds {
		return
	}
	c.holds = false
	if v.out[0] == c {
		v.out[0] = nil
		v.out = v.out[1:]
	} else {
		i := slices.Index(v.out, c)
		v.out = slices.Delete(v.out, i, i+1)
	}
	if len(v.out) == 0 {
		v.out = nil
	}
}

// freeSlotLocked gives c's place outside to the next in the queue.
func (c *call) freeSlotLocked(v *Virtual) {
	if !c.slot {
		return
	}
	c.slot = false
	if len(v.queued) == 0 {
		v.slot = false
		return
	}
	t := v.queued[0]
	v.queued = v.queued[1:]
	v.readyLocked(t, nil)
}

// losePatience lets time move on without c.
func (c *call) losePatience(v *Virtual) {
	v.mu.Lock()
	if c.back || !c.holds {
		v.mu.Unlock()
		return
	}
	c.uncountLocked(v)
	c.freeSlotLocked(v)
	v.noticeLocked(Notice{Kind: PatienceUsedUp, Name: c.name, Real: c.patience, From: v.Now(), To: v.Now()})
	v.kickUnlock()
}

// recallLocked makes the clock wait for c again, because its context has ended.
func (c *call) recallLocked(v *Virtual) {
	if c.back || c.holds {
		return
	}
	c.holds = true
	i, _ := slices.BinarySearchFunc(v.out, c.seq, func(o *call, seq uint64) int {
		if o.seq < seq {
			return -1
		}
		return 1
	})
	v.out = slices.Insert(v.out, i, c)
	c.timer.Reset(c.patience)
}
