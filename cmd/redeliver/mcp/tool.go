package mcp

import (
	"context"
	"maps"
	"slices"
	"strings"
)

// A Tool is one that an assistant can call. It has one way without a name, or several, of
// which the argument that Choose names says the one that is meant.
type Tool struct {
	Name, Title string
	About       string // what it does, for the assistant that chooses among tools

	Choose string // "service"
	First  string // the way that is meant where none is chosen; empty: one has to be
	Ways   []Way
}

// A Way is one thing that a tool does.
type Way struct {
	Name      string // by which it is chosen
	About     string
	Arguments []Argument
	Effect    Effect
	Answer    string // the name of its Data among the schemas of the control API; empty: they do not have it
	Part      bool   // Data may lack what Answer always has

	// Do does it with arguments of the types that their schemas name: string, bool, int64,
	// []any, or any value of JSON. It may be called concurrently, and ends with ctx.
	Do func(ctx context.Context, given map[string]any) (Answer, error)
}

// Effect is what a way does to the host.
type Effect int

// The effects, from the least.
const (
	Reads    Effect = iota // nothing
	Changes                // something is added or moved on
	Destroys               // something is taken away or broken: it wants a confirmation
)

// An Argument is one that a way takes.
type Argument struct {
	Name     string
	Required bool
	Schema   map[string]any // JSON Schema: type, description, limits
	Body     bool           // a text as it is, or any other value as its JSON
	Also     []string       // other names that are taken for a slip
}

// An Answer is what a tool tells: for people, and for programs.
type Answer struct {
	Text string
	Data any // marshals to an object of JSON; nil: there is none
}

// A Refusal says why a call was not carried out, and what to do about it.
type Refusal struct{ Text, Hint string }

func (r *Refusal) Error() string { return r.Text }

// confirm is the argument that what destroys wants.
const confirm = "confirm"

// effect is the strongest one of the tool's ways.
func (t *Tool) effect() (most Effect) {
	for i := range t.Ways {
		most = max(most, t.Ways[i].Effect)
	}
	return most
}

// describe is all that an assistant reads of the tool before it calls it.
func (t *Tool) describe() string {
	var b strings.Builder
	b.WriteString(t.About)
	for i := range t.Ways {
		w := &t.Ways[i]
		if w.About == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		if w.Name != "" {
			b.WriteString(t.Choose + " " + quoted(w.Name) + ": ")
		}
		b.WriteString(w.About)
		if w.Effect == Destroys && t.mixed() {
			b.WriteString(" It wants " + confirm + ": true.")
		}
	}
	return b.String()
}

// mixed reports whether only some ways destroy.
func (t *Tool) mixed() bool {
	return t.effect() == Destroys && slices.ContainsFunc(t.Ways, func(w Way) bool { return w.Effect != Destroys })
}

// schema is the JSON Schema of the tool's arguments. It keeps to what all clients take: an
// object whose properties have a type, without a choice between schemas.
func (t *Tool) schema() map[string]any {
	properties, required := map[string]any{}, []string{}
	if t.Choose != "" {
		names := make([]string, len(t.Ways))
		for i := range t.Ways {
			names[i] = t.Ways[i].Name
		}
		choose := map[string]any{"type": "string", "enum": names}
		if t.First != "" {
			choose["default"] = t.First
		} else {
			required = append(required, t.Choose)
		}
		properties[t.Choose] = choose
	}
	for _, name := range t.arguments() {
		property, always := t.property(name)
		if properties[name] = property; always {
			required = append(required, name)
		}
	}
	if t.effect() == Destroys {
		about := "It takes something away or breaks something, and is refused without true here: ask the user first."
		if t.mixed() {
			about = "What takes something away or breaks something is refused without true here: ask the user first."
		}
		properties[confirm] = map[string]any{"type": "boolean", "description": about}
	}
	return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

// arguments are the names of all arguments, in the order of the ways.
func (t *Tool) arguments() (names []string) {
	for i := range t.Ways {
		for _, a := range t.Ways[i].Arguments {
			if !slices.Contains(names, a.Name) {
				names = append(names, a.Name)
			}
		}
	}
	return names
}

// property is the schema of an argument over all ways that take it, and whether each way
// wants it.
func (t *Tool) property(name string) (out map[string]any, always bool) {
	type telling struct {
		text string
		ways []string
	}
	var tellings []*telling
	always = true
	for i := range t.Ways {
		w := &t.Ways[i]
		a := w.argument(name)
		if a == nil {
			always = false
			continue
		}
		always = always && a.Required
		text, _ := a.Schema["description"].(string)
		if j := slices.IndexFunc(tellings, func(other *telling) bool { return other.text == text }); j >= 0 {
			tellings[j].ways = append(tellings[j].ways, w.Name)
		} else {
			tellings = append(tellings, &telling{text, []string{w.Name}})
		}
		if out == nil {
			out = maps.Clone(a.Schema)
			continue
		}
		for key, value := range out { // only what is true of all
			if other, ok := a.Schema[key]; !ok || !equal(value, other) {
				delete(out, key)
			}
		}
	}
	delete(out, "description")
	var lines []string
	for _, tell := range tellings {
		if len(tell.ways) < len(t.Ways) {
			tell.text = strings.TrimSpace("(" + strings.Join(tell.ways, ", ") + ") " + tell.text)
		}
		if tell.text != "" {
			lines = append(lines, tell.text)
		}
	}
	if len(lines) > 0 {
		out["description"] = strings.Join(lines, "; ")
	}
	return out, always
}

// argument is the one of that name, or nil.
func (w *Way) argument(name string) *Argument {
	for i := range w.Arguments {
		if w.Arguments[i].Name == name {
			return &w.Arguments[i]
		}
	}
	return nil
}
