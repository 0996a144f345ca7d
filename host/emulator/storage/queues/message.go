package queues

import (
	"cmp"
	"encoding/base64"
	"time"

	"github.com/redeliver/redeliver/bindings"
	queueapi "github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/host/clock"
)

// message is one message of a queue. Queues of a million are common, so it is small: what
// can be made when somebody asks, its identifier in letters and its times, is not kept.
type message struct {
	text    string
	id      bindings.GUID
	receipt popReceipt

	seconds     [moments]int64 // since 1970
	nanoseconds [moments]int32

	count   int32  // dequeues
	arrived bool   // was announced, or received before that
	order   uint64 // among messages that became visible at one instant

	sequence uint64        // of insertion
	lock     time.Duration // visibility timeout of the last receive; 0: not received, or released since
	arrival  *clock.Timer  // announces it, while it is still to come

	byVisible, byExpiry int // places in the heaps
}

// moment is one of the times of a message.
type moment int

const (
	inserted moment = iota
	expires         // zero: never
	visible         // since or from when
	moments
)

// at returns a time of the message as it was set: in UTC.
func (m *message) at(which moment) time.Time {
	return time.Unix(m.seconds[which], int64(m.nanoseconds[which])).UTC()
}

func (m *message) set(which moment, t time.Time) {
	m.seconds[which], m.nanoseconds[which] = t.Unix(), int32(t.Nanosecond())
}

// compare says whether a time of m is before (-1), at or after the same time of o.
func (m *message) compare(o *message, which moment) int {
	return cmp.Or(cmp.Compare(m.seconds[which], o.seconds[which]), cmp.Compare(m.nanoseconds[which], o.nanoseconds[which]))
}

func (m *message) copy() *queueapi.Message {
	return &queueapi.Message{
		ID: m.id.String(), Text: m.text, PopReceipt: m.receipt.String(), DequeueCount: int64(m.count),
		Inserted: m.at(inserted), Expires: m.at(expires), NextVisible: m.at(visible),
	}
}

// popReceipt is a receipt as it is kept.
type popReceipt [16]byte

// String returns opaque text with characters that a URL must escape, as the service's
// receipts have.
func (r popReceipt) String() string { return base64.StdEncoding.EncodeToString(r[:]) }

// parse reads what String returned.
func (r *popReceipt) parse(text string) bool {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(b) != len(r) {
		return false
	}
	*r = popReceipt(b)
	return true
}
