package schemas

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

type nodeKind uint8

const (
	nullNode nodeKind = iota
	boolNode
	numberNode
	stringNode
	arrayNode
	objectNode
)

// A node is one value of a document.
type node struct {
	kind    nodeKind
	text    string // content of a string, literal of a number, "true" or "false"
	items   []*node
	members []member // in the order of the text, duplicates kept
	offset  int      // in the text of the document; no meaning if source is set
	source  string   // where an override came from; empty for the file's own text
}

type member struct {
	key   string
	value *node
}

// member returns the value of key: the last of that spelling, else the last
// that differs only by case.
func (n *node) member(key string) *node {
	for i := len(n.members) - 1; i >= 0; i-- {
		if n.members[i].key == key {
			return n.members[i].value
		}
	}
	for i := len(n.members) - 1; i >= 0; i-- {
		if strings.EqualFold(n.members[i].key, key) {
			return n.members[i].value
		}
	}
	return nil
}

func (n *node) step(s step) *node {
	switch {
	case s.index < 0 && n.kind == objectNode:
		return n.member(s.key)
	case s.index >= 0 && n.kind == arrayNode && s.index < len(n.items):
		return n.items[s.index]
	case s.index >= 0 && n.kind == objectNode:
		return n.member(strconv.Itoa(s.index))
	}
	return nil
}

// value converts a node to the types of encoding/json.
func (n *node) value() any {
	switch n.kind {
	case boolNode:
		return n.text == "true"
	case numberNode:
		return json.Number(n.text)
	case stringNode:
		return n.text
	case arrayNode:
		items := make([]any, len(n.items))
		for i, item := range n.items {
			items[i] = item.value()
		}
		return items
	case objectNode:
		members := make(map[string]any, len(n.members))
		for _, m := range n.members {
			members[m.key] = m.value.value()
		}
		return members
	}
	return nil
}

// appendJSON writes strict JSON. A key that occurs twice stands where it stood
// first and has its last value, as in the platform's object model.
func (n *node) appendJSON(b []byte) []byte {
	switch n.kind {
	case nullNode:
		return append(b, "null"...)
	case boolNode, numberNode:
		return append(b, n.text...)
	case stringNode:
		return appendText(b, n.text)
	case arrayNode:
		b = append(b, '[')
		for i, item := range n.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = item.appendJSON(b)
		}
		return append(b, ']')
	}
	b = append(b, '{')
	last := make(map[string]*node, len(n.members))
	for _, m := range n.members {
		last[m.key] = m.value
	}
	start := len(b)
	for _, m := range n.members {
		value, ok := last[m.key]
		if !ok {
			continue
		}
		delete(last, m.key)
		if len(b) > start {
			b = append(b, ',')
		}
		b = appendText(b, m.key)
		b = append(b, ':')
		b = value.appendJSON(b)
	}
	return append(b, '}')
}

func appendText(b []byte, s string) []byte {
	text, err := json.Marshal(s)
	if err != nil {
		panic("schemas: a string did not marshal: " + err.Error())
	}
	return append(b, text...)
}

// found shows a value in a fault: as JSON, cut short, containers by their sort.
func (n *node) found() string {
	switch n.kind {
	case objectNode:
		if len(n.members) == 0 {
			return "{}"
		}
		return "an object"
	case arrayNode:
		if len(n.items) == 0 {
			return "[]"
		}
		return "a list"
	case stringNode:
		return Quote(n.text)
	case numberNode:
		return cut(n.text)
	}
	return string(n.appendJSON(nil))
}

// Quote shows user input in a fault: in double quotes, escaped, cut short.
func Quote(text string) string {
	return strconv.Quote(cut(text))
}

const longestFound = 60 // characters of user input that a fault repeats

func cut(text string) string {
	if utf8.RuneCountInString(text) <= longestFound {
		return text
	}
	return string([]rune(text)[:longestFound-1]) + "…"
}
