package servicebus

import (
	"cmp"

	"github.com/redeliver/redeliver/host/emulator/ordered"
)

// bySessionID are the messages of a queue that have a session ID, by it. Any queue may be asked
// for them, whether or not it requires sessions.
type bySessionID map[string]*ordered.Set[*message]

func (n bySessionID) add(m *message) {
	if m.content.SessionID == nil {
		return
	}
	set := n[*m.content.SessionID]
	if set == nil {
		made := ordered.New(func(a, b *message) int { return cmp.Compare(a.seq, b.seq) })
		set = &made
		n[*m.content.SessionID] = set
	}
	set.Insert(m)
}

func (n bySessionID) remove(m *message) {
	if m.content.SessionID == nil {
		return
	}
	set := n[*m.content.SessionID]
	if set.Remove(m); set.Len() == 0 {
		delete(n, *m.content.SessionID)
	}
}

// from calls f for each message of a session ID, nil for all, with a number of seq or more,
// ascending, until f returns false.
func (q *queue) from(session *string, seq int64, f func(*message) bool) {
	if session == nil {
		q.all.from(seq, f)
		return
	}
	set := q.named[*session]
	if set == nil {
		return
	}
	for m := range set.From(&message{seq: seq}) {
		if !f(m) {
			return
		}
	}
}
