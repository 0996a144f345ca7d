//clock:outside a connection lives in real time; nodes enter the clock

package amqp

import (
	"sync"
	"time"

	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

// heartbeat is a frame without a body.
const heartbeat = "\x00\x00\x00\x08\x02\x00\x00\x00"

// writer is the outgoing half of a connection. Its fields are guarded by conn.mu.
type writer struct {
	out     []byte    // not written yet
	spare   []byte    // the buffer that is not in use
	ready   bool      // there is something that should be written
	ending  bool      // write what is there, then end
	broken  bool      // nothing can be written any more
	wrote   time.Time // when it was written last
	blocked []*link

	streamed uint64      // bytes that were taken to be written
	tracked  []unwritten // in the order of their ends

	wake    sync.Cond // the writer
	drained sync.Cond // the reader in pause

	beat  *time.Timer
	beats sync.WaitGroup // the timer's function at work
}

// flushLocked wakes the writer.
func (c *conn) flushLocked() {
	if c.broken {
		c.out = c.out[:0]
		return
	}
	if len(c.out) > 0 && !c.ready {
		c.ready = true
		c.wake.Signal()
	}
}

func (c *conn) isBroken() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.broken
}

// write is the goroutine that writes.
func (c *conn) write() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		for !c.ready && !c.ending {
			c.wake.Wait()
		}
		if len(c.out) == 0 {
			if c.ending {
				return
			}
			c.ready = false
			continue
		}
		b := c.out
		c.out, c.ready, c.wrote = c.spare[:0], false, time.Now()
		before := c.streamed
		c.streamed += uint64(len(b))
		patience := writePatience
		if c.ending {
			patience = closePatience
		}
		c.mu.Unlock()
		c.nc.SetWriteDeadline(time.Now().Add(patience))
		if c.shut.Load() {
			c.nc.SetWriteDeadline(time.Now().Add(shutPatience))
		}
		n, err := c.nc.Write(b)
		c.mu.Lock()
		written := c.writtenLocked(before + uint64(n))
		c.spare = nil
		if cap(b) <= 2*highWater {
			c.spare = b[:0]
		}
		if err != nil {
			c.broken = true
			c.out = nil
			c.nc.Close() // ends the reader
		}
		for _, l := range c.blocked {
			l.blocked = false
			l.ready.Signal()
		}
		c.blocked = c.blocked[:0]
		c.drained.Signal()
		if len(written) > 0 {
			c.mu.Unlock()
			transferred(written)
			c.mu.Lock()
		}
		if err != nil {
			return
		}
	}
}

// pause flushes, and keeps the reader from reading more while the client does not
// take what it has asked for.
func (c *conn) pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flushLocked()
	for len(c.out) > floodMark && !c.broken {
		c.drained.Wait()
	}
}

// finishWriting has the writer end once everything is written, with a close if
// that is asked for.
func (c *conn) finishWriting(sayClose bool, err *wire.Error) {
	c.mu.Lock()
	if c.beat != nil {
		c.beat.Stop()
	}
	if sayClose && !c.broken {
		c.out = wire.AppendFrame(c.out, wire.FrameAMQP, 0, &wire.Close{Error: err})
	}
	c.ending = true
	c.wake.Signal()
	c.mu.Unlock()
	if !c.shut.Load() {
		c.nc.SetWriteDeadline(time.Now().Add(closePatience)) // of a write that goes on
	}
	c.beats.Wait()
}

// startHeartbeat sends an empty frame when nothing was written for somewhat less than
// half of the client's idle time-out.
func (c *conn) startHeartbeat(idle time.Duration) {
	every := max(idle*2/5, time.Millisecond)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.beat = time.AfterFunc(every, func() {
		c.mu.Lock()
		if c.ending || c.broken {
			c.mu.Unlock()
			return
		}
		c.beats.Add(1)
		defer c.beats.Done()
		defer c.mu.Unlock()
		left := every - time.Since(c.wrote)
		if left <= 0 && len(c.out) == 0 {
			c.out = append(c.out, heartbeat...)
			c.flushLocked()
		}
		if left <= 0 {
			left = every
		}
		c.beat.Reset(left)
	})
}
