package journal

import (
	"time"
	"unsafe"
)

// kept is a record as the journal keeps it, in a quarter of its room. A journal
// of a million records is most of what a host holds, and writing it is memory
// traffic more than anything else. Its sequence number follows from its place.
type kept struct {
	time     time.Time
	kind     Kind
	subject  *subject
	attempt  int
	delay    time.Duration
	hasDelay bool
	status   string
	err      string
	rest     *rest // nil: nothing
}

// subject is what the records of one delivery have in common.
type subject struct {
	generation    int
	function      string
	trigger       string
	source        string
	delivery      string
	invocation    string
	messageID     string
	deliveryCount int64
	hasPolicy     bool
	maxRetryCount int
}

// rest is what few records have.
type rest struct {
	decision, target, cause, level, message, name string

	fields []Field
	beside Beside
}

// subjects remembers the latest subjects, so that records share them: as many as
// there are deliveries at once, as a rule.
type subjects [64]*subject

// of returns a subject that equals want.
func (s *subjects) of(want *subject) *subject {
	slot := &s[want.hash()%uint(len(s))]
	if *slot == nil || **slot != *want {
		shared := *want
		*slot = &shared
	}
	return *slot
}

// hash is the same for equal subjects. Neighbouring deliveries differ in the end
// of their names.
func (s *subject) hash() uint {
	h := uint(0)
	for i := max(len(s.delivery)-8, 0); i < len(s.delivery); i++ {
		h = h*10 + uint(s.delivery[i])
	}
	if s.invocation != "" {
		h += 32 // the record of its beginning stays beside those of its attempts
	}
	return h
}

func (j *Journal) keepLocked(r *Record, now time.Time) kept {
	k := kept{
		time: now, kind: r.Kind, attempt: r.Attempt, delay: r.Delay, hasDelay: r.HasDelay,
		status: r.Status, err: r.Error,
		subject: j.subjects.of(&subject{
			generation: r.Generation, function: r.Function, trigger: r.Trigger, source: r.Source,
			delivery: r.Delivery, invocation: r.Invocation, messageID: r.MessageID, deliveryCount: r.DeliveryCount,
			hasPolicy: r.HasPolicy, maxRetryCount: r.MaxRetryCount,
		}),
	}
	if r.Decision != "" || r.Target != "" || r.Cause != "" || r.Level != "" || r.Message != "" || r.Name != "" ||
		r.Fields != nil || r.Beside != (Beside{}) {
		k.rest = &rest{
			decision: r.Decision, target: r.Target, cause: r.Cause, level: r.Level, message: r.Message, name: r.Name,
			fields: r.Fields, beside: r.Beside,
		}
	}
	return k
}

// size is about the memory that a record takes. What it shares with others counts for
// each.
func (k *kept) size() int {
	s := k.subject
	n := int(unsafe.Sizeof(*k)) + len(k.err) + len(s.function) + len(s.source) + len(s.delivery) + len(s.invocation) + len(s.messageID)
	if x := k.rest; x != nil {
		n += int(unsafe.Sizeof(*x)) + len(x.target) + len(x.cause) + len(x.message) + len(x.name) + len(x.beside.Stack) + len(x.beside.Detail)
		for _, f := range x.fields {
			n += int(unsafe.Sizeof(f)) + len(f.Key) + len(f.Value)
		}
	}
	return n
}

// loadLocked sets r to the record of a sequence number that is kept.
func (j *Journal) loadLocked(r *Record, seq uint64) {
	i := int(seq - j.base)
	k := &j.chunks[i/chunkSize][i%chunkSize]
	s := k.subject
	r.Seq, r.Time, r.Kind = seq, k.time, k.kind
	r.Generation, r.Function, r.Trigger, r.Source = s.generation, s.function, s.trigger, s.source
	r.Delivery, r.Invocation, r.MessageID, r.DeliveryCount = s.delivery, s.invocation, s.messageID, s.deliveryCount
	r.Attempt, r.HasPolicy, r.MaxRetryCount = k.attempt, s.hasPolicy, s.maxRetryCount
	r.Delay, r.HasDelay, r.Status, r.Error = k.delay, k.hasDelay, k.status, k.err
	var x rest
	if k.rest != nil {
		x = *k.rest
	}
	r.Decision, r.Target, r.Cause, r.Level, r.Message, r.Name = x.decision, x.target, x.cause, x.level, x.message, x.name
	r.Fields, r.Beside = x.fields, x.beside
}
