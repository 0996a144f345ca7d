package customhandler

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/redeliver/redeliver/functions/call"
)

// slowConnect is the time of a connect on this machine above which something is wrong: one
// that meets a full backlog is tried again by the system after a second.
const slowConnect = 500 * time.Millisecond

// backlog notices that the handler does not accept connections as fast as they come. Its
// server then has a short queue of them, 5 with package http.server of Python, and the host
// calls up to 16 functions at once, or more.
type backlog struct {
	ready atomic.Bool            // refusals before are those of a program that starts
	note  atomic.Pointer[string] // what was noticed; nil: nothing
	said  atomic.Bool
}

// dial connects, and takes note of a connect that was refused or slow.
func (b *backlog) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	var d net.Dialer
	begun := time.Now() //clock:outside a socket of the handler
	nc, err := d.DialContext(ctx, network, addr)
	if took := time.Since(begun); b.ready.Load() { //clock:outside a socket of the handler
		switch {
		case errors.Is(err, syscall.ECONNREFUSED):
			b.take("it refused a connection while it runs")
		case err == nil && took >= slowConnect:
			b.take(fmt.Sprintf("it took %v to accept a connection", took.Round(100*time.Millisecond)))
		}
	}
	return nc, err
}

func (b *backlog) take(note string) { b.note.CompareAndSwap(nil, &note) }

// say tells what was noticed, once.
func (b *backlog) say(log func(call.Log)) {
	if note := b.note.Load(); note != nil && !b.said.Swap(true) {
		log(call.Log{Level: call.Warning, Message: "the custom handler accepts connections too slowly: " + *note +
			"; give its server a longer backlog (in Python: request_queue_size = 128), or lower the concurrency of the trigger in host.json"})
	}
}
