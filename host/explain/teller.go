package explain

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/redeliver/redeliver/host/journal"
)

// A Teller finds the lives that records are of, and keeps their courses. One goroutine uses it.
type Teller struct {
	MostLives int // that are kept; 0: as many as there is room for their records

	most    int // records of the lives that are kept
	records int
	sorting *sorter // whose records are told afterwards; nil: as they come

	order []*Course // in the order of their first records
	names int

	of      map[Identity]*message
	newest  map[Identity]*message // without a number
	graves  map[string]*message   // by the blob of a dead letter
	origins map[string]origin     // of copies, by their identities
	ticks   map[tick]*Course      // what has no message
	work    map[string]*batch     // deliveries of this run of the host

	run  int    // how often the host has started again
	last uint64 // the number of the record before

	about   []Part
	changes Changes
}

// NewTeller returns a Teller that keeps the lives of so many records, or a little fewer.
func NewTeller(most int) *Teller {
	return &Teller{
		most: most, of: map[Identity]*message{}, newest: map[Identity]*message{}, graves: map[string]*message{},
		origins: map[string]origin{}, ticks: map[tick]*Course{}, work: map[string]*batch{},
	}
}

// A Part is one of the lives that a record is of.
type Part struct {
	Life     *Course
	Delivery *Delivery // nil: a service did something by itself
}

// A tick is a delivery without a message: each run of the host begins their names anew.
type tick struct {
	function, delivery string
	run                int
}

// An origin is the message that a copy was made of, and the delivery that made it.
type origin struct{ message, delivery string }

// A message is what the lives of one message have in common.
type message struct {
	number  int
	before  *Course   // what its service told, until a function has it; nil: nothing
	history *Course   // the same, as it was when a function or other entities got it
	marks   []Mark    // of these, until then
	lives   []*Course // one for each function
	keys    []Identity
	grave   string

	origin origin
	last   string // the latest delivery, of any function
	moved  string // the delivery that has put it where it is

	forwarded int // of a sorter, the record that sent it elsewhere, from 1; 0: none
	buried    int // the record that made it a dead letter, from 1; 0: none
}

// A batch is a delivery with one life of each of its messages, nil for those without a name.
type batch struct {
	lives  []*Course
	counts []int64
}

// Add takes the next record, and returns the lives that it is of, until the next call.
func (t *Teller) Add(r *journal.Record) []Part {
	t.about = t.about[:0]
	if r.Seq <= t.last {
		t.run++
		clear(t.work)
	}
	t.last = r.Seq
	t.changes.Now = max(t.changes.Now, instant(r.Time))
	switch {
	case r.Service == journal.Durable: // told by [Tales]
		return nil
	case r.Function != "" && r.Delivery != "":
		t.delivery(r)
	case r.MessageID != "":
		t.service(r)
	default:
		t.whole(r)
		return nil
	}
	t.copied(r)
	if !t.fits(t.most, t.MostLives, len(t.order)) {
		t.forget()
	}
	return t.about
}

// delivery adds what happened in a delivery to the lives of all its messages.
func (t *Teller) delivery(r *journal.Record) {
	b := t.work[r.Delivery]
	if b == nil || r.Kind == journal.Received {
		b = t.begin(r)
	}
	switch r.Kind {
	case journal.Received:
		t.work[r.Delivery] = b
	case journal.Settled:
		delete(t.work, r.Delivery)
	}
	for k, c := range b.lives {
		if c != nil && !c.dropped {
			t.tell(c, r, b, k)
		}
	}
}

// tell adds a record to a life, or notes it for later.
func (t *Teller) tell(c *Course, r *journal.Record, b *batch, member int) {
	if t.sorting != nil {
		t.sorting.note(c, r, b, member)
		return
	}
	d := c.take(b.of(r, member), member, b.size())
	t.records++
	t.changed(c)
	t.about = append(t.about, Part{c, d})
}

// size is of how many messages a record is; b is nil where it is of none in particular.
func (b *batch) size() int {
	if b == nil {
		return 1
	}
	return len(b.lives)
}

// of is a record as it is of one of the messages of a batch.
func (b *batch) of(r *journal.Record, member int) *journal.Record {
	if b.size() < 2 {
		return r
	}
	one := *r
	one.DeliveryCount = b.counts[member]
	if r.Kind == journal.Settled {
		one.Decision = string(Decisions(r, len(b.lives))[member])
	}
	return &one
}

// begin is the delivery of a record.
func (t *Teller) begin(r *journal.Record) *batch {
	members := []Identity{IdentityOf(r)}
	if r.Kind == journal.Received {
		members = Members(r)
	}
	b := &batch{lives: make([]*Course, len(members)), counts: counts(r, len(members))}
	for k, id := range members {
		switch {
		case id.ID != "":
			m := t.message(id)
			c := t.life(r, m)
			c.is(id)
			if b.lives[k] = c; r.Kind == journal.Received {
				c.Before, c.Moved, c.now, m.last = c.now, m.moved, r.Delivery, r.Delivery
			}
		case len(members) == 1:
			b.lives[k] = t.tick(r)
		}
	}
	return b
}

// tick is the life of a delivery without a message.
func (t *Teller) tick(r *journal.Record) *Course {
	k := tick{strings.ToLower(r.Function), r.Delivery, t.run}
	if t.ticks[k] == nil {
		t.ticks[k] = t.add(&Course{tick: k}, r, nil)
	}
	return t.ticks[k]
}

func (t *Teller) add(c *Course, r *journal.Record, m *message) *Course {
	t.names++
	c.rank = t.names
	c.Key, c.Function, c.Trigger, c.Source, c.message = strconv.Itoa(t.names), r.Function, r.Trigger, r.Source, m
	c.Seq = cmp.Or(c.Seq, r.Seq)
	if c.Start == 0 {
		c.Start, c.End = instant(r.Time), instant(r.Time)
	}
	c.say(Queued, "queued")
	if m != nil {
		if m.number == 0 {
			m.number = t.names
		}
		c.Of, c.Origin = m.number, m.origin.message
	}
	t.order = append(t.order, c)
	return c
}

// message is the one of an identity.
func (t *Teller) message(id Identity) *message {
	m := t.of[id]
	if m == nil {
		m = &message{}
		if id.Service == journal.Queues {
			m.origin = t.origins[id.ID]
			m.moved = m.origin.delivery
		}
	}
	t.named(m, id)
	return m
}

// named notes an identity of a message.
func (t *Teller) named(m *message, id Identity) {
	if t.of[id] != m {
		t.of[id] = m
		m.keys = append(m.keys, id)
	}
	if id.Number != 0 { // else it is one with what is above
		id.Number = 0
		t.newest[id] = m
	}
}

// life is the life that a message has for the function of a record. What a service has
// told of the message before is its beginning.
func (t *Teller) life(r *journal.Record, m *message) *Course {
	for _, c := range m.lives {
		if strings.EqualFold(c.Function, r.Function) {
			c.Trigger = cmp.Or(c.Trigger, r.Trigger)
			return c
		}
	}
	c := m.before
	switch {
	case c != nil:
		t.names++
		m.history, m.before, c.rank = c.beginning(m.marks), nil, t.names
		c.Function, c.Trigger, c.Source, c.from = r.Function, r.Trigger, cmp.Or(r.Source, c.Source), ""
	case m.history != nil:
		c = t.add(m.history.beginning(m.marks), r, m)
	default:
		c = t.add(&Course{}, r, m)
	}
	if m.buried > 0 && strings.Contains(r.Source, "/$") { // a function of the dead letters
		c.note(m.buried-1, 0)
	}
	m.lives = append(m.lives, c)
	return c
}

// service adds what a service did to a message by itself to the lives that the message has.
func (t *Teller) service(r *journal.Record) {
	id := IdentityOf(r)
	m := t.arrived(r, id)
	if r.Function != "" {
		t.life(r, m)
	}
	list := concerned(m.lives, r)
	if len(list) == 0 {
		if m.before == nil {
			m.before = t.add(&Course{}, r, m)
		}
		list = []*Course{m.before}
	}
	for _, c := range list {
		c.is(id)
		t.tell(c, r, nil, 0)
		if n := len(c.Marks); c == m.before && n > 0 && len(m.marks) < mostLines {
			m.marks = append(m.marks, c.Marks[n-1])
		}
	}
	at := 0
	if t.sorting != nil {
		at = t.sorting.at + 1
	}
	switch r.Kind {
	case journal.Forwarded:
		m.forwarded = at
	case journal.DeadLettered:
		m.buried = at
		if id.Service == journal.EventGrid {
			t.graves[r.Target], m.grave = m, r.Target
		}
	}
}

// arrived is the message of a record of a service. It may be one that had another identity
// before: then its lives go on, and where it came from another entity, one begins there.
func (t *Teller) arrived(r *journal.Record, id Identity) *message {
	if m := t.of[id]; m != nil {
		return m
	}
	if r.Kind == journal.Enqueued && r.Status == "duplicate" {
		if m := t.newest[id]; m != nil {
			return m
		}
	}
	if r.Kind == journal.Forwarded && id.Service == journal.EventGrid {
		if m := t.graves[r.Source]; m != nil {
			t.renamed(m, id)
			return m
		}
	}
	was, moved := Before(r)
	old := t.of[was]
	if !moved || old == nil {
		return t.message(id)
	}
	if by := cmp.Or(old.last, old.moved); was.Entity == id.Entity {
		old.moved = by
		t.renamed(old, id)
		return old
	} else {
		m := t.message(id)
		m.moved = by
		t.onward(r, old, m)
		return m
	}
}

// renamed notes that a message has another identity now: its deliveries are counted anew.
func (t *Teller) renamed(m *message, id Identity) {
	t.named(m, id)
	for _, c := range m.lives {
		c.now = ""
	}
}

// onward begins the life of a message that comes from another entity.
func (t *Teller) onward(r *journal.Record, old, m *message) {
	switch {
	case old.before != nil:
		from := old.before.words()
		old.history, m.before, m.marks = old.before.beginning(old.marks), old.before, slices.Clone(old.marks)
		old.before, m.before.message, m.before.Source, m.before.from = nil, m, r.Source, from
		t.names++
		m.number, m.before.Of = t.names, t.names
	case old.history != nil && len(old.lives) == 0:
		m.before, m.marks = t.add(old.history.beginning(old.marks), r, m), slices.Clone(old.marks)
		m.before.from = old.history.words()
	case old.forwarded > 0:
		m.before = t.add(&Course{}, r, m)
		m.before.note(old.forwarded-1, 0)
	}
	if b := m.before; b != nil && strings.HasPrefix(strings.ToLower(r.Source), strings.ToLower(b.from)+"/") { // its topic
		b.from = ""
	}
}

// concerned are those of a message's lives that a record of a service is about: a function
// of dead letters has them from another queue than the function that failed.
func concerned(lives []*Course, r *journal.Record) []*Course {
	var same []*Course
	for _, c := range lives {
		if strings.EqualFold(c.Source, r.Source) || r.Kind == journal.Forwarded && strings.EqualFold(c.Source, r.Target) {
			same = append(same, c)
		}
	}
	if same != nil {
		return same
	}
	return lives
}

// copied notes what a record says of a message that is a copy of its message.
func (t *Teller) copied(r *journal.Record) {
	id := copyOf(r)
	if id == "" {
		return
	}
	by := r.Delivery
	if by == "" {
		if m := t.of[IdentityOf(r)]; m != nil {
			by = m.moved
		}
	}
	t.origins[id] = origin{r.MessageID, by}
	m := t.of[Identity{Service: journal.Queues, ID: id}]
	if m == nil {
		return
	}
	m.moved = cmp.Or(by, m.moved)
	for _, c := range append(slices.Clone(m.lives), m.before) {
		switch {
		case c == nil:
		case t.sorting != nil:
			c.note(t.sorting.at, copied)
		default:
			c.Origin = r.MessageID
			t.changed(c)
		}
	}
}

// whole takes what is about the host, or about all messages of a place.
func (t *Teller) whole(r *journal.Record) {
	if t.sorting != nil {
		t.sorting.whole = append(t.sorting.whole, t.sorting.at)
	} else {
		t.hosts(r)
	}
	if r.Kind == journal.StateLoaded { // numbers of messages begin anew
		clear(t.of)
		clear(t.newest)
		clear(t.graves)
	}
}

// fits reports whether there is room, of so many records and lives, for those that are left.
func (t *Teller) fits(records, lives, left int) bool {
	return (t.most == 0 || t.records <= records) && (t.MostLives == 0 || left <= lives)
}

// forget lets the oldest lives go, those that are over first, until a tenth of the room is free.
func (t *Teller) forget() {
	records, lives, left := t.most-t.most/10, t.MostLives-t.MostLives/10, len(t.order)
	for _, over := range [...]bool{true, false} {
		kept := t.order[:0]
		for _, c := range t.order {
			if t.fits(records, lives, left) || over && c.open() {
				kept = append(kept, c)
			} else {
				t.drop(c)
				left--
			}
		}
		clear(t.order[len(kept):])
		t.order = kept
	}
}

func (t *Teller) drop(c *Course) {
	t.records -= c.Records
	c.dropped = true
	t.changes.Dropped = append(t.changes.Dropped, c.Key)
	delete(t.ticks, c.tick)
	delete(t.origins, c.Copy)
	m := c.message
	if m == nil {
		return
	}
	if m.lives = slices.DeleteFunc(m.lives, func(l *Course) bool { return l == c }); m.before == c {
		m.before = nil
	}
	if len(m.lives) > 0 || m.before != nil {
		return
	}
	for _, id := range m.keys {
		if t.of[id] == m {
			delete(t.of, id)
		}
		if id.Number = 0; t.newest[id] == m {
			delete(t.newest, id)
		}
	}
	if t.graves[m.grave] == m {
		delete(t.graves, m.grave)
	}
}
