package appsettings

import (
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

// Unresolved replaces what can be replaced and returns one error for each name
// that has no value.
func (s *Settings) Unresolved(text string) (resolved string, faults []error) {
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

// SettingFault puts an unresolved %NAME% in the terms of a fault.
func SettingFault(doc *schemas.Document, path, text string, err error) *schemas.Fault {
	f := &schemas.Fault{Path: path, Found: schemas.Quote(text), Reason: strings.TrimSuffix(err.Error(), "."), Kind: schemas.KindInvalidOperation}
	var missing *bindings.SettingError
	if errors.As(err, &missing) && missing.Name != "" {
		f.Hint = fmt.Sprintf("set %s in the environment or under Values in %s", missing.Name, document.LocalFile)
	} else {
		f.Allowed, f.Kind = "names in pairs of %", schemas.KindFormat
	}
	return document.Position(f, doc)
}
