package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/app/document"
	"github.com/redeliver/redeliver/schemas"
)

// Resolve replaces every %NAME% in text by the setting of that name
// (spec host-and-retry 5.5). The error is a *[bindings.SettingError].
func (s *Settings) Resolve(text string) (string, error) {
	return bindings.ResolveSettings(text, s.Lookup)
}

// unresolved replaces what can be replaced and returns one error for each name
// that has no value.
func (s *Settings) unresolved(text string) (resolved string, faults []error) {
	resolved, err := bindings.ResolveSettings(text, func(name string) (string, bool) {
		value, ok := s.Lookup(name)
		if !ok {
			faults = append(faults, &bindings.SettingError{Name: name, Position: -1})
		}
		return value, true
	})
	if err != nil {
		return text, append(faults, err)
	}
	return resolved, faults
}

// settingFault puts an unresolved %NAME% in the terms of a fault.
func settingFault(doc *schemas.Document, path, text string, err error) *schemas.Fault {
	f := &schemas.Fault{Path: path, Found: schemas.Quote(text), Reason: strings.TrimSuffix(err.Error(), "."), Kind: schemas.KindInvalidOperation}
	var missing *bindings.SettingError
	if errors.As(err, &missing) && missing.Name != "" {
		f.Hint = fmt.Sprintf("set %s in the environment or under Values in %s", missing.Name, document.LocalFile)
	} else {
		f.Allowed, f.Kind = "names in pairs of %", schemas.KindFormat
	}
	return document.Position(f, doc)
}

// resolveProps returns a copy of v with every text resolved. path is where v
// stands.
func resolveProps(v any, path string, resolve func(path, text string) string) any {
	switch v := v.(type) {
	case map[string]any:
		m := make(map[string]any, len(v))
		for k, item := range v {
			m[k] = resolveProps(item, schemas.JoinPath(path, k), resolve)
		}
		return m
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = resolveProps(item, schemas.IndexPath(path, i), resolve)
		}
		return list
	case string:
		return resolve(path, v)
	}
	return v
}

// rawJSON encodes decoded JSON again. It cannot fail for such values.
func rawJSON(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return text
}
