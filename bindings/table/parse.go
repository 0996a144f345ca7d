package table

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/storage"
)

// Input is an entity as a body of JSON has it.
type Input struct {
	Entity
	NoPartitionKey, NoRowKey bool // the key is absent or null
}

// Parse reads the JSON of an entity (spec tables 3.2). Members that begin with "odata."
// and the Timestamp are ignored, nulls are as if absent. Types come from annotations, in
// whatever order, and from the JSON where there is none. It does not validate what it
// reads. Its errors are *storage.Error.
func Parse(body []byte) (Input, error) {
	in := Input{NoPartitionKey: true, NoRowKey: true}
	raw, types, err := readMembers(body)
	if err != nil {
		return in, err
	}
	for _, m := range raw {
		if ignored(m.name) || m.value == nil {
			continue
		}
		v, err := convert(m.value, types[m.name])
		if err != nil {
			var known *storage.Error
			if errors.As(err, &known) {
				return in, err
			}
			return in, Invalid("property %q: %v", m.name, err)
		}
		if err := in.set(m.name, v); err != nil {
			return in, err
		}
	}
	return in, nil
}

// set adds a member that is not null.
func (in *Input) set(name string, v Value) error {
	key, missing := &in.PartitionKey, &in.NoPartitionKey
	switch name {
	case "PartitionKey":
	case "RowKey":
		key, missing = &in.RowKey, &in.NoRowKey
	default:
		in.Properties = append(in.Properties, Property{name, v})
		return nil
	}
	text, ok := v.(string)
	if !ok {
		return Invalid("property %q: a key is a text", name)
	}
	*key, *missing = text, false
	return nil
}

// ignored reports whether a member says nothing to a write, whatever its value.
func ignored(name string) bool { return name == "Timestamp" || strings.HasPrefix(name, "odata.") }

// skip reads to the end of the array or object that has begun.
func skip(d *json.Decoder) error {
	for depth := 1; depth > 0; {
		t, err := d.Token()
		if err != nil {
			return Invalid("the body is not JSON: %v", err)
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
	return nil
}

// member is a member of an object: nil, a bool, a json.Number or a string.
type member struct {
	name  string
	value any
}

// readMembers reads an object of plain values: its members without annotations, and the
// types that annotations give.
func readMembers(body []byte) (raw []member, types map[string]Type, err error) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, nil, Invalid("the body is not a JSON object")
	}
	types, seen := map[string]Type{}, map[string]bool{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, nil, Invalid("the body is not JSON: %v", err)
		}
		value, err := d.Token()
		if err != nil {
			return nil, nil, Invalid("the body is not JSON: %v", err)
		}
		n := name.(string)
		if _, nested := value.(json.Delim); nested {
			if ignored(n) {
				if err := skip(d); err != nil {
					return nil, nil, err
				}
				continue
			}
			return nil, nil, Invalid("property %q is neither a text, a number nor a Boolean", n)
		}
		if seen[n] {
			return nil, nil, NewError(CodeDuplicatePropertiesSpecified)
		}
		seen[n] = true
		of, annotation := strings.CutSuffix(n, "@odata.type")
		if !annotation {
			raw = append(raw, member{n, value})
			continue
		}
		text, _ := value.(string)
		types[of] = Type(text)
	}
	if _, err := d.Token(); err != nil {
		return nil, nil, Invalid("the body is not JSON: %v", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, nil, Invalid("something follows the JSON object")
	}
	return raw, types, nil
}

// convert makes a value of a type out of JSON; without a type, of what the JSON says.
func convert(v any, as Type) (Value, error) {
	switch v := v.(type) {
	case bool:
		if as == "" || as == Boolean {
			return v, nil
		}
	case json.Number:
		return convertNumber(string(v), as)
	case string:
		return ParseValue(v, as)
	}
	return nil, fmt.Errorf("a Boolean is no %s", as)
}

func convertNumber(s string, as Type) (Value, error) {
	switch as {
	case "":
		if !strings.ContainsAny(s, ".eE") {
			if n, err := strconv.ParseInt(s, 10, 32); err == nil {
				return int32(n), nil // more is a double (T-7)
			}
		}
		as = Double
	case Int32, Int64, Double:
	default:
		return nil, fmt.Errorf("a number is no %s", as)
	}
	return ParseValue(s, as)
}

// ParseValue makes a value of a type out of its text; the empty type is String.
func ParseValue(s string, as Type) (Value, error) {
	switch as {
	case "", String:
		return s, nil
	case Int32:
		n, err := strconv.ParseInt(s, 10, 32)
		return int32(n), notA(err, s, as)
	case Int64:
		n, err := strconv.ParseInt(s, 10, 64)
		return n, notA(err, s, as)
	case Double:
		return parseDouble(s)
	case Boolean:
		if strings.EqualFold(s, "true") || strings.EqualFold(s, "false") {
			return len(s) == len("true"), nil
		}
	case DateTime:
		return ParseTime(s)
	case GUID:
		if len(s) == 36 {
			g, err := bindings.ParseGUID(s)
			return g, notA(err, s, as)
		}
	case Binary:
		b, err := base64.StdEncoding.DecodeString(s)
		return b, notA(err, s, as)
	default:
		return nil, fmt.Errorf("there is no type %q", as)
	}
	return nil, notA(strconv.ErrSyntax, s, as)
}

func notA(err error, s string, as Type) error {
	if err == nil {
		return nil
	}
	if len(s) > 40 {
		s = s[:40] + "..."
	}
	return fmt.Errorf("%q is no %s", s, as)
}

func parseDouble(s string) (Value, error) {
	switch s {
	case "NaN":
		return math.NaN(), nil
	case "Infinity":
		return math.Inf(1), nil
	case "-Infinity":
		return math.Inf(-1), nil
	}
	if strings.ContainsAny(s, "xXpP_nN") { // what only Go reads
		return nil, notA(strconv.ErrSyntax, s, Double)
	}
	v, err := strconv.ParseFloat(s, 64)
	return v, notA(err, s, Double)
}
