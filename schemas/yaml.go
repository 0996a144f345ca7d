package schemas

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// MaxNodes is how many values [ParseYAML] makes of a file. Aliases count as often as
// they are used.
const MaxNodes = 200_000

// ParseYAML reads a stream of YAML documents, as [Parse] reads JSON. A document without
// content is left out. Values get the types of JSON: times and other tags are text, and
// keys must be text. A key that occurs twice in one mapping is a fault.
//
// The fault is the first thing that cannot be read: text that is larger than [MaxSize],
// nested deeper than [MaxDepth], more than [MaxNodes] values, or not YAML.
func ParseYAML(file string, text []byte) ([]*Document, *Fault) {
	plain := strings.TrimPrefix(string(text), "\ufeff")
	r := &yamlReader{file: file, text: plain, lines: lineStarts(plain)}
	switch {
	case len(text) > MaxSize:
		return nil, r.fault(1, 1, fmt.Sprintf("%d bytes", len(text)), fmt.Sprintf("at most %d bytes", MaxSize), "the file is too large")
	case !utf8.ValidString(plain):
		return nil, r.fault(1, 1, "", "UTF-8", "the file is not text in UTF-8")
	}
	var docs []*Document
	decoder := yaml.NewDecoder(bytes.NewReader([]byte(plain)))
	for {
		var n yaml.Node
		err := decoder.Decode(&n)
		if errors.Is(err, io.EOF) {
			return docs, nil
		}
		if err != nil {
			return nil, r.syntax(err)
		}
		root := r.node(&n, 0)
		if r.found != nil {
			return nil, r.found
		}
		if root.kind != nullNode {
			docs = append(docs, &Document{file: file, text: plain, lines: r.lines, root: root})
		}
	}
}

// A yamlReader makes nodes of a file's values. It keeps its first fault.
type yamlReader struct {
	file  string
	text  string
	lines []int
	nodes int
	found *Fault
}

// yamlLine is how the parser names a place.
var yamlLine = regexp.MustCompile(`^yaml: line (\d+): (.*)$`)

// syntax is the fault of a text that is not YAML.
func (r *yamlReader) syntax(err error) *Fault {
	line, text := 1, strings.TrimPrefix(err.Error(), "yaml: ")
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		line, _ = strconv.Atoi(m[1])
		text = m[2]
	}
	f := r.fault(line, 1, "", "", "the file is not YAML: "+text)
	f.Hint = "indent with spaces, and put text with ':', '#', '{' or '%' into quotes"
	return f
}

func (r *yamlReader) fault(line, column int, found, allowed, reason string) *Fault {
	return &Fault{File: r.file, Line: line, Column: column, Found: found, Allowed: allowed, Reason: reason}
}

func (r *yamlReader) fail(n *yaml.Node, found, allowed, reason string) *node {
	if r.found == nil {
		r.found = r.fault(n.Line, n.Column, found, allowed, reason)
	}
	return &node{}
}

// offset is where a value begins.
func (r *yamlReader) offset(n *yaml.Node) int {
	if n.Line < 1 || n.Line > len(r.lines) {
		return 0
	}
	at := r.lines[n.Line-1]
	for range n.Column - 1 {
		_, size := utf8.DecodeRuneInString(r.text[at:])
		at += size
	}
	return at
}

func (r *yamlReader) node(n *yaml.Node, depth int) *node {
	r.nodes++
	switch {
	case r.found != nil:
		return &node{}
	case depth > MaxDepth:
		return r.fail(n, "", fmt.Sprintf("at most %d levels", MaxDepth), "the file is nested too deep")
	case r.nodes > MaxNodes:
		return r.fail(n, "", fmt.Sprintf("at most %d values", MaxNodes), "the file has too many values")
	}
	out := &node{offset: r.offset(n)}
	switch n.Kind {
	case yaml.DocumentNode:
		if len(n.Content) == 0 {
			return out
		}
		return r.node(n.Content[0], depth)
	case yaml.AliasNode:
		aliased := r.node(n.Alias, depth+1)
		aliased.offset = out.offset
		return aliased
	case yaml.SequenceNode:
		out.kind = arrayNode
		for _, item := range n.Content {
			out.items = append(out.items, r.node(item, depth+1))
		}
	case yaml.MappingNode:
		out.kind = objectNode
		r.members(out, n, depth)
	case yaml.ScalarNode:
		r.scalar(out, n)
	}
	return out
}

// members reads a mapping. What is merged into it ("<<") stands before its own keys.
func (r *yamlReader) members(out *node, n *yaml.Node, depth int) {
	own := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch {
		case key.Tag == "!!merge":
			out.members = append(r.merged(value, depth), out.members...)
			continue
		case key.Kind != yaml.ScalarNode:
			r.fail(key, "", "text", "a key must be text")
			return
		case own[key.Value]:
			r.fail(key, Quote(key.Value), "", "the key stands here twice")
			return
		}
		own[key.Value] = true
		out.members = append(out.members, member{key: key.Value, value: r.node(value, depth+1)})
	}
}

func (r *yamlReader) merged(n *yaml.Node, depth int) []member {
	from := r.node(n, depth+1)
	switch from.kind {
	case objectNode:
		return from.members
	case arrayNode:
		var all []member
		for _, item := range from.items {
			all = append(item.members, all...) // the first has precedence
		}
		return all
	}
	r.fail(n, from.found(), "a mapping, or a list of them", "this cannot be merged")
	return nil
}

// scalar reads a value by its tag (YAML 1.2, core schema).
func (r *yamlReader) scalar(out *node, n *yaml.Node) {
	out.kind, out.text = stringNode, n.Value
	switch n.Tag {
	case "!!null":
		out.kind, out.text = nullNode, ""
	case "!!bool":
		var b bool
		if n.Decode(&b) == nil {
			out.kind, out.text = boolNode, strconv.FormatBool(b)
		}
	case "!!int", "!!float":
		switch digits := strings.TrimLeft(n.Value, "+-"); {
		case json.Valid([]byte(n.Value)): // keeps its digits: a body is sent as it is written
			out.kind = numberNode
			return
		case strings.Contains(n.Value, "_"):
			return // text in YAML 1.2
		case len(digits) > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9':
			r.fail(n, n.Value, "a number without 0 before it, or the text in quotes", "a number that begins with 0 is another one for some readers of YAML")
			return
		}
		var v any
		if n.Decode(&v) != nil {
			return
		}
		if text, err := json.Marshal(v); err == nil { // not of .inf and .nan
			out.kind, out.text = numberNode, string(text)
		}
	}
}
