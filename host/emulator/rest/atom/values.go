package atom

import (
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/emulator/servicebus/duration"
)

const pair = "KeyValueOfstringanyType"

// readValues reads properties of a correlation filter or parameters of an
// expression. The last of several with one name counts.
func readValues(e *element) (map[string]any, error) {
	if e == nil || len(e.children) == 0 {
		return nil, nil
	}
	out := make(map[string]any, len(e.children))
	for _, kv := range e.children {
		key, value := kv.child("Key"), kv.child("Value")
		if kv.name != pair || key == nil || value == nil {
			return nil, fail(http.StatusBadRequest, "%s: want elements %s of a Key and a Value", e.name, pair)
		}
		v, err := readValue(value)
		if err != nil {
			return nil, fail(http.StatusBadRequest, "%s: the value of %q: %v", e.name, key.text, err)
		}
		out[key.text] = v
	}
	return out, nil
}

// readValue reads a value of one of the types of XML Schema. Text without a type is
// a string.
func readValue(e *element) (any, error) {
	text := strings.TrimSpace(e.text)
	number := func(bits int) (int64, error) { return strconv.ParseInt(text, 10, bits) }
	switch kind := e.kind(); kind {
	case "string", "":
		return e.text, nil
	case "boolean":
		switch text {
		case "true", "1":
			return true, nil
		case "false", "0":
			return false, nil
		}
		return nil, fmt.Errorf("%q is no boolean", text)
	case "int":
		n, err := number(32)
		return int32(n), err
	case "long":
		n, err := number(64)
		return n, err
	case "short":
		n, err := number(16)
		return int16(n), err
	case "byte":
		n, err := number(8)
		return int8(n), err
	case "unsignedByte", "unsignedShort", "unsignedInt", "unsignedLong":
		return readUnsigned(kind, text)
	case "double", "decimal":
		return readFloat(text, 64)
	case "float":
		v, err := readFloat(text, 32)
		return float32(v), err
	case "dateTime":
		return readTime(text)
	case "duration":
		return duration.Parse(text)
	case "guid":
		return bindings.ParseGUID(text)
	default:
		return nil, fmt.Errorf("the type %q is unknown", kind)
	}
}

func readUnsigned(kind, text string) (any, error) {
	bits := map[string]int{"unsignedByte": 8, "unsignedShort": 16, "unsignedInt": 32, "unsignedLong": 64}[kind]
	n, err := strconv.ParseUint(text, 10, bits)
	switch bits {
	case 8:
		return uint8(n), err
	case 16:
		return uint16(n), err
	case 32:
		return uint32(n), err
	}
	return n, err
}

// readFloat: XML Schema writes INF, which Go reads.
func readFloat(text string, bits int) (float64, error) { return strconv.ParseFloat(text, bits) }

// readTime: a time without a zone is UTC, as .NET reads it.
func readTime(text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		if t, err = time.Parse("2006-01-02T15:04:05.999999999", text); err != nil {
			return t, fmt.Errorf("%q is no date and time such as 2024-01-02T03:04:05Z", text)
		}
	}
	return t.UTC(), nil
}

// values writes values in the order of their names. The prefix is of a length that
// the JavaScript client cuts off blindly; it declares what it stands for, which is
// where the .NET client looks.
func (w *writer) values(name string, values map[string]any) {
	if len(values) == 0 {
		w.empty(name)
		return
	}
	w.open(name)
	for _, key := range slices.Sorted(maps.Keys(values)) {
		kind, text := typed(values[key])
		space := schemaSpace
		if kind == "duration" || kind == "guid" {
			space = serialSpace
		}
		w.open(pair)
		w.field("Key", key)
		w.field("Value", text, "i:type", "d6p1:"+kind, "xmlns:d6p1", space)
		w.close(pair)
	}
	w.close(name)
}

// typed returns the type and the text of a value.
func typed(v any) (kind, text string) {
	switch v := v.(type) {
	case string:
		return "string", v
	case bool:
		return "boolean", strconv.FormatBool(v)
	case int8:
		return "byte", strconv.FormatInt(int64(v), 10)
	case int16:
		return "short", strconv.FormatInt(int64(v), 10)
	case int32:
		return "int", strconv.FormatInt(int64(v), 10)
	case int64:
		return "long", strconv.FormatInt(v, 10)
	case int:
		if v >= math.MinInt32 && v <= math.MaxInt32 {
			return "int", strconv.Itoa(v)
		}
		return "long", strconv.Itoa(v)
	case uint8:
		return "unsignedByte", strconv.FormatUint(uint64(v), 10)
	case uint16:
		return "unsignedShort", strconv.FormatUint(uint64(v), 10)
	case uint32:
		return "unsignedInt", strconv.FormatUint(uint64(v), 10)
	case uint64:
		return "unsignedLong", strconv.FormatUint(v, 10)
	case float32:
		return "float", formatFloat(float64(v), 32)
	case float64:
		return "double", formatFloat(v, 64)
	case time.Time:
		return "dateTime", wireTime(v)
	case time.Duration:
		return "duration", duration.Format(v)
	case bindings.GUID:
		return "guid", v.String()
	}
	return "string", fmt.Sprint(v)
}

func formatFloat(v float64, bits int) string {
	switch {
	case math.IsInf(v, 1):
		return "INF"
	case math.IsInf(v, -1):
		return "-INF"
	}
	return strconv.FormatFloat(v, 'g', -1, bits)
}
