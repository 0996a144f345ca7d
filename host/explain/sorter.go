package explain

import (
	"cmp"
	"slices"

	"github.com/redeliver/redeliver/host/journal"
)

// A sorter is a [Teller] that only notes which records are of which life. Lives are told from
// them afterwards, and only those that are wanted: a batch of many events is one record, and
// part of many lives.
type sorter struct {
	*Teller
	kept    []journal.Record
	subject Subject
	at      int            // the record that is sorted
	whole   []int          // records of the host as a whole, and of what happened to all messages of a place
	batches map[int]*batch // by the records of batches
}

// A note is a record of a life: of its member of a batch.
type note struct{ at, member int }

// copied is the member of a record that made a copy, in the life of the copy.
const copied = -1

func newSorter(records []journal.Record, about Subject) *sorter {
	s := &sorter{Teller: NewTeller(0), kept: records, subject: about, batches: map[int]*batch{}}
	s.sorting = s
	for s.at = range records {
		s.Add(&records[s.at])
	}
	return s
}

// note notes the record that is sorted for a life.
func (s *sorter) note(c *Course, r *journal.Record, b *batch, member int) {
	if r.Kind == journal.HandlerLog {
		return // not told
	}
	if b.size() > 1 {
		s.batches[s.at] = b
	}
	c.note(s.at, member)
	c.wanted = c.wanted || s.subject.means(r, c.name(r, b))
}

// name is the identity of a life's message where a record is about it: a record of a service
// names its own.
func (c *Course) name(r *journal.Record, b *batch) string {
	if b == nil {
		return r.MessageID
	}
	return c.Message
}

func (c *Course) note(at, member int) {
	if last := len(c.notes) - 1; last < 0 || c.notes[last] != (note{at, member}) {
		c.notes = append(c.notes, note{at, member})
	}
}

// list are the lives that are to be told, in the order of their first records.
func (s *sorter) list() (list []*Course) {
	for _, c := range s.order {
		if c.wanted {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b *Course) int { return cmp.Or(cmp.Compare(a.notes[0].at, b.notes[0].at), a.rank-b.rank) })
	return list
}
