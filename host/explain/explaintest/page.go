// Package explaintest puts lives together from their changes, as the page of a running host
// does (page.go).
package explaintest

import (
	"encoding/json"
	"slices"

	"github.com/redeliver/redeliver/host/explain"
	"github.com/redeliver/redeliver/host/journal"
)

// A Page is told lives as they come.
type Page struct {
	Teller *explain.Teller
	Lives  []*explain.Course // complete, in the order of their first records
	Host   []explain.Mark
	Every  int // records for which changes gather; 0: one

	added int
}

// Read is a page to which records were told.
func Read(records []journal.Record, every int) *Page {
	p := &Page{Teller: explain.NewTeller(0), Every: every}
	for i := range records {
		p.Add(&records[i])
	}
	p.Flush()
	return p
}

// Add tells a record.
func (p *Page) Add(r *journal.Record) {
	p.Teller.Add(r)
	if p.added++; p.added >= p.Every {
		p.Flush()
	}
}

// Flush takes what has changed, as JSON.
func (p *Page) Flush() {
	p.added = 0
	told := p.Teller.Changes()
	var c explain.Changes
	if err := json.Unmarshal(told.AppendJSON(nil), &c); err != nil {
		panic(err)
	}
	p.Teller.Flush()
	p.Host = append(p.Host, c.Host...)
	for _, news := range c.Lives {
		at := slices.IndexFunc(p.Lives, func(l *explain.Course) bool { return l.Key == news.Key })
		if at < 0 {
			p.Lives = append(p.Lives, news)
			continue
		}
		known := p.Lives[at]
		news.Marks, news.Lines = append(known.Marks, news.Marks...), append(known.Lines, news.Lines...)
		news.Deliveries = merged(known.Deliveries, news.Deliveries, func(d *explain.Delivery) uint64 { return d.Seq }, func(before, d *explain.Delivery) {
			d.Attempts = merged(before.Attempts, d.Attempts, func(a *explain.Try) uint64 { return a.Seq }, func(_, _ *explain.Try) {})
			if d.Inputs == nil {
				d.Inputs = before.Inputs
			}
		})
		p.Lives[at] = news
	}
	p.Lives = slices.DeleteFunc(p.Lives, func(l *explain.Course) bool { return slices.Contains(c.Dropped, l.Key) })
}

// Of are the lives of a message.
func (p *Page) Of(message string) (list []*explain.Course) {
	for _, l := range p.Lives {
		if l.Message == message {
			list = append(list, l)
		}
	}
	return list
}

// merged is a list with the news of it.
func merged[T any](list, news []T, key func(T) uint64, join func(before, after T)) []T {
	at := map[uint64]int{}
	for i, one := range list {
		at[key(one)] = i
	}
	list = slices.Clone(list)
	for _, one := range news {
		if i, known := at[key(one)]; known {
			join(list[i], one)
			list[i] = one
		} else {
			list = append(list, one)
		}
	}
	return list
}
