package bus

import (
	"fmt"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

// request is the body of a request. The first argument that is not as it should be
// is kept in err; operations look at it before they do anything.
type request struct {
	args wire.Map
	link string // for which the client speaks; empty: it names none
	left int    // room for the list of the answer, in bytes
	txn  []byte // the transaction that it is part of; nil: none
	err  error
}

// fits takes the room of one more element of the answer's list, and reports whether
// there was enough: what does not fit is asked for again. The first element is not
// refused: a link takes a message of its entity's maximum size.
func (r *request) fits(first bool, size int) bool {
	const frame = 128 // of an element: keys, lock token
	r.left -= size + frame
	return first || r.left >= 0
}

func argumentf(format string, args ...any) error {
	return messaging.NewError(messaging.ConditionArgumentError, fmt.Sprintf(format, args...))
}

func (r *request) fail(key string, v any, want string) {
	if r.err == nil {
		r.err = argumentf("%s is a %T: want %s", key, v, want)
	}
}

func (r *request) integer(key string) int64 {
	v := r.args.Get(key)
	n, ok := integer(v)
	if !ok {
		r.fail(key, v, "an integer")
	}
	return n
}

// count is an integer that need not be there.
func (r *request) count(key string, otherwise int) int {
	if r.args.Get(key) == nil {
		return otherwise
	}
	n := r.integer(key)
	if n < 0 || n > 1<<31-1 {
		r.fail(key, n, "a count")
		return 0
	}
	return int(n)
}

func (r *request) text(key string) string {
	v := r.args.Get(key)
	s, ok := v.(string)
	if !ok {
		r.fail(key, v, "a string")
	}
	return s
}

// optionalText is a string that need not be there.
func (r *request) optionalText(key string) *string {
	if r.args.Get(key) == nil {
		return nil
	}
	s := r.text(key)
	return &s
}

func (r *request) moment(key string) time.Time {
	v := r.args.Get(key)
	t, ok := v.(wire.Timestamp)
	if !ok {
		r.fail(key, v, "a timestamp")
	}
	return t.Time()
}

// each calls f with the elements of an array or a list.
func (r *request) each(key string, f func(v any) bool, want string) {
	var items wire.List
	switch v := r.args.Get(key).(type) {
	case *wire.Array:
		items = v.Items
	case wire.List:
		items = v
	default:
		r.fail(key, v, want)
		return
	}
	for _, v := range items {
		if !f(v) {
			r.fail(key, v, want)
			return
		}
	}
}

func (r *request) tokens(key string) (list []bindings.GUID) {
	r.each(key, func(v any) bool {
		u, ok := v.(wire.UUID)
		list = append(list, bindings.GUID(u))
		return ok
	}, "an array of uuids")
	return list
}

func (r *request) numbers(key string) (list []int64) {
	r.each(key, func(v any) bool {
		n, ok := integer(v)
		list = append(list, n)
		return ok
	}, "an array of longs")
	return list
}
