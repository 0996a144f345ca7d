package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/redeliver/redeliver/schemas"
)

// call finds the way that a call means, and its arguments, or refuses it.
func (t *Tool) call(raw json.RawMessage) (*Way, map[string]any, error) {
	parts, err := object(raw)
	if err != nil {
		return nil, nil, &Refusal{Text: fmt.Sprintf("the arguments of %s have to be an object of JSON: %v", t.Name, err)}
	}
	way, err := t.way(parts)
	if err != nil {
		return nil, nil, err
	}
	confirmed, err := t.confirmed(parts)
	if err != nil {
		return nil, nil, err
	}
	given := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		a := way.argument(name)
		if a == nil {
			return nil, nil, t.unknown(way, name)
		}
		if given[name], err = a.read(parts[name]); err != nil {
			return nil, nil, err
		}
	}
	for _, a := range way.Arguments {
		if _, ok := given[a.Name]; a.Required && !ok {
			return nil, nil, &Refusal{Text: fmt.Sprintf("%s wants the argument %q", t.naming(way), a.Name), Hint: t.takes(way)}
		}
	}
	if way.Effect == Destroys && !confirmed {
		return nil, nil, &Refusal{
			Text: t.naming(way) + " takes something away or breaks something, and was not confirmed: nothing was done",
			Hint: "ask the user; if that is what they want, call it again with \"" + confirm + "\": true",
		}
	}
	return way, given, nil
}

// object reads the arguments, without those that are null: clients write what is left out
// in that way.
func object(raw json.RawMessage) (map[string]json.RawMessage, error) {
	given := map[string]json.RawMessage{}
	if len(bytes.TrimSpace(raw)) == 0 {
		return given, nil
	}
	if err := json.Unmarshal(raw, &given); err != nil {
		return nil, errors.New("want {...}")
	}
	maps.DeleteFunc(given, func(_ string, value json.RawMessage) bool { return string(value) == "null" })
	return given, nil
}

// decoded is a value of JSON, whose numbers stay as they are written.
func decoded(raw json.RawMessage) (value any) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	_ = dec.Decode(&value) // it is a part of what was read
	return value
}

// way takes the choice out of the arguments.
func (t *Tool) way(given map[string]json.RawMessage) (*Way, error) {
	if t.Choose == "" {
		return &t.Ways[0], nil
	}
	names := make([]string, len(t.Ways))
	for i := range t.Ways {
		names[i] = t.Ways[i].Name
	}
	raw, ok := given[t.Choose]
	delete(given, t.Choose)
	name := t.First
	switch {
	case ok:
		name, _ = decoded(raw).(string)
	case name == "":
		return nil, &Refusal{Text: fmt.Sprintf("%s wants the argument %q: %s", t.Name, t.Choose, choice(names)), Hint: misnamed(t.Choose, slices.Sorted(maps.Keys(given)))}
	}
	for i := range t.Ways {
		if t.Ways[i].Name == name {
			return &t.Ways[i], nil
		}
	}
	return nil, &Refusal{Text: fmt.Sprintf("%s has no %s %s: want %s", t.Name, t.Choose, written(raw), choice(names)), Hint: meant(name, names)}
}

// misnamed says which of the arguments that were given was meant to be name.
func misnamed(name string, given []string) string {
	for _, other := range given {
		if schemas.Nearest(other, []string{name}) != "" {
			return fmt.Sprintf("%q was meant to be %q?", other, name)
		}
	}
	return ""
}

// confirmed takes the confirmation out of the arguments.
func (t *Tool) confirmed(given map[string]json.RawMessage) (bool, error) {
	raw, ok := given[confirm]
	if !ok || t.effect() != Destroys {
		return false, nil
	}
	delete(given, confirm)
	yes, ok := decoded(raw).(bool)
	if !ok {
		return false, &Refusal{Text: fmt.Sprintf("%q: want true, not %s", confirm, written(raw))}
	}
	return yes, nil
}

// unknown refuses an argument that a way does not take, with the one that was meant.
func (t *Tool) unknown(way *Way, name string) error {
	err := &Refusal{Text: fmt.Sprintf("%s does not take the argument %q", t.naming(way), name), Hint: t.takes(way)}
	var names []string
	for _, a := range way.Arguments {
		if slices.Contains(a.Also, name) {
			err.Hint = fmt.Sprintf("did you mean %q?", a.Name)
			return err
		}
		names = append(names, a.Name)
	}
	if hint := meant(name, names); hint != "" {
		err.Hint = hint
		return err
	}
	var others []string
	for i := range t.Ways {
		if t.Ways[i].argument(name) != nil {
			others = append(others, quoted(t.Ways[i].Name))
		}
	}
	if len(others) > 0 {
		err.Hint = fmt.Sprintf("it belongs to %s %s", t.Choose, choice(others))
	}
	return err
}

// takes lists the arguments of a way.
func (t *Tool) takes(way *Way) string {
	var names []string
	for _, a := range way.Arguments {
		names = append(names, a.Name)
	}
	if way.Effect == Destroys {
		names = append(names, confirm)
	}
	if len(names) == 0 {
		return "it takes none"
	}
	return "it takes " + strings.Join(names, ", ")
}

// naming is a way as a refusal names it.
func (t *Tool) naming(way *Way) string { return strings.TrimSpace(t.Name + " " + way.Name) }

// read is a value of the argument's type.
func (a *Argument) read(raw json.RawMessage) (any, error) {
	value := decoded(raw)
	if _, isText := value.(string); a.Body && !isText {
		return raw, nil // as it is written
	}
	out, err := typed(a.Schema, value)
	if err != nil {
		return nil, &Refusal{Text: fmt.Sprintf("%q: %v", a.Name, err)}
	}
	if text, ok := out.(string); ok && !a.Body && len(text) > MaxText {
		return nil, &Refusal{Text: fmt.Sprintf("%q has %d bytes: want at most %d", a.Name, len(text), MaxText)}
	}
	if words, ok := a.words(); ok {
		for _, one := range list(out) {
			if word, ok := one.(string); ok && !slices.Contains(words, word) {
				return nil, &Refusal{Text: fmt.Sprintf("%q: %q is none of %s", a.Name, word, choice(words)), Hint: meant(word, words)}
			}
		}
	}
	return out, nil
}

// words are those among which an argument chooses, or each of its elements.
func (a *Argument) words() ([]string, bool) {
	schema := a.Schema
	if items, ok := schema["items"].(map[string]any); ok {
		schema = items
	}
	words, ok := schema["enum"].([]string)
	return words, ok
}

// list are the elements of a list, or the value itself.
func list(value any) []any {
	if elements, ok := value.([]any); ok {
		return elements
	}
	return []any{value}
}

// typed is a value of the type that a schema names.
func typed(schema map[string]any, value any) (any, error) {
	switch schema["type"] {
	case "string":
		if text, ok := value.(string); ok {
			return text, nil
		}
		return nil, fmt.Errorf("want a text%s, not %s", example(schema), written(value))
	case "boolean":
		if _, ok := value.(bool); ok {
			return value, nil
		}
		return nil, fmt.Errorf("want true or false, not %s", written(value))
	case "integer":
		if number, ok := value.(json.Number); ok {
			if n, err := strconv.ParseInt(number.String(), 10, 64); err == nil {
				return n, nil
			}
		}
		return nil, fmt.Errorf("want a whole number, not %s", written(value))
	case "array":
		items, _ := schema["items"].(map[string]any)
		elements, ok := value.([]any)
		if !ok {
			elements = []any{value} // one stands for a list of one
		}
		out := make([]any, len(elements))
		for i, element := range elements {
			one, err := typed(items, element)
			if err != nil {
				return nil, err
			}
			out[i] = one
		}
		return out, nil
	}
	return value, nil
}

// example is one that a schema gives.
func example(schema map[string]any) string {
	if all, ok := schema["examples"].([]any); ok && len(all) > 0 {
		return fmt.Sprintf(" such as %q", all[0])
	}
	return ""
}

// written is a value as a refusal shows it.
func written(value any) string {
	text, err := json.Marshal(value)
	if err != nil || len(text) > 64 {
		return "that"
	}
	return string(text)
}

// meant asks for the name that was meant, if one is near.
func meant(name string, names []string) string {
	if near := schemas.Meant(name, names); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return ""
}

// choice writes words as a choice.
func choice(words []string) string {
	if last := len(words) - 1; last > 0 {
		return strings.Join(words[:last], ", ") + " or " + words[last]
	}
	return strings.Join(words, "")
}

func quoted(text string) string { return strconv.Quote(text) }

func equal(a, b any) bool { return reflect.DeepEqual(a, b) }
