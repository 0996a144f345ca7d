package eventgrid

import "context"

// A Sender is what the headers of a request do not tell of the events in it: two topics
// may have subscriptions of one name, and publishers give events the ids that they like.
type Sender struct {
	Source  string  // topic and subscription
	Numbers []int64 // of the events, in their order
}

type senderKey struct{}

// WithSender returns a context for [Listener.Serve] that tells who sends. Without it a
// delivery's source is the subscription that the headers name.
func WithSender(ctx context.Context, s Sender) context.Context {
	return context.WithValue(ctx, senderKey{}, s)
}
