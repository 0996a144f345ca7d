package queue

import (
	"context"
	"strings"

	"github.com/redeliver/redeliver/bindings/queue"
	trigger "github.com/redeliver/redeliver/triggers/queue"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/kinds"
	"github.com/redeliver/redeliver/schemas"
)

// Output is the queue output.
func Output() kinds.Binding {
	out := []string{"out"}
	return kinds.Binding{
		BindingKind: app.BindingKind{Type: "queue", Odd: app.LateDirections, Of: "Queue storage", Directions: out, Served: out, Connection: "Storage", Validate: kinds.Early(badName), Warn: kinds.Late(badName)},
		Output:      newOutput,
	}
}

// badName checks a constant name. One with expressions is checked when it is used (spec
// storage 2).
func badName(b *app.Binding) []*schemas.Fault {
	name := b.String("queueName")
	template, err := bindings.ParseTemplate(name)
	if err == nil && template.IsConstant() {
		err = queue.ValidateName(strings.ToLower(name))
	}
	if err == nil {
		return nil
	}
	return []*schemas.Fault{{
		Path: b.PathOf("queueName"), Found: schemas.Quote(name), Allowed: "3 to 63 letters, digits and single dashes",
		Reason: err.Error(), Kind: schemas.KindArgument,
	}}
}

// output puts messages on a queue.
type output struct {
	watcher  *trigger.Watcher
	account  queue.Account
	name     *bindings.Template
	err      error // of a name that is looked at when it is used; then name is nil
	encoding queue.Encoding
}

func newOutput(f *kinds.Function, b *app.Binding) (kinds.Output, error) {
	account, err := f.Queues(b.Connection)
	if err != nil {
		return nil, err
	}
	name, err := bindings.ParseTemplate(b.String("queueName"))
	if err != nil && !kinds.IsLate(f.App()) {
		return nil, err
	}
	return &output{watcher: f.Watcher, account: account, name: name, err: err, encoding: Encoding(f.App())}, nil
}

// Write sends one message for each element of the value. A queue that does not
// exist is made (spec storage 11).
func (o *output) Write(ctx context.Context, a kinds.Attempt, v bindings.Value) error {
	if o.err != nil {
		return o.err
	}
	name, err := o.name.Resolve(a.Data())
	if err != nil {
		return err
	}
	if name, err = queue.Name(name); err != nil {
		return err
	}
	bodies, err := bindings.MessagesFrom(v)
	if err != nil {
		return err
	}
	q := o.account.Queue(name)
	for _, body := range bodies {
		if _, err := queue.PutOrCreate(ctx, q, o.encoding.Encode(body), nil); err != nil {
			return err
		}
		o.watcher.Notify(name)
	}
	return nil
}

// Encoding is the encoding of the app's queue messages, checked when it was
// loaded.
func Encoding(a *app.App) queue.Encoding {
	encoding, err := queue.ParseEncoding(a.Config.Queues.MessageEncoding)
	if err != nil {
		panic(err)
	}
	return encoding
}
