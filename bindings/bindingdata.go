package bindings

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings/netjson"
)

// BindingData is what binding expressions see in one attempt. A name is looked
// for in Values first, ignoring case, then among the built-ins: rand-guid,
// datetime and sys.
type BindingData struct {
	// Values are the metadata of the trigger. Values may be strings, integers,
	// booleans, floats, time.Time, DateTimeOffset, URI, json.RawMessage, and maps of those.
	Values map[string]any

	// Method is the name of the function, {sys.methodname}.
	Method string

	// Now gives the time of {datetime} and {sys.utcnow}.
	Now func() time.Time

	// NewGUID gives a GUID in the form D for {rand-guid} and {sys.randguid}. It
	// is called for each evaluation: no two expressions share a GUID.
	NewGUID func() string

	zone *time.Location // nil: this machine's
}

func (d *BindingData) local() *time.Location {
	if d.zone == nil {
		return time.Local
	}
	return d.zone
}

// A DateTimeOffset is a time of a trigger that the platform has as a DateTimeOffset, and
// not as a DateTime: it has no text in a path, and leaves nothing there.
type DateTimeOffset struct{ time.Time }

// JSON is how the platform writes it: 2026-01-02T03:04:05.6789+00:00 in quotes.
func (t DateTimeOffset) JSON() string { return t.Format(`"2006-01-02T15:04:05.9999999-07:00"`) }

// MarshalJSON implements json.Marshaler.
func (t DateTimeOffset) MarshalJSON() ([]byte, error) { return []byte(t.JSON()), nil }

// TimeJSON is a time of a trigger that the platform has as a DateTime in UTC, as it writes
// it in JSON: with at most seven digits of a second.
func TimeJSON(t time.Time) json.RawMessage {
	return json.RawMessage(t.UTC().Format(`"2006-01-02T15:04:05.9999999Z"`))
}

// PlainTimeJSON is a time of a trigger that the platform has as a DateTime of no zone: it is
// in UTC, and nothing behind it says so.
//
// Source: WEH, src/Triggers/EventHubTriggerBindingStrategy.cs, and WSB,
// src/Triggers/ServiceBusTriggerBindingStrategy.cs: both take DateTimeOffset.DateTime.
func PlainTimeJSON(t time.Time) json.RawMessage {
	return json.RawMessage(t.UTC().Format(`"2006-01-02T15:04:05.9999999"`))
}

// A URI is an address in the data of a trigger. It has no text in a path, and leaves nothing
// there.
type URI string

// JSON is how the platform writes it.
func (u URI) JSON() string { return netjson.Compact(string(u)) }

// ExpressionError is an expression that has no value for the attempt at hand: a
// failed attempt. The texts are the platform's (webjobs sdk,
// BindingTemplateToken.cs).
type ExpressionError struct {
	Expression string // as in the template, without braces
	Text       string
}

func (e *ExpressionError) Error() string { return e.Text }

// guid marks a value that takes a GUID format.
type guid string

// isBuiltIn reports whether a name has a meaning without any trigger.
func isBuiltIn(name string) bool {
	return strings.EqualFold(name, "rand-guid") || strings.EqualFold(name, "datetime") || strings.EqualFold(name, "sys")
}

func (d *BindingData) evaluate(tok token) (string, error) {
	fail := func(format string, args ...any) (string, error) {
		return "", &ExpressionError{Expression: strings.Join(tok.path, "."), Text: fmt.Sprintf(format, args...)}
	}
	value, path, ok := d.lookup(tok.path)
	if !ok {
		return fail("No value for named parameter '%s'.", tok.path[0])
	}
	for _, name := range path {
		if value, ok = d.property(value, name); !ok {
			return fail("Error while accessing '%s': property doesn't exist.", name)
		}
	}
	s, err := d.valueText(value, tok.format)
	if err != nil {
		return fail("Error while evaluating '%s': %v.", strings.Join(tok.path, "."), err)
	}
	return s, nil
}

// lookup finds the value that a path starts with and returns it with the rest
// of the path.
func (d *BindingData) lookup(path []string) (any, []string, bool) {
	if key, ok := findKey(d.Values, path[0]); ok {
		return d.Values[key], path[1:], d.Values[key] != nil
	}
	switch strings.ToLower(path[0]) {
	case "rand-guid":
		return guid(d.NewGUID()), path[1:], true
	case "datetime":
		return d.Now(), path[1:], true
	case "sys":
		if len(path) < 2 {
			return map[string]any{}, nil, true
		}
		switch strings.ToLower(path[1]) {
		case "randguid":
			return guid(d.NewGUID()), path[2:], true
		case "utcnow":
			return d.Now(), path[2:], true
		case "methodname":
			return d.Method, path[2:], true
		}
		return map[string]any{}, path[1:], true
	}
	return nil, nil, false
}

// property returns a property of an object, ignoring case.
func (d *BindingData) property(object any, name string) (any, bool) {
	switch o := object.(type) {
	case map[string]any:
		key, ok := findKey(o, name)
		return o[key], ok
	case map[string]string:
		key, ok := findKey(o, name)
		return o[key], ok
	case Parameters:
		return o.get(name)
	case http.Header:
		key, ok := findKey(o, name)
		return strings.Join(o[key], ","), ok
	case json.RawMessage:
		if v, err := netjson.Parse(string(o), d.local()); err == nil {
			return d.property(v, name)
		}
	case *netjson.Object:
		return o.Get(name)
	}
	return nil, false
}

// valueText writes a value into a text. Formats apply to times and GUIDs; other values
// ignore them. What has no text form, an object, an array, null or a DateTimeOffset, leaves
// nothing.
//
// Source: webjobs sdk, BindingDataPathHelper.cs; observed, the platform's host 4.1037.
func (d *BindingData) valueText(v any, format string) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case guid:
		return formatGUID(string(v), strings.TrimSpace(format))
	case time.Time:
		return formatTime(v, format)
	case json.RawMessage:
		value, err := netjson.Parse(string(v), d.local())
		if err != nil {
			return "", nil //nolint:nilerr // no value has no text
		}
		return d.valueText(value, format)
	case bool, float64, netjson.Date, *big.Int:
		return netjson.Text(v), nil
	case float32:
		return netjson.Double(float64(v)), nil
	case json.Number:
		return v.String(), nil
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
		return fmt.Sprint(v), nil
	}
	return "", nil
}
