package table

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/netjson"
	"github.com/redeliver/redeliver/bindings/table"
)

// errNoEntity is of a value that is no JSON object.
var errNoEntity = errors.New("an entity must be a JSON object")

// objects are the entities that a value stands for: one for an object, one for each element
// of an array, in order (spec tables 9.5).
func objects(v bindings.Value) ([]*netjson.Object, error) {
	switch v.Kind {
	case bindings.Null:
		return nil, nil
	case bindings.String, bindings.JSON:
		return parse(v.Text)
	case bindings.Bytes:
		return parse(string(v.Data))
	case bindings.Strings, bindings.BytesList:
		var out []*netjson.Object
		for _, e := range v.List {
			list, err := objects(e)
			if err != nil {
				return nil, err
			}
			out = append(out, list...)
		}
		return out, nil
	}
	return nil, errNoEntity
}

func parse(text string) ([]*netjson.Object, error) {
	if t := strings.TrimSpace(text); t == "" || t == "null" {
		return nil, nil
	}
	v, err := netjson.Parse(text, nil) // dates stay texts (T-29)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoEntity, err)
	}
	if s, isText := v.(string); isText {
		return parse(s)
	}
	elements, isList := v.([]any)
	if !isList {
		elements = []any{v}
	}
	var out []*netjson.Object
	for _, e := range elements {
		if s, isText := e.(string); isText {
			if e, err = netjson.Parse(s, nil); err != nil {
				return nil, fmt.Errorf("%w: %w", errNoEntity, err)
			}
		}
		o, ok := e.(*netjson.Object)
		if !ok {
			return nil, errNoEntity
		}
		out = append(out, o)
	}
	return out, nil
}

// write is the write of an entity: its ETag says which. Keys that the object lacks are those
// of the binding; nil: it has none.
//
// Source: TX, TablesExtensionConfigProvider.cs CreateTableEntityFromJObject, and
// TableEntityWriter.cs AddAsync.
func (n *named) write(o *netjson.Object, keys [2]*string) (table.Write, error) {
	var w table.Write
	members := map[string]json.RawMessage{}
	var order []string
	set := func(name string, v any) error {
		raw, kind, err := n.member(name, v)
		if err != nil || raw == nil {
			return err
		}
		for key, text := range map[string]json.RawMessage{name: raw, name + "@odata.type": kind} {
			if text == nil {
				continue
			}
			if _, ok := members[key]; !ok {
				order = append(order, key)
			}
			members[key] = text
		}
		return nil
	}
	for _, m := range o.Members {
		var err error
		switch {
		case strings.EqualFold(m.Name, "etag"), strings.EqualFold(m.Name, "odata.etag"):
			w.Match, err = text(m.Value)
		case strings.EqualFold(m.Name, "PartitionKey"):
			err = override(&keys[0], m.Value)
		case strings.EqualFold(m.Name, "RowKey"):
			err = override(&keys[1], m.Value)
		case m.Name == "Timestamp":
		default:
			err = set(m.Name, m.Value)
		}
		if err != nil {
			return w, err
		}
	}
	read, err := table.Parse(objectOf(order, members))
	if err != nil {
		return w, err
	}
	w.Entity = read.Entity
	for i, to := range []*string{&w.Entity.PartitionKey, &w.Entity.RowKey} {
		if keys[i] == nil || strings.ContainsFunc(*keys[i], forbidden) {
			return w, badKey(keys[i])
		}
		*to = *keys[i]
	}
	switch w.Match {
	case "":
		w.Mode = table.Insert
	case table.AnyETag:
		w.Mode, w.Match = table.Replace, "" // insert or replace
	default:
		w.Mode = table.Replace
	}
	return w, nil
}

func objectOf(order []string, members map[string]json.RawMessage) []byte {
	b := []byte{'{'}
	for i, name := range order {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, netjson.Compact(name)...), ':'), members[name]...)
	}
	return append(b, '}')
}

// member is the JSON of a property and its type, as the extension's client sends them; raw is
// nil for what it leaves out.
func (n *named) member(name string, v any) (raw, kind json.RawMessage, err error) {
	switch v := v.(type) {
	case nil, netjson.Undefined:
		return nil, nil, nil
	case bool, string:
		return json.RawMessage(netjson.Compact(v)), nil, nil
	case int64:
		if !n.legacy {
			return json.RawMessage(fmt.Sprintf("%q", fmt.Sprint(v))), json.RawMessage(`"Edm.Int64"`), nil
		}
		if int64(int32(v)) != v {
			return nil, nil, errors.New("Value was either too large or too small for an Int32.") //lint:ignore ST1005 the platform's text
		}
		return json.RawMessage(fmt.Sprint(v)), json.RawMessage(`"Edm.Int32"`), nil
	case *big.Int:
		return nil, nil, fmt.Errorf("property %q: %s is beyond 64 bits", name, v)
	case float64:
		return json.RawMessage(`"` + netjson.Double(v) + `"`), json.RawMessage(`"Edm.Double"`), nil
	}
	if n.legacy {
		return nil, nil, fmt.Errorf("property %q: an object or an array is no property of an entity", name)
	}
	return json.RawMessage(netjson.Compact(netjson.Indented(v))), nil, nil
}

// text is a member that must be a text or null.
func text(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	}
	return "", fmt.Errorf("Cannot return System.String type for a %s typed property", typeName(v)) //lint:ignore ST1005 the platform's text
}

func typeName(v any) string {
	switch v.(type) {
	case bool:
		return "System.Boolean"
	case int64:
		return "System.Int64"
	case float64:
		return "System.Double"
	}
	return "System.Object"
}

// override gives a key the value of a member. Null leaves the binding's.
func override(key **string, v any) error {
	if v == nil {
		return nil
	}
	s, err := text(v)
	if err == nil {
		*key = &s
	}
	return err
}

// forbidden reports whether no key may have a character (TX: TableClientHelpers.cs).
func forbidden(c rune) bool {
	return strings.ContainsRune(`/\#?`, c) || c <= 0x1F || 0x7F <= c && c <= 0x9F
}

func badKey(key *string) error {
	value := ""
	if key != nil {
		value = *key
	}
	return fmt.Errorf("'%s' is not a valid value for a partition key or row key. Ensure that the table entity contains valid 'PartitionKey' and 'RowKey' values.", value) //lint:ignore ST1005 the platform's text
}
