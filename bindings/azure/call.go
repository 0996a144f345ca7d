package azure

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
)

// call makes a call that waits for the service, in the way of the options.
func (o *Options) call(ctx context.Context, f func(ctx context.Context) error) error {
	if o == nil || o.Call == nil {
		return f(ctx)
	}
	return o.Call(ctx, f)
}

// end makes a call that ends the use of something. It succeeds whether the service is
// reached or not, and so it does not tell.
func (o *Options) end(ctx context.Context, f func(ctx context.Context) error) (err error) {
	_ = o.call(ctx, func(ctx context.Context) error {
		err = f(ctx)
		return messaging.ErrClosed
	})
	return err
}

// policies are the policies of a storage client: calls first, which holds the
// repetitions too, then the client's own.
func (o *Options) policies(own ...policy.Policy) []policy.Policy {
	return append([]policy.Policy{calls{o}}, own...)
}

// calls is the policy that makes each request of a storage service a call.
type calls struct{ opts *Options }

func (c calls) Do(req *policy.Request) (resp *http.Response, err error) {
	_ = c.opts.call(req.Raw().Context(), func(ctx context.Context) error {
		resp, err = req.WithContext(ctx).Next()
		return translate(ctx, err) // for who makes the call; the client gets its own
	})
	return resp, err
}

// answerGrace is the wait for an answer that takes something, after its caller has
// given up: only the answer says what to give back.
const answerGrace = 2 * time.Second

// takes is a policy, and the key of the mark in a context, for requests whose answer
// outlives the caller by answerGrace.
type takes struct{}

func (takes) Do(req *policy.Request) (*http.Response, error) {
	ctx := req.Raw().Context()
	if ctx.Value(takes{}) == nil {
		return req.Next()
	}
	longer, end := awaited(ctx)
	defer end()
	return req.WithContext(longer).Next()
}

// awaited returns a context that outlives ctx by answerGrace.
func awaited(ctx context.Context) (longer context.Context, end func()) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		grace := time.AfterFunc(answerGrace, cancel)
		context.AfterFunc(longer, func() { grace.Stop() })
	})
	return longer, func() {
		stop()
		cancel()
	}
}

// line is the way to a messaging service.
type line struct {
	opts *Options
	lost atomic.Bool // the last call has not reached the service
}

func (l *line) call(ctx context.Context, f func(ctx context.Context) error) error {
	err := l.opts.call(ctx, f)
	switch {
	case errors.Is(err, bindings.ErrUnreachable):
		l.lost.Store(true)
	case err == nil, ctx.Err() == nil && !errors.Is(err, messaging.ErrClosed):
		l.lost.Store(false)
	}
	return err
}

// ask makes a call that is answered at once, if the service was not reached lately: one
// that waits does not say that the service is there again.
func (l *line) ask(ctx context.Context, f func(ctx context.Context) error) error {
	if !l.lost.Load() {
		return nil
	}
	if err := f(ctx); errors.Is(err, bindings.ErrUnreachable) || ctx.Err() != nil {
		return err
	}
	return nil
}
