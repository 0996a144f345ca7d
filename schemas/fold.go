package schemas

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Fold makes of the document what the platform's configuration holds of it. Of keys
// with one spelling the last replaces the others. Keys that differ by case only are
// one: their objects and lists are merged item by item, and of two other values the
// later counts. Each of both gives a warning, in the order of the text. A key whose
// case counts in that schema stays for itself. Call it before [Document.Override].
//
// Source: host: HostJsonFileConfigurationSource.cs, which writes every value of the
// parsed file under its path into a dictionary that ignores case.
func (d *Document) Fold(name Name) []*Fault {
	f := folding{doc: d}
	d.root = f.fold(d.root, load(name).shape, "")
	Sort(f.warnings)
	return f.warnings
}

// A folding notes warnings if doc is not nil.
type folding struct {
	doc      *Document
	warnings []*Fault
}

func (f *folding) fold(n *node, s *shape, path string) *node {
	if len(n.items) == 0 && len(n.members) == 0 {
		return n
	}
	folded := *n
	folded.items, folded.members = nil, nil
	for i, item := range n.items {
		folded.items = append(folded.items, f.fold(item, s.item(), IndexPath(path, i)))
	}
	for _, m := range f.last(n.members, path) {
		at := JoinPath(path, m.key)
		p, known := s.child(m.key)
		m.value = f.fold(m.value, p.shape, at)
		i := slices.IndexFunc(folded.members, func(other member) bool { return strings.EqualFold(other.key, m.key) })
		if i < 0 || known && p.exact || s.hasExact(m.key) {
			folded.members = append(folded.members, m)
			continue
		}
		first := folded.members[i].key
		f.warn(m.value, at, m.key, Quote(first)+" stands here too: keys that differ only by case are one, and where both set a value the later one counts", "write it once, as "+Quote(first))
		folded.members[i].value = merge(folded.members[i].value, m.value)
	}
	return &folded
}

// last keeps of members with one spelling the last, where the first stood.
func (f *folding) last(members []member, path string) []member {
	var kept []member
	at := make(map[string]int, len(members))
	for _, m := range members {
		if i, twice := at[m.key]; twice {
			f.warn(m.value, JoinPath(path, m.key), m.key, "the key stands here twice, and the last one replaces the first", "write it once")
			kept[i] = m
			continue
		}
		at[m.key] = len(kept)
		kept = append(kept, m)
	}
	return kept
}

func (f *folding) warn(n *node, path, key, reason, hint string) {
	if f.doc == nil {
		return
	}
	w := f.doc.faultAt(n, path, Quote(key), "", reason)
	w.Hint = hint
	f.warnings = append(f.warnings, w)
}

// merge lays later over earlier. Configuration holds values and no containers, so an
// empty container changes nothing, and a value stands beside the values below its key.
func merge(earlier, later *node) *node {
	switch {
	case !later.container():
		if earlier.filled() {
			return earlier
		}
		return later
	case !later.filled() && earlier.kind != nullNode:
		return earlier
	case !earlier.filled():
		return later
	case earlier.kind == arrayNode && later.kind == arrayNode:
		merged := *later
		merged.items = slices.Clone(earlier.items)
		for i, item := range later.items {
			if i < len(merged.items) {
				merged.items[i] = merge(merged.items[i], item)
			} else {
				merged.items = append(merged.items, item)
			}
		}
		return &merged
	}
	merged := *later
	merged.kind, merged.items, merged.members = objectNode, nil, earlier.byKey()
	for _, m := range later.byKey() {
		i := slices.IndexFunc(merged.members, func(other member) bool { return strings.EqualFold(other.key, m.key) })
		if i < 0 {
			merged.members = append(merged.members, m)
			continue
		}
		merged.members[i].value = merge(merged.members[i].value, m.value)
	}
	return &merged
}

func (n *node) container() bool { return n.kind == objectNode || n.kind == arrayNode }

func (n *node) filled() bool { return len(n.items)+len(n.members) > 0 }

// byKey returns the members of an object; an item of a list has its index as key.
func (n *node) byKey() []member {
	members := slices.Clone(n.members)
	for i, item := range n.items {
		members = append(members, member{key: strconv.Itoa(i), value: item})
	}
	return members
}

// byIndex returns the items of a list. The items of an object are its values in the
// order of configuration: numbers first, by size, then the other keys.
func (n *node) byIndex() []*node {
	if n.kind == arrayNode {
		return n.items
	}
	members := slices.Clone(n.members)
	slices.SortStableFunc(members, func(a, b member) int { return compareKeys(a.key, b.key) })
	items := make([]*node, len(members))
	for i, m := range members {
		items[i] = m.value
	}
	return items
}

// compareKeys orders the keys of one section. Source: .NET's ConfigurationKeyComparer.
func compareKeys(a, b string) int {
	x, xIs := listIndex(a)
	y, yIs := listIndex(b)
	switch {
	case xIs && yIs:
		return cmp.Compare(x, y)
	case xIs != yIs && xIs:
		return -1
	case xIs != yIs:
		return 1
	}
	return strings.Compare(strings.ToLower(a), strings.ToLower(b))
}

// child is the shape of the value of key; it has none if nothing is known of it.
func (s *shape) child(key string) (property, bool) {
	if s == nil {
		return property{}, false
	}
	if p, ok := s.property(key, nil); ok {
		return p, true
	}
	return property{shape: s.additional}, false
}

func (s *shape) item() *shape {
	if s == nil {
		return nil
	}
	return s.items
}

// hasExact reports whether key differs only by case from a property whose case counts.
func (s *shape) hasExact(key string) bool {
	return s != nil && s.properties[strings.ToLower(key)].exact
}
