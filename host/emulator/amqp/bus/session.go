package bus

import (
	"slices"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/amqp"
	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

const (
	sessionFilter      = "com.microsoft:session-filter"
	nonExclusiveFilter = "com.microsoft:non-exclusive-session-filter:list"

	linkTimeout    = "com.microsoft:timeout"
	lockedUntilUTC = "com.microsoft:locked-until-utc"

	// sessionWait is how long a client that does not say so waits for a session.
	sessionWait = time.Minute
)

func filterKey(e wire.Entry, name string) bool {
	switch k := e.Key.(type) {
	case wire.Symbol:
		return strings.EqualFold(string(k), name)
	case string:
		return strings.EqualFold(k, name)
	}
	return false
}

func sessionEntry(filter wire.Map) int {
	return slices.IndexFunc(filter, func(e wire.Entry) bool { return filterKey(e, sessionFilter) })
}

func hasSessionFilter(filter wire.Map) bool { return sessionEntry(filter) >= 0 }

// session is the node of a client that receives from one session: the one that its
// filter names, or the next that is free. It waits for that.
func (b *Backend) session(path servicebus.Path, r *amqp.AttachRequest) (*amqp.Grant, error) {
	opts := servicebus.SessionOptions{ReceiverOptions: receiverOptions(r), Wait: sessionWait}
	at := sessionEntry(r.Filter)
	value := r.Filter[at].Value
	described, _ := value.(*wire.Described)
	if described != nil {
		value = described.Value
	}
	switch id := value.(type) {
	case nil:
	case string:
		opts.SessionID = &id
	default:
		return nil, wire.Errorf(wire.CondInvalidField, "the session filter is a %T", id)
	}
	if ms, ok := integer(r.Properties.Get(linkTimeout)); ok {
		opts.Wait = time.Duration(max(ms, 0)) * time.Millisecond
	}
	ctx, cancel := b.clk.WithCancel(background)
	defer cancel()
	r.OnGone(func() { b.clk.Inside("AMQP detach", cancel) })
	session, err := b.ns.AcceptSession(ctx, path.String(), &opts)
	r.OnGone(nil)
	if err != nil {
		return nil, err
	}
	grant, err := b.serve(session, r)
	if err != nil {
		return nil, err
	}
	b.holders.put(holder{r.Connection, r.Name}, hold{session, opts.Mode})
	// The filter comes back in the client's form, with the name of the session.
	grant.Filter = slices.Clone(r.Filter)
	grant.Filter[at].Value = session.SessionID()
	if described != nil {
		grant.Filter[at].Value = &wire.Described{Descriptor: described.Descriptor, Value: session.SessionID()}
	}
	grant.Properties = wire.Map{{Key: wire.Symbol(lockedUntilUTC), Value: ticks(session.LockedUntil())}}
	return grant, nil
}

// integer is a number of any integer type that fits.
func integer(v any) (int64, bool) {
	switch v := v.(type) {
	case int8:
		return int64(v), true
	case int16:
		return int64(v), true
	case int32:
		return int64(v), true
	case int64:
		return v, true
	case uint8:
		return int64(v), true
	case uint16:
		return int64(v), true
	case uint32:
		return int64(v), true
	case uint64:
		if int64(v) < 0 {
			return 0, false
		}
		return int64(v), true
	default:
		return 0, false
	}
}
