package schemas

import "slices"

// Misshapen returns a warning for every value of a file of configuration that has not
// the form that its key takes, such as a text where an object is wanted: the platform
// does not read it, and the key counts as not set. A value that is read and cannot be
// converted is a fault of [Document.Validate], but for the few keys whose reader makes
// nothing of that.
//
// Source: .NET's ConfigurationBinder, which converts the value of a section to a number
// or text, and the values below it to an object or list, and leaves the other alone.
func (d *Document) Misshapen(name Name) []*Fault {
	c := load(name)
	r := &canonicalizer{style: c.style, earlier: d.earlier}
	var out []*Fault
	var walk func(n *node, s *shape, path string)
	walk = func(n *node, s *shape, path string) {
		wanted := s.misfit(r.reshape(n, s))
		if s.orUnset && wanted == "" && n.kind != nullNode {
			if v, given := r.scalar(n, s); given && !s.converted(v) {
				wanted = location{chain: []map[string]any{s.schema}}.allowed()
			}
		}
		if wanted != "" {
			if !s.demanding { // else it lacks what it must have, which is a fault
				out = append(out, d.faultAt(n, path, n.found(), wanted, "the value is not read, and the key counts as not set"))
			}
			return
		}
		for i, item := range n.items {
			if s.items != nil {
				walk(item, s.items, IndexPath(path, i))
			}
		}
		variant := s.variant(n)
		for _, m := range n.members {
			if p, ok := s.property(m.key, variant); ok {
				walk(m.value, p.shape, JoinPath(path, m.key))
			} else if s.additional != nil {
				walk(m.value, s.additional, JoinPath(path, m.key))
			}
		}
	}
	if d.root.kind == objectNode {
		walk(d.root, c.shape, "")
	}
	Sort(out)
	return out
}

// misfit says which form the shape takes, if the node has another one that configuration
// does not read; else it is empty. What is of this program has faults instead.
func (s *shape) misfit(n *node) string {
	object, list := slices.Contains(s.types, "object"), slices.Contains(s.types, "array")
	switch {
	case s.own || n.kind == nullNode || len(s.types) == 0:
		return ""
	case object && n.kind != objectNode && !list:
		return "an object"
	case list && n.kind != arrayNode && !object:
		return "a list"
	case !object && !list && n.container():
		return "a single value"
	}
	return ""
}

// indexed reports whether all keys of an object are indexes of a list.
func (n *node) indexed() bool {
	return n.filled() && !slices.ContainsFunc(n.members, func(m member) bool {
		_, ok := listIndex(m.key)
		return !ok
	})
}
