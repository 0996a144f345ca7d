package document

import (
	"encoding/json"

	"github.com/redeliver/redeliver/schemas"
)

// Resolve returns a copy of decoded JSON with every text resolved. path is where v
// stands.
func Resolve(v any, path string, resolve func(path, text string) string) any {
	switch v := v.(type) {
	case map[string]any:
		m := make(map[string]any, len(v))
		for k, item := range v {
			m[k] = Resolve(item, schemas.JoinPath(path, k), resolve)
		}
		return m
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = Resolve(item, schemas.IndexPath(path, i), resolve)
		}
		return list
	case string:
		return resolve(path, v)
	}
	return v
}

// RawJSON encodes decoded JSON again. It cannot fail for such values.
func RawJSON(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return text
}
