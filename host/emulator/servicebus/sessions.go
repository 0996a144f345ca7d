package servicebus

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/heap"
	"github.com/redeliver/redeliver/host/emulator/ordered"
)

// sessions are the sessions of a queue that requires them, in the orders in which they are
// looked for.
type sessions struct {
	byID     map[string]*session
	listed   ordered.Set[string]  // with messages that are not deferred, or a state
	stateful ordered.Set[string]  // with a state
	free     heap.Of[*session]    // not locked, with free messages; by the first of them
	locks    [2]heap.Of[*session] // locked, by end: held in virtual time, in real time
	busy     heap.Of[*session]    // locked inside, with messages that others could have
}

func newSessions() sessions {
	all := sessions{
		byID:     map[string]*session{},
		listed:   ordered.New(strings.Compare),
		stateful: ordered.New(strings.Compare),
		free:     heap.New(func(a, b *session) bool { return a.first() < b.first() }, func(s *session) *int { return &s.inFree }),
		busy:     sessionsByEnd(func(s *session) *int { return &s.inBusy }),
	}
	for i := range all.locks {
		all.locks[i] = sessionsByEnd(func(s *session) *int { return &s.inLocks })
	}
	return all
}

func sessionsByEnd(place func(*session) *int) heap.Of[*session] {
	return heap.New(func(a, b *session) bool {
		if c := a.until.Compare(b.until); c != 0 {
			return c < 0
		}
		return a.id < b.id
	}, place)
}

// get returns the session of that name, making it if need be.
func (all *sessions) get(q *queue, id string) *session {
	s := all.byID[id]
	if s == nil {
		s = &session{
			q: q, id: id,
			free:    messagesBySequence(func(m *message) *int { return &m.inSessionFree }),
			locked:  messagesBySequence(func(m *message) *int { return &m.inSessionLocked }),
			changed: clock.NewCond(q.ns.clk, &q.ns.mu),
		}
		all.byID[id] = s
	}
	return s
}

// held returns the locked sessions by name.
func (all *sessions) held() []*session {
	list := slices.Concat(all.locks[0].All(), all.locks[1].All())
	slices.SortFunc(list, func(a, b *session) int { return cmp.Compare(a.id, b.id) })
	return list
}

func (all *sessions) list(changedAfter time.Time, skip, top int) (ids []string) {
	if top == 0 {
		return nil
	}
	if changedAfter.Year() >= farFuture {
		for id := range all.listed.Behind(skip) {
			if ids = append(ids, id); len(ids) == top {
				break
			}
		}
		return ids
	}
	for id := range all.stateful.Behind(0) {
		if !all.byID[id].set.After(changedAfter) {
			continue
		}
		if skip--; skip >= 0 {
			continue
		}
		if ids = append(ids, id); len(ids) == top {
			break
		}
	}
	return ids
}

// rank puts a session where it belongs after a change, and forgets it when nothing
// is left of it. It may have been forgotten before, and be another one's name now: a
// message that goes on from here can come back in the same operation.
func (s *session) rank() {
	all := &s.q.sessions
	position(&all.free, s, s.inFree > 0, !s.held() && s.free.Len() > 0)
	position(&all.busy, s, s.inBusy > 0, s.held() && !s.outside && s.free.Len()+s.locked.Len() > 0)
	if all.byID[s.id] != s {
		return
	}
	enter(&all.listed, s.id, &s.inListed, s.state != nil || s.free.Len()+s.locked.Len() > 0)
	enter(&all.stateful, s.id, &s.inStateful, s.state != nil)
	if s.n == 0 && !s.held() && s.state == nil {
		delete(all.byID, s.id)
	}
}

func enter(set *ordered.Set[string], id string, in *bool, wanted bool) {
	switch {
	case *in == wanted:
		return
	case wanted:
		set.Insert(id)
	default:
		set.Remove(id)
	}
	*in = wanted
}

func position(h *heap.Of[*session], s *session, in, wanted bool) {
	switch {
	case in && wanted:
		h.Fix(s)
	case in:
		h.Remove(s)
	case wanted:
		h.Push(s)
	}
}
