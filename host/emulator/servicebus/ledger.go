package servicebus

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/redeliver/redeliver/host/emulator/heap"
)

// ledger holds messages by sequence number, and knows which of them are free to
// be taken. Numbers are dense and mostly grow, so it is made of pages of 64: to
// add, find, remove, mark and take the first costs the same at any depth, apart
// from the single cost of a page.
type ledger struct {
	pages []*page        // by number, without empty ones
	ready heap.Of[*page] // pages with free messages
	spare *page          // an empty one, for a queue that is filled and emptied all the time
	n     int
}

type page struct {
	number  int64 // of the sequence numbers, without their last six bits
	used    uint64
	free    uint64
	slots   [64]*message
	inReady int
}

func newLedger() ledger {
	return ledger{ready: heap.New(func(a, b *page) bool { return a.number < b.number }, func(p *page) *int { return &p.inReady })}
}

// at returns the index of the page with that number, or where it would be.
func (l *ledger) at(number int64) (i int, found bool) {
	switch last := len(l.pages) - 1; {
	case last < 0 || l.pages[last].number < number:
		return last + 1, false
	case l.pages[last].number == number:
		return last, true
	case l.pages[0].number == number:
		return 0, true
	}
	return slices.BinarySearchFunc(l.pages, number, func(p *page, n int64) int { return cmp.Compare(p.number, n) })
}

func (l *ledger) find(seq int64) *message {
	if seq < 0 {
		return nil
	}
	if i, ok := l.at(seq >> 6); ok {
		return l.pages[i].slots[seq&63]
	}
	return nil
}

// add puts m under its sequence number, which must not be taken.
func (l *ledger) add(m *message) {
	i, ok := l.at(m.seq >> 6)
	if !ok {
		p := l.spare
		if l.spare = nil; p == nil {
			p = new(page)
		}
		p.number = m.seq >> 6
		l.pages = slices.Insert(l.pages, i, p)
	}
	p := l.pages[i]
	if p.used&(1<<(m.seq&63)) != 0 {
		panic("servicebus: a sequence number was given twice")
	}
	p.used |= 1 << (m.seq & 63)
	p.slots[m.seq&63] = m
	m.page = p
	l.n++
}

// remove takes m out.
func (l *ledger) remove(m *message) {
	p := m.page
	l.setFree(m, false)
	p.used &^= 1 << (m.seq & 63)
	p.slots[m.seq&63] = nil
	m.page = nil
	l.n--
	if p.used == 0 {
		l.spare = p
		i, _ := l.at(p.number)
		if i == 0 {
			l.pages[0] = nil
			l.pages = l.pages[1:]
			return
		}
		l.pages = slices.Delete(l.pages, i, i+1)
	}
}

// setFree says whether m can be taken.
func (l *ledger) setFree(m *message, free bool) {
	p, bit := m.page, uint64(1)<<(m.seq&63)
	before := p.free
	if free {
		p.free |= bit
	} else {
		p.free &^= bit
	}
	switch {
	case before == 0 && p.free != 0:
		l.ready.Push(p)
	case before != 0 && p.free == 0:
		l.ready.Remove(p)
	}
}

// first returns the free message with the lowest number, nil when there is none.
func (l *ledger) first() *message {
	p, ok := l.ready.Min()
	if !ok {
		return nil
	}
	return p.slots[bits.TrailingZeros64(p.free)]
}

// from calls f for each message with a number of seq or more, ascending, until f
// returns false.
func (l *ledger) from(seq int64, f func(*message) bool) {
	seq = max(seq, 0)
	i, _ := l.at(seq >> 6)
	for ; i < len(l.pages); i++ {
		p := l.pages[i]
		used := p.used
		if p.number == seq>>6 {
			used &^= 1<<(seq&63) - 1
		}
		for ; used != 0; used &= used - 1 {
			if !f(p.slots[bits.TrailingZeros64(used)]) {
				return
			}
		}
	}
}
