package journal

import (
	"math"
	"time"
	"unsafe"
)

// kept is a record as the journal keeps it, in 32 bytes without a pointer. A journal
// of a million records is most of a host's memory, and writing it is mainly memory
// traffic; the garbage collector passes over records without pointers. The sequence
// number follows from the place; texts stand in the chunk, by index.
type kept struct {
	since    time.Duration // after the chunk's begin
	delay    time.Duration
	attempt  int32
	subject  uint16
	text     uint16 // of the error; never less than of the record before, if not 0
	rest     uint16
	kind     uint8 // one of the journal's words, as is status
	status   uint8
	hasDelay bool
}

// chunk holds chunkSize records in a row. The first text and the first rest belong
// to records without one.
type chunk struct {
	first    uint64 // sequence number of its first record
	begin    time.Time
	latest   time.Time // of its last record
	list     []kept
	subjects []*subject
	texts    []string
	rests    []*rest
}

func newChunk(first uint64, begin time.Time) *chunk {
	return &chunk{
		first: first, begin: begin.Round(0), list: make([]kept, 0, chunkSize),
		texts: []string{""}, rests: []*rest{{}},
	}
}

// since returns the time after the chunk's begin. Many records have the time of the
// previous one.
func (c *chunk) since(now time.Time) time.Duration {
	if n := len(c.list); n > 0 && now == c.latest {
		return c.list[n-1].since
	}
	c.latest = now
	return now.Sub(c.begin)
}

// subject holds the fields that all records of one delivery share.
type subject struct {
	app           string
	generation    int
	function      string
	trigger       string
	source        string
	service       string
	delivery      string
	invocation    string
	messageID     string
	messageNumber int64
	deliveryCount int64
	hasPolicy     bool
	maxRetryCount int
}

// rest holds the fields that few records have.
type rest struct {
	decision, target, cause, level, message, name string

	fields []Field
	beside Beside

	misfits *misfits
}

// misfits are the values of a record that do not fit into kept.
type misfits struct {
	time         time.Time
	kind, status string
	attempt      int
}

// subjects remembers the latest subjects, so that records share them: as many as
// there are deliveries at once, as a rule.
type subjects [64]struct {
	*subject
	in    uint64 // number of the latest chunk that has it
	index uint16 // there
}

// of returns the index in c of a subject that equals want.
func (s *subjects) of(c *chunk, want *subject) uint16 {
	slot := &s[want.hash()%uint(len(s))]
	if slot.subject == nil || *slot.subject != *want {
		shared := *want
		slot.subject, slot.in = &shared, 0
	}
	if slot.in != c.first {
		slot.in, slot.index = c.first, uint16(len(c.subjects))
		c.subjects = append(c.subjects, slot.subject)
	}
	return slot.index
}

// words are the kinds and states that records have had, in order of appearance.
type words []word

type word struct {
	text   string
	latest uint64 // sequence number of the latest record of that kind
}

// mostWords is how many of them are remembered.
const mostWords = math.MaxUint8 + 1

// of returns the index of a word; it adds one that is new, if there is room.
func (w *words) of(text string) (index uint8, ok bool) {
	i := w.find(text)
	switch {
	case i >= 0:
		return uint8(i), true
	case len(*w) == mostWords:
		return 0, false
	}
	*w = append(*w, word{text: text})
	return uint8(len(*w) - 1), true
}

// find returns the index of a word, -1 if it is not there.
func (w words) find(text string) int {
	for i := range w {
		if w[i].text == text {
			return i
		}
	}
	return -1
}

// latest returns a sequence number after which there is no record of a kind.
func (w words) latest(kind Kind) uint64 {
	i := w.find(string(kind))
	switch {
	case i >= 0:
		return w[i].latest
	case len(w) == mostWords:
		return math.MaxUint64 // there may be
	}
	return 0
}

// forget says that there are no records.
func (w words) forget() {
	for i := range w {
		w[i].latest = 0
	}
}

// hash is the same for equal subjects. Neighbouring deliveries differ in the end
// of their names.
func (s *subject) hash() uint {
	h := uint(0)
	for i := max(len(s.delivery)-8, 0); i < len(s.delivery); i++ {
		h = h*10 + uint(s.delivery[i])
	}
	if s.invocation != "" {
		h += 32 // the record of its beginning stays beside the records of its attempts
	}
	return h
}

// keepLocked appends r to c and returns what it takes.
func (j *Journal) keepLocked(c *chunk, r *Record, now time.Time) int {
	k := kept{
		since: c.since(now), delay: r.Delay, hasDelay: r.HasDelay, attempt: int32(r.Attempt),
		subject: j.subjects.of(c, &subject{
			app: r.App, generation: r.Generation, function: r.Function, trigger: r.Trigger, source: r.Source, service: r.Service,
			delivery: r.Delivery, invocation: r.Invocation, messageID: r.MessageID, messageNumber: r.MessageNumber, deliveryCount: r.DeliveryCount,
			hasPolicy: r.HasPolicy, maxRetryCount: r.MaxRetryCount,
		}),
	}
	var kindOK, statusOK bool
	if k.kind, kindOK = j.words.of(string(r.Kind)); kindOK {
		j.words[k.kind].latest = j.next
	}
	k.status, statusOK = j.words.of(r.Status)
	if r.Error != "" {
		if last := len(c.texts) - 1; c.texts[last] == r.Error {
			k.text = uint16(last)
		} else {
			k.text = uint16(len(c.texts))
			c.texts = append(c.texts, r.Error)
		}
	}
	fits := kindOK && statusOK && k.since != math.MaxInt64 && k.since != math.MinInt64 &&
		now.Location() == c.begin.Location() && int(k.attempt) == r.Attempt
	if !fits || r.Decision != "" || r.Target != "" || r.Cause != "" || r.Level != "" || r.Message != "" || r.Name != "" ||
		r.Fields != nil || r.Beside != (Beside{}) {
		x := &rest{
			decision: r.Decision, target: r.Target, cause: r.Cause, level: r.Level, message: r.Message, name: r.Name,
			fields: r.Fields, beside: r.Beside,
		}
		if !fits {
			x.misfits = &misfits{time: now, kind: string(r.Kind), status: r.Status, attempt: r.Attempt}
		}
		k.rest = uint16(len(c.rests))
		c.rests = append(c.rests, x)
	}
	c.list = append(c.list, k)
	return c.size(&k)
}

// size is about the memory that a record takes. Shared parts count for each.
func (c *chunk) size(k *kept) int {
	s := c.subjects[k.subject]
	n := int(unsafe.Sizeof(*k)) + len(c.texts[k.text]) + len(s.function) + len(s.source) + len(s.delivery) + len(s.invocation) + len(s.messageID)
	if k.rest != 0 {
		x := c.rests[k.rest]
		n += int(unsafe.Sizeof(*x)) + len(x.target) + len(x.cause) + len(x.message) + len(x.name) + len(x.beside.Stack) + len(x.beside.Detail) + len(x.beside.Batch) + len(x.beside.Members) + len(x.beside.Counts) + len(x.beside.Body) + len(x.beside.Span)
		for _, f := range x.fields {
			n += int(unsafe.Sizeof(f)) + len(f.Key) + len(f.Value)
		}
	}
	return n
}

// forget lets go what only the record at i and those before it have, and returns its
// size. They are forgotten in order.
func (c *chunk) forget(i int) int {
	k := &c.list[i]
	n := c.size(k)
	if k.rest != 0 {
		c.rests[k.rest] = nil
	}
	for t := int(k.text) - 1; t > 0 && c.texts[t] != ""; t-- {
		c.texts[t] = ""
	}
	return n
}

// kindLocked returns the kind of the record of a sequence number that is kept.
func (j *Journal) kindLocked(seq uint64) Kind {
	i := int(seq - j.base)
	c := j.chunks[i/chunkSize]
	k := &c.list[i%chunkSize]
	if o := c.rests[k.rest].misfits; o != nil {
		return Kind(o.kind)
	}
	return Kind(j.words[k.kind].text)
}

// loadLocked sets r to the record of a sequence number that is kept.
func (j *Journal) loadLocked(r *Record, seq uint64) {
	i := int(seq - j.base)
	c := j.chunks[i/chunkSize]
	k := &c.list[i%chunkSize]
	s, x := c.subjects[k.subject], c.rests[k.rest]
	r.Seq, r.Time, r.Kind = seq, c.begin.Add(k.since), Kind(j.words[k.kind].text)
	r.App, r.Generation, r.Function, r.Trigger, r.Source, r.Service = s.app, s.generation, s.function, s.trigger, s.source, s.service
	r.Delivery, r.Invocation, r.MessageID, r.MessageNumber, r.DeliveryCount = s.delivery, s.invocation, s.messageID, s.messageNumber, s.deliveryCount
	r.Attempt, r.HasPolicy, r.MaxRetryCount = int(k.attempt), s.hasPolicy, s.maxRetryCount
	r.Delay, r.HasDelay, r.Status, r.Error = k.delay, k.hasDelay, j.words[k.status].text, c.texts[k.text]
	r.Decision, r.Target, r.Cause, r.Level, r.Message, r.Name = x.decision, x.target, x.cause, x.level, x.message, x.name
	r.Fields, r.Beside = x.fields, x.beside
	if o := x.misfits; o != nil {
		r.Time, r.Kind, r.Status, r.Attempt = o.time, Kind(o.kind), o.status, o.attempt
	}
}
