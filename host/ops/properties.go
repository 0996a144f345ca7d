package ops

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
)

// Properties reads application properties: "name=text", or "name:=value" with a
// number, true, false or null.
func Properties(list []string) (map[string]any, error) {
	var out map[string]any
	for _, text := range list {
		name, value, ok := strings.Cut(text, "=")
		if !ok || strings.TrimSuffix(name, ":") == "" {
			return nil, fmt.Errorf("property %q: want name=text, or name:=value for a number, true, false or null", text)
		}
		if out == nil {
			out = map[string]any{}
		}
		if typed, ok := strings.CutSuffix(name, ":"); ok {
			v, err := literal(value)
			if err != nil {
				return nil, fmt.Errorf("property %q: %w", text, err)
			}
			out[typed] = v
			continue
		}
		out[name] = value
	}
	return out, nil
}

// literal is a number, true, false or null.
func literal(text string) (any, error) {
	switch text {
	case "true", "false":
		return text == "true", nil
	case "null":
		return nil, nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, nil
	}
	var f json.Number
	if err := json.Unmarshal([]byte(text), &f); err != nil || strings.HasPrefix(text, `"`) {
		return nil, errors.New("want a number, true, false or null after :=")
	}
	return f.Float64()
}

// PlainValue is the value of an application property as JSON can have it.
func PlainValue(v any) any {
	switch v := v.(type) {
	case bindings.GUID:
		return v.String()
	case messaging.Encoded:
		return []byte(v)
	case float32:
		return PlainValue(float64(v))
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return strconv.FormatFloat(v, 'g', -1, 64)
		}
	case time.Time:
		if y := v.Year(); y < 0 || y > 9999 {
			return v.String()
		}
	}
	return v
}
