package azure

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2/queueerror"

	"github.com/redeliver/redeliver/bindings"
	queueapi "github.com/redeliver/redeliver/bindings/queue"
)

// Options changes how a service is reached. A nil *Options and the zero value
// are the SDK's defaults.
type Options struct {
	// HTTPClient makes the requests; nil for the SDK's own.
	HTTPClient *http.Client

	// Retries is how often the SDK repeats a request that failed with 408, 429 or
	// 5xx, or below HTTP: 0 for its default of 3, negative for never.
	Retries int

	// Call, if set, makes each call that waits for the service: it runs f once, with ctx
	// or a context that ends sooner, and returns f's error. On a virtual clock it leaves
	// the clock meanwhile. f's error says whether the service was reached:
	// bindings.ErrUnreachable that it was not, messaging.ErrClosed that it was not asked,
	// anything else that it was.
	Call func(ctx context.Context, f func(ctx context.Context) error) error
}

func (o *Options) client() *azqueue.ClientOptions {
	out := &azqueue.ClientOptions{}
	out.PerCallPolicies = o.policies(takes{}, withoutText{})
	if o == nil {
		return out
	}
	if o.HTTPClient != nil {
		out.Transport = o.HTTPClient
	}
	out.Retry.MaxRetries = int32(o.Retries)
	return out
}

// QueueAccount is the queue service of an account that is reached through the
// Azure SDK. It implements queue.Account.
type QueueAccount struct{ service *azqueue.ServiceClient }

var _ queueapi.Account = (*QueueAccount)(nil)

// NewQueueAccount returns the queues that a connection string names.
// UseDevelopmentStorage=true is the emulator's account on 127.0.0.1, port 10001.
// Nothing is sent before the first call.
func NewQueueAccount(connectionString string, opts *Options) (*QueueAccount, error) {
	c, err := ParseConnectionString(connectionString)
	if err != nil {
		return nil, err
	}
	if c.QueueEndpoint == "" {
		return nil, errors.New("connection string: QueueEndpoint is missing")
	}
	if c.SAS != "" {
		service, err := azqueue.NewServiceClientWithNoCredential(c.QueueEndpoint+"/?"+c.SAS, opts.client())
		if err != nil {
			return nil, errors.New("connection string: SharedAccessSignature is not the query of an address")
		}
		return &QueueAccount{service}, nil
	}
	cred, err := azqueue.NewSharedKeyCredential(c.Account, c.Key)
	if err != nil {
		return nil, err
	}
	service, err := azqueue.NewServiceClientWithSharedKeyCredential(c.QueueEndpoint+"/", cred, opts.client())
	if err != nil {
		return nil, err
	}
	return &QueueAccount{service}, nil
}

// NewQueueAccountWithCredential returns the queues at an address such as
// https://account.queue.core.windows.net, to be reached with an identity. The
// SDK sends tokens over HTTPS only.
func NewQueueAccountWithCredential(serviceURL string, cred azcore.TokenCredential, opts *Options) (*QueueAccount, error) {
	if _, err := parseEndpoint("queueServiceUri", serviceURL); err != nil {
		return nil, err
	}
	service, err := azqueue.NewServiceClient(serviceURL, cred, opts.client())
	if err != nil {
		return nil, err
	}
	return &QueueAccount{service}, nil
}

// Queue returns a handle on the queue of that name.
func (a *QueueAccount) Queue(name string) queueapi.Queue {
	q := &queue{name: name, nameErr: queueapi.ValidateName(name)}
	if q.nameErr == nil {
		q.client = a.service.NewQueueClient(name)
	}
	return q
}

// Queues lists the names of all queues, sorted.
func (a *QueueAccount) Queues(ctx context.Context) ([]string, error) {
	var names []string
	for pager := a.service.NewListQueuesPager(nil); pager.More(); {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list queues: %w", translate(ctx, err))
		}
		for _, q := range page.Queues {
			if q.Name != nil {
				names = append(names, *q.Name)
			}
		}
	}
	slices.Sort(names)
	return names, nil
}

// queue is a handle on one queue.
type queue struct {
	name    string
	nameErr error
	client  *azqueue.QueueClient // nil if the name is bad
}

func (q *queue) Name() string { return q.name }

// call runs f unless there is no use in it, and says whose error it is.
func (q *queue) call(ctx context.Context, f func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if q.nameErr != nil {
		return q.nameErr
	}
	err := translate(ctx, f())
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return err
	}
	return fmt.Errorf("queue %q: %w", q.name, err)
}

func (q *queue) Create(ctx context.Context) error {
	return q.call(ctx, func() error {
		_, err := q.client.Create(ctx, nil)
		if queueerror.HasCode(err, queueerror.QueueAlreadyExists) {
			return nil // with other metadata
		}
		return err
	})
}

func (q *queue) Exists(ctx context.Context) (bool, error) {
	err := q.call(ctx, func() error {
		_, err := q.client.GetProperties(ctx, nil)
		return err
	})
	if errors.Is(err, bindings.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

func (q *queue) DeleteQueue(ctx context.Context) error {
	return q.call(ctx, func() error {
		_, err := q.client.Delete(ctx, nil)
		return err
	})
}

func (q *queue) Put(ctx context.Context, text string, opts *queueapi.PutOptions) (out *queueapi.Message, err error) {
	o := queueapi.PutOptions{}
	if opts != nil {
		o = *opts
	}
	if o.TTL == 0 {
		o.TTL = queueapi.DefaultMessageTTL
	}
	ttl := int32(-1)
	if o.TTL != queueapi.NeverExpires {
		if ttl, err = seconds("time to live", o.TTL, time.Second, maxTTL); err != nil {
			return nil, err
		}
		if o.Visibility >= o.TTL {
			return nil, fmt.Errorf("%w: visibility timeout %v: want less than the time to live %v", bindings.ErrOutOfRange, o.Visibility, o.TTL)
		}
	}
	visibility, err := seconds("visibility timeout", o.Visibility, 0, queueapi.MaxVisibilityTimeout)
	if err != nil {
		return nil, err
	}
	if err := checkText(text); err != nil {
		return nil, err
	}
	err = q.call(ctx, func() error {
		r, err := q.client.EnqueueMessage(ctx, text, &azqueue.EnqueueMessageOptions{TimeToLive: &ttl, VisibilityTimeout: &visibility})
		if err != nil {
			return err
		}
		if len(r.Messages) != 1 {
			return fmt.Errorf("the answer to a put has %d messages", len(r.Messages))
		}
		m := r.Messages[0]
		out = &queueapi.Message{
			ID: value(m.MessageID), Text: text, PopReceipt: value(m.PopReceipt),
			Inserted: value(m.InsertionTime), Expires: expiry(m.ExpirationTime), NextVisible: value(m.TimeNextVisible),
		}
		return nil
	})
	return out, err
}

func (q *queue) Receive(ctx context.Context, n int, visibility time.Duration) (out []*queueapi.Message, err error) {
	if err := checkCount(n); err != nil {
		return nil, err
	}
	s, err := seconds("visibility timeout", visibility, time.Second, queueapi.MaxVisibilityTimeout)
	if err != nil {
		return nil, err
	}
	count := int32(n)
	err = q.call(ctx, func() error {
		r, err := q.client.DequeueMessages(context.WithValue(ctx, takes{}, true), &azqueue.DequeueMessagesOptions{NumberOfMessages: &count, VisibilityTimeout: &s})
		for _, m := range r.Messages {
			out = append(out, &queueapi.Message{
				ID: value(m.MessageID), Text: value(m.MessageText), PopReceipt: value(m.PopReceipt), DequeueCount: value(m.DequeueCount),
				Inserted: value(m.InsertionTime), Expires: expiry(m.ExpirationTime), NextVisible: value(m.TimeNextVisible),
			})
		}
		return err
	})
	return out, err
}

func (q *queue) Peek(ctx context.Context, n int) (out []*queueapi.Message, err error) {
	if err := checkCount(n); err != nil {
		return nil, err
	}
	count := int32(n)
	err = q.call(ctx, func() error {
		r, err := q.client.PeekMessages(ctx, &azqueue.PeekMessagesOptions{NumberOfMessages: &count})
		for _, m := range r.Messages {
			out = append(out, &queueapi.Message{
				ID: value(m.MessageID), Text: value(m.MessageText), DequeueCount: value(m.DequeueCount),
				Inserted: value(m.InsertionTime), Expires: expiry(m.ExpirationTime),
			})
		}
		return err
	})
	return out, err
}

// Update returns a message that has what the service answers: ID, PopReceipt
// and NextVisible, and the text if it was given.
func (q *queue) Update(ctx context.Context, id, popReceipt string, text *string, visibility time.Duration) (out *queueapi.Message, err error) {
	s, err := seconds("visibility timeout", visibility, 0, queueapi.MaxVisibilityTimeout)
	if err != nil {
		return nil, err
	}
	var send string
	sending := ctx
	if text == nil {
		sending = context.WithValue(ctx, withoutText{}, true)
	} else {
		send = *text
		if err := checkText(send); err != nil {
			return nil, err
		}
	}
	err = q.call(ctx, func() error {
		r, err := q.client.UpdateMessage(sending, url.PathEscape(id), popReceipt, send, &azqueue.UpdateMessageOptions{VisibilityTimeout: &s})
		if err != nil {
			return err
		}
		out = &queueapi.Message{ID: id, Text: send, PopReceipt: value(r.PopReceipt), NextVisible: value(r.TimeNextVisible)}
		return nil
	})
	return out, err
}

func (q *queue) Delete(ctx context.Context, id, popReceipt string) error {
	return q.call(ctx, func() error {
		_, err := q.client.DeleteMessage(ctx, url.PathEscape(id), popReceipt, nil)
		return err
	})
}

func (q *queue) Clear(ctx context.Context) error {
	return q.call(ctx, func() error {
		_, err := q.client.ClearMessages(ctx, nil)
		return err
	})
}

func (q *queue) Count(ctx context.Context) (n int, err error) {
	err = q.call(ctx, func() error {
		r, err := q.client.GetProperties(ctx, nil)
		n = int(value(r.ApproximateMessagesCount))
		return err
	})
	return n, err
}

// withoutText is a policy, and the key of the mark in a context that asks for
// it: the SDK's update always sends a text, and an update that sends none leaves
// the message's text alone (docs: Update Message).
type withoutText struct{}

func (withoutText) Do(req *policy.Request) (*http.Response, error) {
	if req.Raw().Context().Value(withoutText{}) != nil {
		if err := req.SetBody(nil, ""); err != nil {
			return nil, err
		}
		req.Raw().GetBody = nil
	}
	return req.Next()
}

// maxTTL is the longest life that the SDK can ask for, 68 years.
const maxTTL = (1<<31 - 1) * time.Second

// seconds returns d in whole seconds, as the wire has it; parts of a second
// count as one.
func seconds(what string, d, least, most time.Duration) (int32, error) {
	if d < least || d > most {
		return 0, fmt.Errorf("%w: %s %v: want %v to %v", bindings.ErrOutOfRange, what, d, least, most)
	}
	return int32((d + time.Second - 1) / time.Second), nil
}

func checkCount(n int) error {
	if n < 1 || n > queueapi.MaxReceive {
		return fmt.Errorf("%w: number of messages %d: want 1 to %d", bindings.ErrOutOfRange, n, queueapi.MaxReceive)
	}
	return nil
}

// checkText refuses what XML cannot hold: the SDK would replace it silently.
func checkText(text string) error {
	for i, r := range text {
		switch {
		case r == utf8.RuneError:
			if _, size := utf8.DecodeRuneInString(text[i:]); size == 3 {
				continue // the character itself
			}
		case r >= ' ' && r != 0xFFFE && r != 0xFFFF, r == '\t', r == '\n', r == '\r':
			continue
		}
		return fmt.Errorf("text has %q at byte %d, which a queue message cannot hold: encode it, for example in base64", text[i:min(i+1, len(text))], i)
	}
	return nil
}

// expiry returns a message's expiry; zero for the date that means never.
func expiry(t *time.Time) time.Time {
	if t == nil || t.Year() >= 9999 {
		return time.Time{}
	}
	return t.UTC()
}

func value[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}
