package schemas

import (
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Canonical returns the document's content in the spelling and the types of a
// schema, numbers as json.Number:
//
//   - known keys in the schema's letter case; of several that mean the same the
//     last counts, in host.json after [Document.Fold]
//   - words of a closed set in the schema's letter case
//   - text converted where the schema wants a number or a boolean, and back, as
//     the platform converts; in host.json a bare number is the text of a time span
//   - null, and empty text for what can be null on the platform, left out: it means "not
//     given"; in host.json null is empty text
//   - in host.json, a value left out that has not the form that its key takes, because
//     the platform does not read it: see [Document.Misshapen]
//   - in function.json, text with a %setting% in it left out where the schema
//     wants no free text, because it can be read only when it is resolved
//
// Values that cannot be converted stay as they are; [Document.Validate] reports
// them. Unknown keys stay. If the document is no object, the map is empty. It
// panics for a name that is not in [Names].
func (d *Document) Canonical(name Name) map[string]any {
	c := load(name)
	m, _ := d.canonical(c, "", nil).(map[string]any)
	if m == nil {
		m = map[string]any{}
	}
	return m
}

// canonical puts noName in the place of an empty name.
func (d *Document) canonical(c *compiled, noName string, places map[string]place) any {
	r := &canonicalizer{style: c.style, noName: noName, places: places, earlier: d.earlier, attributes: c.attributes}
	v, _ := r.value(d.root, c.shape, "", "")
	return v
}

// A place says where a value of the canonical content stands in the document.
type place struct {
	node *node
	path string // as written
}

// A canonicalizer notes places by instance location if places is not nil.
type canonicalizer struct {
	style   style
	places  map[string]place
	earlier bool

	attributes bool
	noName     string
}

// value returns the canonical value of n, and false if it counts as not given.
func (r *canonicalizer) value(n *node, s *shape, location, path string) (any, bool) {
	if r.places != nil {
		r.places[location] = place{n, path}
	}
	if s == nil {
		return n.value(), true
	}
	if r.style != strictStyle {
		n = r.reshape(n, s)
	}
	if n.kind == nullNode && s.ofNull == "empty" {
		n = &node{kind: stringNode, offset: n.offset, source: n.source}
	}
	if r.style == configStyle && location != "" && s.demanding && n.container() && !n.filled() {
		return nil, false // a section without members is none
	}
	if r.style == configStyle && location != "" {
		if s.misfit(n) != "" || n.kind == nullNode && s.demanding {
			if !s.demanding {
				return nil, false
			}
			n = &node{kind: objectNode, offset: n.offset, source: n.source}
		} else if n.kind == nullNode && s.single() {
			n = &node{kind: stringNode, offset: n.offset, source: n.source}
		}
	}
	switch n.kind {
	case objectNode:
		return r.object(n, s, location, path), true
	case arrayNode:
		return r.array(n, s, location, path), true
	case nullNode:
		return nil, r.style == strictStyle || s.ofNull == "refused" || slices.Contains(s.types, "null")
	}
	if r.style == strictStyle {
		return n.value(), true
	}
	v, given := r.scalar(n, s)
	return v, given && (!s.orUnset || s.converted(v))
}

// converted reports whether a value has become what the shape takes.
func (s *shape) converted(v any) bool {
	switch v := v.(type) {
	case bool:
		return s.takes("boolean")
	case json.Number:
		_, err := strconv.ParseInt(string(v), 10, 32)
		return s.takes("number") || s.takes("integer") && err == nil
	case string:
		_, isWord := s.words[strings.ToLower(v)]
		return s.takes("string") && (isWord || len(s.words) == 0) && (s.format != formatTimeSpan || isTimeSpan(v))
	}
	return true
}

// reshape turns what stands for a list into one: in configuration an object, and text
// with commas where the schema says so.
func (r *canonicalizer) reshape(n *node, s *shape) *node {
	if !slices.Contains(s.types, "array") {
		return n
	}
	list := &node{kind: arrayNode, offset: n.offset, source: n.source}
	switch {
	case n.kind == objectNode && r.style == configStyle && (!s.own || n.indexed()):
		list.items = n.byIndex()
	case n.kind == stringNode && s.commaList:
		for word := range strings.SplitSeq(n.text, ",") {
			if word = strings.TrimSpace(word); word != "" {
				list.items = append(list.items, &node{kind: stringNode, text: word, offset: n.offset, source: n.source})
			}
		}
	default:
		return n
	}
	return list
}

func (r *canonicalizer) object(n *node, s *shape, location, path string) any {
	entries := r.entries(n, s)
	out := make(map[string]any, len(entries))
	for _, e := range entries {
		at := r.join(path, step{key: e.written, index: -1})
		name := cmp.Or(e.name, r.noName)
		if v, given := r.value(e.value, e.shape, location+"/"+escapeLocation(name), at); given {
			out[name] = v
		}
	}
	return out
}

// An entry is the result of all members with one canonical name.
type entry struct {
	name    string
	shape   *shape // nil if the schema does not know the name
	written string // the key of the last of them
	value   *node
}

// entries folds members that mean the same: the last counts.
func (r *canonicalizer) entries(n *node, s *shape) []entry {
	variant := s.variant(n)
	entries := make([]entry, 0, len(n.members))
	index := newIndex(len(n.members))
	for _, m := range n.members {
		e := entry{name: m.key, shape: s.additional, written: m.key, value: m.value}
		if p, ok := s.property(m.key, variant); ok && (r.style != strictStyle || p.name == m.key) {
			e.name, e.shape = p.name, p.shape
		} else if now := r.now(variant, m.key); now != "" {
			p, _ := s.property(now, variant)
			e.name, e.shape = p.name, p.shape
		}
		i := index.find(entries, e.name)
		if i < 0 {
			index.add(e.name, len(entries))
			entries = append(entries, e)
			continue
		}
		entries[i] = e
	}
	return entries
}

// now is the present name of a key that has another one, where that counts.
func (r *canonicalizer) now(variant *shape, key string) string {
	if variant == nil {
		return ""
	}
	for _, n := range renamed[FunctionJSON] {
		if (n.Also != nil || r.earlier && n.Bundle > 0) && n.In == variant.chosenBy && strings.EqualFold(n.Old, key) {
			return n.New
		}
	}
	return ""
}

// An entryIndex finds entries by name; a small object needs none.
type entryIndex map[string]int

func newIndex(members int) entryIndex {
	if members <= 16 {
		return nil
	}
	return make(entryIndex, members)
}

func (x entryIndex) add(name string, i int) {
	if x != nil {
		x[name] = i
	}
}

func (x entryIndex) find(entries []entry, name string) int {
	if x == nil {
		return slices.IndexFunc(entries, func(e entry) bool { return e.name == name })
	}
	if i, ok := x[name]; ok {
		return i
	}
	return -1
}

// variant returns the shape that the object's variant key chooses, or nil.
func (s *shape) variant(n *node) *shape {
	if s.variants == nil {
		return nil
	}
	if word := n.member(s.variantKey); word != nil && word.kind == stringNode {
		return s.variants[strings.ToLower(word.text)]
	}
	return nil
}

func (r *canonicalizer) array(n *node, s *shape, location, path string) any {
	out := make([]any, 0, len(n.items))
	for i, item := range n.items {
		at := strconv.Itoa(len(out))
		v, given := r.value(item, s.items, location+"/"+at, r.join(path, step{index: i}))
		if given || r.style == objectStyle {
			out = append(out, v)
		}
	}
	return out
}

// join builds paths only when they will be read.
func (r *canonicalizer) join(path string, s step) string {
	if r.places == nil {
		return ""
	}
	return s.appendTo(path)
}

func (r *canonicalizer) scalar(n *node, s *shape) (any, bool) {
	if n.kind == stringNode {
		return r.text(n, s)
	}
	isBool := n.kind == boolNode
	switch word, ok := s.cast(n); {
	case ok:
		return word, word != unset
	case r.attributes && !isBool && len(s.types) == 1 && s.takes("integer"): // so too
		if whole, ok := rounded(n.text); ok {
			return json.Number(whole), true
		}
	case r.attributes && !isBool && len(s.types) == 1 && s.takes("boolean"): // as Newtonsoft.Json converts
		f, err := strconv.ParseFloat(n.text, 64)
		return f != 0, err == nil
	case isBool && s.takes("boolean"), !isBool && (s.takes("integer") || s.takes("number")):
	case !s.takes("string"):
	case s.format != "" && r.style == objectStyle: // 10 is no time span there
	case isBool:
		return strings.ToUpper(n.text[:1]) + n.text[1:], true // as .NET writes it
	default:
		return s.word(NumberText(n.text)), true
	}
	return n.value(), true
}

func (r *canonicalizer) text(n *node, s *shape) (any, bool) {
	trimmed := strings.TrimSpace(n.text)
	if trimmed != "" && len(s.numbers) > 0 {
		if word, ok := s.combined(trimmed); ok {
			return word, word != unset
		}
	}
	if trimmed == "" && (n.text == "" || len(s.numbers) == 0) && (s.emptyUnset || s.span() && (s.own || r.style == objectStyle)) {
		return nil, false
	}
	free := s.takes("string") && len(s.words) == 0 && s.format == ""
	if r.style == objectStyle && !free && strings.Count(n.text, "%") >= 2 {
		return nil, false
	}
	if s.takes("string") {
		return s.word(n.text), true
	}
	if s.takes("integer") || s.takes("number") {
		if number, ok := textNumber(trimmed, s.takes("number")); ok {
			return number, true
		}
	}
	switch {
	case s.takes("boolean") && strings.EqualFold(trimmed, "true"):
		return true, true
	case s.takes("boolean") && strings.EqualFold(trimmed, "false"):
		return false, true
	}
	return n.text, true
}

// word returns the schema's spelling of a word of its closed set.
func (s *shape) word(text string) string {
	if w, ok := s.words[strings.ToLower(text)]; ok {
		return w
	}
	return text
}

// textNumber reads a number in a text as the platform's converters do. A sign
// and leading zeros may stand before it. A whole number has no point here,
// although the JSON number 2.0 is whole.
func textNumber(text string, fractions bool) (json.Number, bool) {
	sign := ""
	switch {
	case strings.HasPrefix(text, "+"):
		text = text[1:]
	case strings.HasPrefix(text, "-"):
		sign, text = "-", text[1:]
	}
	if len(text) > longestNumber || !fractions && strings.ContainsAny(text, ".eE") {
		return "", false
	}
	for len(text) > 1 && text[0] == '0' && '0' <= text[1] && text[1] <= '9' {
		text = text[1:]
	}
	return json.Number(sign + text), text != "" && text[0] != '-' && validNumber(sign+text)
}

// NumberText writes the literal of a number as the platform's configuration
// holds it: 2.0 is "2". Other text comes back unchanged.
func NumberText(literal string) string {
	if !strings.ContainsAny(literal, ".eE") {
		return literal
	}
	f, err := strconv.ParseFloat(literal, 64)
	if err != nil {
		return literal
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// escapeLocation escapes a key as jsonschema does in instance locations.
func escapeLocation(key string) string {
	if plainLocation(key) {
		return key
	}
	return url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(key))
}

func plainLocation(key string) bool {
	for i := range len(key) {
		if c := key[i] | 0x20; (c < 'a' || 'z' < c) && (key[i] < '0' || '9' < key[i]) {
			return false
		}
	}
	return true
}
