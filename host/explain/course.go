package explain

import (
	"time"

	"github.com/redeliver/redeliver/host/journal"
)

// Outcome is how a life stands.
type Outcome string

// The outcomes. The first three are of lives that go on.
const (
	Queued    Outcome = "queued"
	Running   Outcome = "running"
	Waiting   Outcome = "waiting"
	Succeeded Outcome = "succeeded"
	Failed    Outcome = "failed"
	Dead      Outcome = "dead"
)

// A Course is the facts of one life: what has happened to one message for one function.
// Times are milliseconds since 1970 in the host's time.
type Course struct {
	Key      string `json:"key"`      // names the life, as long as it is told
	Message  string `json:"message"`  // its identity at its service; a request and a tick have none
	Function string `json:"function"` // empty: no function has received it
	Trigger  string `json:"trigger"`
	Source   string `json:"source"`
	Service  string `json:"service"`
	Number   int64  `json:"number"` // at its entity: tells messages of one identity apart; 0: its service does not count
	Of       int    `json:"of"`     // the same for all lives of one message; 0: a request or a tick

	Place string `json:"place"` // the queue or entity where it is, as its service names it; empty when it is gone
	Gone  bool   `json:"gone"`  // for good: what is still in work of it changes nothing

	Seq    uint64  `json:"seq"`    // of its first record
	Latest uint64  `json:"latest"` // of its last
	Start  float64 `json:"start"`
	End    float64 `json:"end"` // of its last record, or of the wait that is known to follow

	Attempts int     `json:"attempts"`
	Failures int     `json:"failures"`
	Own      Counted `json:"own"` // of those, what its function counts: of a batch, with its first message
	Records  int     `json:"records"`

	Error   string  `json:"error"` // the last one
	Outcome Outcome `json:"outcome"`
	State   string  `json:"state"`            // where it ended, or what it waits for, in a word
	Due     float64 `json:"due,omitempty"`    // when it can be received, where its state is that it will be
	Grave   string  `json:"grave,omitempty"`  // the queue, entity or container that it went to when it was given up
	Copy    string  `json:"copy,omitempty"`   // the identity that a copy of the message has at its poison queue
	Origin  string  `json:"origin,omitempty"` // the identity of the message that this one is a copy of

	// What is new since the last [Teller.Flush]; of a delivery in work, that too.
	Deliveries []*Delivery `json:"deliveries,omitempty"`
	Marks      []Mark      `json:"marks,omitempty"`
	Lines      []Line      `json:"logs,omitempty"`

	// Before and Moved are the names of the delivery before the one that began last, and of
	// the one that has put the message where it was received. Empty: there is none.
	Before string `json:"-"`
	Moved  string `json:"-"`

	deliveries int             // so far
	marks      int             // so far
	now        string          // the delivery that began last
	inWork     []*Delivery     // in the order of their beginnings; more than one after a lost lock, or where the handler settles
	latest     *Delivery       // of any record
	ended      time.Time       // the delivery before
	buried     *journal.Record // the record that made it a dead letter while a delivery was in work
	message    *message
	tick       tick
	from       string // where a message that has gone on came from, for words; empty: Source
	told       bool   // since the last Flush, and is to be told at the next
	dropped    bool   // let go while it was in work: what is still to come is not told

	notes  []note // of a sorter
	rank   int    // among those that begin with the same record
	wanted bool
}

// Counted are numbers of deliveries and attempts, and of attempts that failed.
type Counted struct {
	Deliveries int `json:"deliveries"`
	Attempts   int `json:"attempts"`
	Failures   int `json:"failures"`
}

// A Delivery is one delivery of a message by its service.
type Delivery struct {
	ID         string     `json:"id"`
	Count      int64      `json:"count"`
	Seq        uint64     `json:"seq"`
	Start      float64    `json:"start"`
	End        float64    `json:"end,omitempty"`
	Invocation string     `json:"invocation,omitempty"`
	Decision   string     `json:"decision,omitempty"`
	Target     string     `json:"target,omitempty"`
	Cause      string     `json:"cause,omitempty"`  // why retries ended
	Remark     string     `json:"remark,omitempty"` // what the listener said at the end
	Limit      *int       `json:"limit,omitempty"`  // maxRetryCount
	Inputs     [][]string `json:"inputs,omitempty"` // names and values
	Member     int        `json:"member"`           // the message's place in the batch, from 0
	Batch      int        `json:"batch"`            // how many messages are in it
	Answer     string     `json:"answer,omitempty"` // the status of the answer over HTTP
	Attempts   []*Try     `json:"attempts,omitempty"`

	Dead *journal.Record `json:"-"` // that made its message a dead letter; nil: none did

	told    bool
	last    *Try
	entry   int // of a story: index + 1 of the entry of the attempt that runs or ran last
	retries int // of a story: whose wait came from the policy
}

// A Try is an attempt: one run of the handler within a delivery.
type Try struct {
	Number  int      `json:"number"`
	Seq     uint64   `json:"seq"`
	Start   float64  `json:"start"`
	End     float64  `json:"end,omitempty"`
	Status  string   `json:"status,omitempty"` // succeeded, failed, timed_out
	Error   string   `json:"error,omitempty"`
	Stack   string   `json:"stack,omitempty"`
	Elapsed int64    `json:"elapsed,omitempty"` // real time that it took, in milliseconds; a virtual clock may stand still meanwhile
	Delay   *float64 `json:"delay,omitempty"`   // the wait that the policy put after this attempt, which may be none

	began time.Time
	told  bool
}

// A Mark is what a service did to a message by itself, or what concerns the host as a whole.
type Mark struct {
	Seq   uint64  `json:"seq"`
	Time  float64 `json:"time"`
	Kind  string  `json:"kind"` // of the record
	Text  string  `json:"text"`
	Delay float64 `json:"delay,omitempty"` // the wait that follows, where it is known; how far the clock was moved
}

// A Line is one that the handler wrote.
type Line struct {
	Seq      uint64  `json:"seq"`
	Time     float64 `json:"time"`
	Delivery string  `json:"delivery"`
	Attempt  int     `json:"attempt"`
	Level    string  `json:"level"`
	Text     string  `json:"text"`
}

// Changes are what is new of the lives that a host tells.
type Changes struct {
	Now     float64   `json:"now"` // the latest time that a record had
	Lives   []*Course `json:"lives,omitempty"`
	Dropped []string  `json:"dropped,omitempty"` // keys of lives that are told no longer
	Host    []Mark    `json:"host,omitempty"`    // what concerns the host as a whole
}

// instant is a time in milliseconds since 1970.
func instant(t time.Time) float64 { return float64(t.UnixMicro()) / 1e3 }

// span is a length of time in milliseconds.
func span(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func (c *Course) say(outcome Outcome, state string) { c.Outcome, c.State, c.Due = outcome, state, 0 }

// Buried reports whether the message was made a dead letter, and a delivery in work has still
// to end, which then has the record.
func (c *Course) Buried() bool { return c.buried != nil }

// Ended is how many attempts have ended.
func (c *Course) Ended() int {
	n := c.Attempts
	for _, d := range c.inWork {
		if d.last != nil && d.last.End == 0 {
			n--
		}
	}
	return n
}

func (c *Course) open() bool {
	return c.Outcome == Running || c.Outcome == Waiting || c.Outcome == Queued
}

// is says which message it is.
func (c *Course) is(id Identity) { c.Message, c.Service, c.Number = id.ID, id.Service, id.Number }

// words is where the message came from first.
func (c *Course) words() string {
	if c.from != "" {
		return c.from
	}
	return c.Source
}

// beginning is a life that begins as this one has, with these marks.
func (c *Course) beginning(marks []Mark) *Course {
	b := &Course{
		Message: c.Message, Service: c.Service, Number: c.Number, Place: c.Place, Seq: c.Seq, Latest: c.Latest, Start: c.Start, End: c.End,
		Source: c.Source, from: c.from, wanted: c.wanted, marks: len(marks),
	}
	b.notes, b.Marks = append(b.notes, c.notes...), append(b.Marks, marks...)
	return b
}
