package explain

import (
	"cmp"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/journal"
)

// A sorter finds the records of each life. Lives are told from them afterwards, and only
// those that are wanted: a batch of many events is one record, and part of many lives.
type sorter struct {
	records []journal.Record
	about   Subject

	order []*story
	whole []int // records of the host as a whole, and of what happened to all messages of a place

	of     map[Identity]*message
	newest map[Identity]*message // without a number
	graves map[string]*message   // by the blob of a dead letter
	ticks  map[tick]*story       // what has no message
	work   map[string]*delivery  // in this run of the host

	batches map[int]*delivery // by the records of batches

	run  int    // how often the host has started again
	last uint64 // the number of the record before
}

// A tick is a delivery without a message: each run of the host begins their names anew.
type tick struct {
	function, delivery string
	run                int
}

// A message is what the lives of one message have in common.
type message struct {
	before    *story   // what its service told before a function had it; nil: nothing
	lives     []*story // one for each function
	forwarded int      // the record that sent it elsewhere, from 1; 0: none
	buried    int      // the record that made it a dead letter, from 1; 0: none
}

// A delivery has one life of each of its messages, nil for those without a name.
type delivery struct {
	stories []*story
	counts  []int64
}

func newSorter(records []journal.Record, about Subject) *sorter {
	s := &sorter{
		records: records, about: about,
		of: map[Identity]*message{}, newest: map[Identity]*message{}, graves: map[string]*message{}, ticks: map[tick]*story{},
		work: map[string]*delivery{}, batches: map[int]*delivery{},
	}
	for i := range records {
		s.sort(i, &records[i])
	}
	return s
}

// wanted are the lives that are to be told, in the order of their first records.
func (t *sorter) wanted() (list []*story) {
	for _, s := range t.order {
		if s.wanted && !s.claimed {
			list = append(list, s)
		}
	}
	slices.SortStableFunc(list, func(a, b *story) int { return cmp.Compare(a.notes[0].at, b.notes[0].at) })
	return list
}

// sort adds a record to the lives that it is about.
func (t *sorter) sort(i int, r *journal.Record) {
	if r.Seq <= t.last {
		t.run++
		clear(t.work)
	}
	t.last = r.Seq
	switch {
	case r.Function != "" && r.Delivery != "":
		t.delivery(i, r)
	case r.MessageID != "":
		t.service(i, r)
	default:
		if r.Kind == journal.StateLoaded { // numbers of messages begin anew
			clear(t.of)
			clear(t.newest)
			clear(t.graves)
		}
		t.whole = append(t.whole, i)
		return
	}
	t.copied(i, r)
}

// delivery adds what happened in a delivery to the lives of all its messages.
func (t *sorter) delivery(i int, r *journal.Record) {
	d := t.work[r.Delivery]
	if d == nil || r.Kind == journal.Received {
		d = t.begin(r)
	}
	switch {
	case r.Kind == journal.HandlerLog:
		return // not told
	case r.Kind == journal.Received:
		t.work[r.Delivery] = d
	case r.Kind == journal.Settled:
		delete(t.work, r.Delivery)
	}
	if len(d.stories) > 1 {
		t.batches[i] = d
	}
	for k, s := range d.stories {
		if s != nil {
			s.note(i, k)
			s.wanted = s.wanted || t.about.means(r, s.life.Message)
		}
	}
}

// begin is the delivery of a record.
func (t *sorter) begin(r *journal.Record) *delivery {
	members := []Identity{IdentityOf(r)}
	if r.Kind == journal.Received {
		members = Members(r)
	}
	d := &delivery{stories: make([]*story, len(members)), counts: counts(r, len(members))}
	for k, id := range members {
		switch {
		case id.ID != "":
			d.stories[k] = t.story(r, t.message(id))
			d.stories[k].is(id)
		case len(members) == 1:
			d.stories[k] = t.tick(r)
		}
	}
	return d
}

// tick is the life of a delivery without a message.
func (t *sorter) tick(r *journal.Record) *story {
	k := tick{strings.ToLower(r.Function), r.Delivery, t.run}
	if t.ticks[k] == nil {
		t.ticks[k] = t.add(&story{}, r)
	}
	return t.ticks[k]
}

func (t *sorter) add(s *story, r *journal.Record) *story {
	s.life = &Life{Message: r.MessageID, Function: r.Function, Trigger: r.Trigger, Source: r.Source}
	t.order = append(t.order, s)
	return s
}

// message is the one of an identity.
func (t *sorter) message(id Identity) *message {
	m := t.of[id]
	if m == nil {
		m = &message{}
		t.of[id] = m
	}
	id.Number = 0
	t.newest[id] = m
	return m
}

// story is the life that a message has for the function of a record. What a service has
// told of the message before is its beginning.
func (t *sorter) story(r *journal.Record, m *message) *story {
	for _, s := range m.lives {
		if strings.EqualFold(s.life.Function, r.Function) {
			s.life.Trigger = cmp.Or(s.life.Trigger, r.Trigger)
			return s
		}
	}
	s := t.add(&story{}, r)
	if m.before != nil {
		s.notes, s.wanted = slices.Clone(m.before.notes), m.before.wanted
		m.before.claimed = true
	}
	if m.buried > 0 && strings.Contains(r.Source, "/$") { // a function of the dead letters
		s.note(m.buried-1, 0)
	}
	m.lives = append(m.lives, s)
	return s
}

// service adds what a service did to a message by itself to the lives that the message has.
func (t *sorter) service(i int, r *journal.Record) {
	id := IdentityOf(r)
	m := t.arrived(r, id)
	if r.Function != "" {
		t.story(r, m)
	}
	list := concerned(m.lives, r)
	if len(list) == 0 {
		if m.before == nil {
			m.before = t.add(&story{}, r)
		}
		list = []*story{m.before}
	}
	for _, s := range list {
		s.note(i, 0)
		s.is(id)
		s.wanted = s.wanted || t.about.means(r, r.MessageID)
	}
	switch r.Kind {
	case journal.Forwarded:
		m.forwarded = i + 1
	case journal.DeadLettered:
		m.buried = i + 1
		if id.Service == journal.EventGrid {
			t.graves[r.Target] = m
		}
	}
}

// arrived is the message of a record of a service. It may be one that had another identity
// before: then its lives go on, and where it came from another entity, one begins there.
func (t *sorter) arrived(r *journal.Record, id Identity) *message {
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
			t.of[id] = m
			return m
		}
	}
	was, moved := Before(r)
	old := t.of[was]
	if !moved || old == nil {
		return t.message(id)
	}
	if was.Entity == id.Entity {
		t.of[id] = old
		return t.message(id)
	}
	m := t.message(id)
	switch {
	case old.before != nil && len(old.lives) == 0:
		m.before = t.add(&story{notes: slices.Clone(old.before.notes), wanted: old.before.wanted}, r)
		if from := old.before.life.Source; !strings.HasPrefix(id.Entity, strings.ToLower(from)+"/") { // its topic
			m.before.life.Source = from
		}
		old.before.claimed = true
	case old.forwarded > 0:
		m.before = t.add(&story{}, r)
		m.before.note(old.forwarded-1, 0)
	}
	return m
}

// concerned are those of a message's lives that a record of a service is about: a function
// of dead letters has them from another queue than the function that failed.
func concerned(lives []*story, r *journal.Record) []*story {
	var same []*story
	for _, s := range lives {
		if strings.EqualFold(s.life.Source, r.Source) || r.Kind == journal.Forwarded && strings.EqualFold(s.life.Source, r.Target) {
			same = append(same, s)
		}
	}
	if same != nil {
		return same
	}
	return lives
}

// copied tells the message that a record has made a copy of another one where that came from.
func (t *sorter) copied(i int, r *journal.Record) {
	id := copyOf(r)
	m := t.of[Identity{Service: journal.Queues, ID: id}]
	if id == "" || m == nil {
		return
	}
	for _, s := range append(slices.Clone(m.lives), m.before) {
		if s != nil {
			s.note(i, copied)
		}
	}
}

// at is a record as it is of one of several messages.
func (t *sorter) at(n note) *journal.Record {
	r := &t.records[n.at]
	d := t.batches[n.at]
	if d == nil {
		return r
	}
	one := *r
	one.DeliveryCount = d.counts[n.member]
	if r.Kind == journal.Settled {
		one.Decision = string(Decisions(r, len(d.stories))[n.member])
	}
	return &one
}

// size is of how many messages a record is.
func (t *sorter) size(n note) int {
	if d := t.batches[n.at]; d != nil {
		return len(d.stories)
	}
	return 1
}
