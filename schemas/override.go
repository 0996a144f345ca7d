package schemas

import (
	"slices"
	"strconv"
	"strings"
)

// Override lays one setting over the document, as the platform lays
// AzureFunctionsJobHost__a__b over a.b of host.json: keys match in any letter
// case, what is missing on the way is made, and a number as a key is the index
// of a list item (past the end: a further item). source names the origin in
// faults: "environment", "--set". An empty path, or a text where the document
// has an object, changes nothing.
//
//	d.Override([]string{"retry", "maxRetryCount"}, "1", "environment")
//	d.Override([]string{"functions", "0"}, "Orders", "environment")
func (d *Document) Override(path []string, text, source string) {
	path = slices.DeleteFunc(slices.Clone(path), func(s string) bool { return s == "" })
	if len(path) == 0 {
		return
	}
	n := d.root
	for i, key := range path {
		leaf := i == len(path)-1
		if n.kind != objectNode && n.kind != arrayNode {
			*n = node{kind: objectNode, source: source}
		}
		next := n.step(overrideStep(n, key))
		if next == nil {
			next = n.add(key, source)
		}
		if leaf && next.kind != objectNode {
			*next = node{kind: stringNode, text: text, source: source}
		}
		if !leaf && next.kind != objectNode && next.kind != arrayNode {
			*next = node{kind: objectNode, source: source}
			if _, isIndex := listIndex(path[i+1]); isIndex {
				next.kind = arrayNode
			}
		}
		n = next
	}
}

func overrideStep(n *node, key string) step {
	if index, ok := listIndex(key); ok && n.kind == arrayNode {
		return step{index: index}
	}
	return step{key: key, index: -1}
}

// add makes an empty value for key. A list that gets a name becomes an object
// whose keys are its indexes, as in the platform's configuration.
func (n *node) add(key, source string) *node {
	made := &node{kind: nullNode, source: source}
	if n.kind == arrayNode {
		if _, ok := listIndex(key); ok {
			n.items = append(n.items, made)
			return made
		}
		n.kind = objectNode
		for i, item := range n.items {
			n.members = append(n.members, member{key: strconv.Itoa(i), value: item})
		}
		n.items = nil
	}
	n.members = append(n.members, member{key: key, value: made})
	return made
}

func listIndex(key string) (int, bool) {
	if strings.HasPrefix(key, "+") {
		return 0, false
	}
	n, err := strconv.Atoi(key)
	return n, err == nil && n >= 0
}
