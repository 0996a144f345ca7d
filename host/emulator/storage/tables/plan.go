package tables

import (
	"slices"

	tableapi "github.com/redeliver/redeliver/bindings/table"
)

// interval is the texts from one to another, both included.
type interval struct {
	from string
	to   *string // nil: without an end
}

// point reports whether the interval has one text.
func (i interval) point() bool { return i.to != nil && *i.to == i.from }

// meet returns what is in both.
func (i interval) meet(o interval) (out interval, some bool) {
	out = i
	if tableapi.CompareText(o.from, out.from) > 0 {
		out.from = o.from
	}
	if out.to == nil || o.to != nil && tableapi.CompareText(*o.to, *out.to) < 0 {
		out.to = o.to
	}
	return out, out.to == nil || tableapi.CompareText(out.from, *out.to) <= 0
}

// part is a part of a table, in which answers of a query can lie: some partitions, and in
// each some rows.
type part struct{ partitions, rows interval }

// first is the key from which a part has to be looked at.
func (p part) first() tableapi.Key {
	if p.partitions.point() {
		return tableapi.Key{Partition: p.partitions.from, Row: p.rows.from}
	}
	return tableapi.Key{Partition: p.partitions.from}
}

// behind reports whether a key comes after all of a part.
func (p part) behind(k tableapi.Key) bool {
	if p.partitions.to == nil {
		return false
	}
	c := tableapi.CompareText(k.Partition, *p.partitions.to)
	return c > 0 || c == 0 && p.partitions.point() && p.rows.to != nil && tableapi.CompareText(k.Row, *p.rows.to) > 0
}

// maxParts bounds the parts of a plan. A filter that would have more has one: everything.
const maxParts = 200

// plan returns the parts of a table outside of which a filter never holds, by their
// beginning.
func plan(n node) []part {
	parts := parts(n)
	slices.SortFunc(parts, func(a, b part) int { return a.first().Compare(b.first()) })
	return parts
}

func parts(n node) []part {
	all := []part{{}}
	switch n := n.(type) {
	case compare:
		return []part{compared(n)}
	case either:
		var out []part
		for _, t := range n.terms {
			if out = append(out, parts(t)...); len(out) > maxParts {
				return all
			}
		}
		return out
	case both:
		out := all
		for _, t := range n.terms {
			met := meet(out, parts(t))
			if len(met) > maxParts {
				continue // without this term it is more, and not wrong
			}
			out = met
		}
		return out
	}
	return all
}

// meet returns what is in one part of each.
func meet(a, b []part) (out []part) {
	for _, p := range a {
		for _, q := range b {
			partitions, some := p.partitions.meet(q.partitions)
			rows, any := p.rows.meet(q.rows)
			if some && any {
				out = append(out, part{partitions, rows})
			}
		}
	}
	return out
}

// compared is the part in which a comparison with a constant can hold.
func compared(n compare) part {
	name, text, op := n.left, n.right, n.op
	if _, ok := name.(property); !ok {
		name, text, op = n.right, n.left, mirrored[n.op]
	}
	p, isProperty := name.(property)
	c, isConstant := text.(constant)
	s, isText := c.v.(string)
	if !isProperty || !isConstant || !isText {
		return part{}
	}
	var i interval
	switch op {
	case "eq":
		i = interval{s, &s}
	case "gt", "ge":
		i.from = s
	case "lt", "le":
		i.to = &s
	}
	switch p.name {
	case "PartitionKey":
		return part{partitions: i}
	case "RowKey":
		return part{rows: i}
	}
	return part{}
}

// mirrored is the operator for operands that have changed places.
var mirrored = map[string]string{"eq": "eq", "ne": "ne", "gt": "lt", "ge": "le", "lt": "gt", "le": "ge"} // read only
