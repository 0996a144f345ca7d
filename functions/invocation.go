package functions

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/retrycontext"
)

// Invocation describes the attempt that runs.
type Invocation struct {
	// ID is the same for all attempts of one delivery. HTTP and admin calls have
	// a new one for each attempt.
	ID string
	// Function is the name of the function.
	Function string
	// MessageID is the source's identifier of the message; empty where it has none, and
	// for a batch. A property "id" of the body takes its place in Metadata, not here.
	MessageID string
	// DeliveryCount says how often the service has handed this message out, this
	// time included; 0 where the trigger has no such count. It is not the retry
	// count: see Retry.
	DeliveryCount int64
	// Metadata is the trigger metadata.
	Metadata Metadata
	// Retry says where the attempt stands within its delivery: nil without a
	// retry policy, present from the first attempt on with one.
	Retry *retrycontext.Context
	// Deadline is when the function timeout ends the attempt, in the host's time;
	// zero for never. The context ends by itself; it has no deadline of its own,
	// because the host's time need not be the wall's.
	Deadline time.Time
	// Now is the host's time at the start of the attempt. Under the test kit that
	// is not the wall's time.
	Now time.Time
	// TraceParent and TraceState are W3C trace context, often empty.
	TraceParent, TraceState string
}

// Metadata is trigger metadata under Azure's names ("DequeueCount", "Id"),
// together with the top-level members of a JSON message.
type Metadata map[string]bindings.Value

// Get returns the entry of that name as text, ignoring case, without the quotes
// of a JSON string; "" if there is none. An exact match wins over another case.
func (m Metadata) Get(name string) string {
	if v, ok := m[name]; ok {
		if v.Kind == bindings.String {
			return v.Text
		}
		return valueText(v)
	}
	for k, v := range m {
		if strings.EqualFold(k, name) {
			return valueText(v)
		}
	}
	return ""
}

// FromContext returns the invocation of a handler's context, nil in any other
// context. Do not change what it points to.
func FromContext(ctx context.Context) *Invocation {
	if c := current(ctx); c != nil {
		return c.shown()
	}
	return nil
}

// Retry returns the retry context of a handler's context. It is nil without a
// retry policy, and in any other context.
func Retry(ctx context.Context) *retrycontext.Context {
	if c := current(ctx); c != nil {
		return c.request.Retry
	}
	return nil
}

// Sleep waits for d in the host's time: under the virtual clock of a test, or of
// "redeliver start --clock auto", fifteen minutes take microseconds. A
// time.Sleep would wait for real, and hold up that clock.
//
// It returns early with an error when ctx or the attempt ends. The sleeps of one
// attempt are served one after the other, also when several goroutines ask.
// Outside an invocation it waits in real time.
func Sleep(ctx context.Context, d time.Duration) error {
	c := current(ctx)
	if c == nil {
		return realSleep(ctx, d)
	}
	if c.over() {
		return errOver
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return c.link.Sleep(ctx, max(d, 0))
}

func realSleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// GetInput returns an input binding by name, ignoring case; the trigger counts as
// one. It reports whether there is one of that name.
func GetInput(ctx context.Context, name string) (Input, bool) {
	if c := current(ctx); c != nil {
		for _, in := range c.request.Inputs {
			if strings.EqualFold(in.Name, name) {
				return Input{Name: in.Name, Value: in.Value}, true
			}
		}
	}
	return Input{}, false
}

var errOver = errors.New("the attempt is over")

// invocation is one attempt in work, the state behind the accessors.
type invocation struct {
	ctx     handlerContext
	request *call.Request
	link    Link
	http    bool

	mu      sync.Mutex
	public  *Invocation // once the author has asked for it
	ended   bool        // the handler returned: what its goroutines still ask for is refused
	failure error
	answer  call.Response // as far as it is known
	told    call.Error    // what failed, once that is known
}

type contextKey struct{}

// handlerContext is the context of a handler. It is part of its invocation, which it
// leads to.
type handlerContext struct {
	context.Context
	of *invocation
}

// Value implements context.Context.
func (c *handlerContext) Value(key any) any {
	if _, ours := key.(contextKey); ours {
		return c.of
	}
	return c.Context.Value(key)
}

func current(ctx context.Context) *invocation {
	if ctx == nil {
		return nil
	}
	c, _ := ctx.Value(contextKey{}).(*invocation)
	return c
}

func newInvocation(ctx context.Context, r *call.Request, link Link, http bool) *invocation {
	c := &invocation{ctx: handlerContext{Context: ctx}, request: r, link: link, http: http}
	c.ctx.of = c
	return c
}

// shown is what the author may see.
func (c *invocation) shown() *Invocation {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.request; c.public == nil {
		c.public = &Invocation{
			ID:        r.InvocationID,
			Function:  r.Function,
			MessageID: r.MessageID, DeliveryCount: r.DeliveryCount,
			Metadata:    r.Metadata,
			Retry:       r.Retry,
			Deadline:    r.Deadline,
			Now:         r.Now,
			TraceParent: r.TraceParent,
			TraceState:  r.TraceState,
		}
	}
	return c.public
}

func (c *invocation) over() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}
