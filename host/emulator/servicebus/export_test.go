package servicebus

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Dump returns everything that a namespace keeps, as lines.
func Dump(ns *Namespace) []string {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	lines := []string{fmt.Sprintf("ids %d", ns.ids.N)}
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for _, key := range slices.Sorted(maps.Keys(ns.entities)) {
		e := ns.entities[key]
		add("%s size %d next %d created %v updated %v ttl %v max %d forward %q %q status %s", key, e.size, e.main.next, e.created, e.updated, e.ttl, e.maxDeliveryCount, e.forwardTo, e.forwardDead, e.status)
		for _, r := range e.rules {
			text, err := json.Marshal(r.record())
			add("%s rule %s %v", key, text, err)
		}
		for _, id := range slices.Sorted(slices.Values(e.seen.order)) {
			add("%s seen %q %v", key, id, e.seen.at[id])
		}
		for _, q := range e.queues() {
			q.all.from(0, func(m *message) bool {
				session := ""
				if m.session != nil {
					session = m.session.id
				}
				c := *m.content
				wire := ""
				if c.Wire != nil {
					wire = fmt.Sprintf("%+v", *c.Wire)
				}
				var id any = c.SessionID
				if c.SessionID != nil {
					id = *c.SessionID
				}
				add("%s message %d/%d %v %v count %d %v hops %d source %q lock %v %v outside %v session %q free %v %q body %q properties %#v wire %s session %v ttl %v at %v",
					q.name, m.seq, m.enqSeq, m.enqueued, m.expires, m.count, m.state, m.hops, m.source, m.token, m.until, m.outside, session,
					m.page.free&(1<<(m.seq&63)) != 0 || m.inSessionFree > 0, c.MessageID, c.Body, c.ApplicationProperties, wire, id, c.TimeToLive, c.ScheduledEnqueueTime)
				return true
			})
			for _, id := range slices.Sorted(maps.Keys(q.sessions.byID)) {
				s := q.sessions.byID[id]
				add("%s session %q state %q set %v until %v outside %v free %d locked %d of %d, in heaps %v %v %v", q.name, id, s.state, s.set, s.until, s.outside,
					s.free.Len(), s.locked.Len(), s.n, s.inFree > 0, s.inLocks > 0, s.inBusy > 0)
			}
			add("%s has %d messages, %d deferred, %d scheduled, %d tokens, %d and %d locks, %d that expire", q.name, q.all.n, q.deferred, q.scheduled.Len(), len(q.tokens), q.locks[0].Len(), q.locks[1].Len(), q.expiry.Len())
		}
	}
	return lines
}

// Lock is the lock of one message in Locks.
type Lock struct {
	Copies int
	Count  int64
	Token  string // empty: not locked
}

// Locks returns all messages of a namespace by identifier.
func Locks(ns *Namespace) map[string]Lock {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	out := map[string]Lock{}
	for _, e := range ns.entities {
		for _, q := range e.queues() {
			q.all.from(0, func(m *message) bool {
				l := Lock{Copies: out[m.content.MessageID].Copies + 1, Count: m.count}
				if m.locked() {
					l.Token = m.token.String()
				}
				out[m.content.MessageID] = l
				return true
			})
		}
	}
	return out
}
