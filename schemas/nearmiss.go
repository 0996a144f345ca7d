package schemas

import (
	"slices"
	"strings"
)

// Misspelt returns a warning for every key that is probably meant to be one that
// the schema knows, anywhere in the document, in the order of the text. Case is
// a mistake only where the schema says that it counts. Keys of a closed object,
// which are faults already, are not repeated.
func (d *Document) Misspelt(name Name) []*Fault {
	c := load(name)
	var out []*Fault
	var walk func(n *node, s *shape, path string)
	walk = func(n *node, s *shape, path string) {
		for i, item := range n.items {
			if s.items != nil {
				walk(item, s.items, IndexPath(path, i))
			}
		}
		variant := s.variant(n)
		for _, m := range n.members {
			if p, ok := s.property(m.key, variant); ok {
				walk(m.value, p.shape, JoinPath(path, m.key))
			}
		}
		if s.additional == nil && !s.closed {
			out = append(out, d.misspelt(n, path, s.all(variant))...)
		}
	}
	walk(d.root, c.shape, "")
	Sort(out)
	return out
}

// Unknown returns a fault for every key that has no effect, in the order of the text: those
// that the schema does not know, but for sections that it leaves open or that this program
// does not read, where only those that [Document.Misspelt] finds are meant to be others.
func (d *Document) Unknown(name Name) []*Fault {
	out := d.Misspelt(name)
	for _, f := range out {
		f.Reason, f.Hint = "unknown key, which has no effect", "did you mean "+f.Allowed+"?"
	}
	var walk func(n *node, s *shape, path string)
	walk = func(n *node, s *shape, path string) {
		for i, item := range n.items {
			if s.items != nil {
				walk(item, s.items, IndexPath(path, i))
			}
		}
		if s.idle || s.additional != nil {
			return
		}
		variant := s.variant(n)
		known := s.all(variant)
		for _, m := range n.members {
			at := JoinPath(path, m.key)
			p, ok := s.property(m.key, variant)
			switch {
			case ok:
				walk(m.value, p.shape, at)
			case s.othersIdle || len(known) == 0 || slices.ContainsFunc(out, func(f *Fault) bool { return f.Path == at }):
			default:
				names := make([]string, len(known))
				for i, k := range known {
					names[i] = k.name
				}
				f := d.faultAt(m.value, at, Quote(m.key), strings.Join(names, ", "), "unknown key, which has no effect")
				if near := Nearest(m.key, names); near != "" {
					f.Hint = "did you mean " + Quote(near) + "?"
				}
				out = append(out, f)
			}
		}
	}
	walk(d.root, load(name).shape, "")
	Sort(out)
	return out
}

func (s *shape) all(variant *shape) []property {
	var out []property
	for _, from := range []*shape{s, variant} {
		if from == nil {
			continue
		}
		for _, p := range from.properties {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b property) int { return strings.Compare(a.name, b.name) })
	return out
}

// misspelt compares the keys of one object with the properties it may have.
func (d *Document) misspelt(n *node, path string, properties []property) []*Fault {
	matches := func(p property, key string) bool {
		return p.name == key || !p.exact && strings.EqualFold(p.name, key)
	}
	var missing []string
	for _, p := range properties {
		if !slices.ContainsFunc(n.members, func(m member) bool { return matches(p, m.key) }) {
			missing = append(missing, p.name)
		}
	}
	var out []*Fault
	for _, m := range n.members {
		if slices.ContainsFunc(properties, func(p property) bool { return matches(p, m.key) }) {
			continue
		}
		near := Nearest(m.key, missing)
		if near == "" {
			near = double(m.key, properties)
		}
		if near == "" {
			continue
		}
		reason := "unknown key, which is ignored; its spelling is close to " + Quote(near)
		if strings.EqualFold(near, m.key) {
			reason = "unknown key, which is ignored; it differs only by case from " + Quote(near)
		}
		f := d.faultAt(m.value, JoinPath(path, m.key), Quote(m.key), Quote(near), reason)
		f.Hint = "write " + Quote(near) + " if that is meant"
		out = append(out, f)
	}
	return out
}

// double returns the name of a property that is given too and that key resembles so
// much that nothing else can be meant: it differs by case, or a long one by a letter.
func double(key string, properties []property) string {
	const long = 12
	for _, p := range properties {
		if strings.EqualFold(p.name, key) || len(p.name) >= long && editDistance(strings.ToLower(key), strings.ToLower(p.name), 1) <= 1 {
			return p.name
		}
	}
	return ""
}

// Nearest returns the name that key resembles most, or "". Short names may
// differ in one letter, longer ones in two; case does not count.
func Nearest(key string, names []string) string {
	return nearest(key, names, func(name string) int {
		switch {
		case len(name) < 4:
			return 0
		case len(name) < 7:
			return 1
		}
		return 2
	})
}

// Meant is Nearest for a key that must be one of few names, so that more of a short one may
// differ: every second letter, two at the most.
func Meant(key string, names []string) string {
	return nearest(key, names, func(name string) int { return min(2, len(name)/2) })
}

// Numbered reports whether two names differ in what counts things: a digit, or their last
// letter, as in orders2 and queue-b. Neither needs to be meant to be the other.
func Numbered(a, b string) bool {
	end := func(s string) string { return strings.TrimRight(s, "0123456789") }
	if end(a) == end(b) {
		return true
	}
	return len(a) == len(b) && len(a) > 0 && a[:len(a)-1] == b[:len(b)-1]
}

func nearest(key string, names []string, limitOf func(name string) int) string {
	best, least := "", 3
	for _, name := range names {
		limit := limitOf(name)
		distance := editDistance(strings.ToLower(key), strings.ToLower(name), limit)
		if distance <= limit && distance < least {
			best, least = name, distance
		}
	}
	return best
}

// editDistance counts insertions, deletions, substitutions and swaps of
// neighbours that turn a into b, up to limit; above it returns limit+1.
func editDistance(a, b string, limit int) int {
	x, y := []rune(a), []rune(b)
	if len(x)-len(y) > limit || len(y)-len(x) > limit {
		return limit + 1
	}
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := range x {
		row[0] = i + 1
		for j := range y {
			change := 1
			if x[i] == y[j] {
				change = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+change)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return min(last[len(y)], limit+1)
}
