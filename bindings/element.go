package bindings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Element reads the text of a member of a batch whose binding names no dataType: one JSON
// document. A text without any is null. Any other text does not fit.
//
// Source: webjobs sdk, PocoTriggerArgumentBinding.cs, for the type object; functions host,
// GeneralScriptBindingProvider.cs, which asks for that type where dataType is left out.
func Element(text string) (Value, error) {
	if strings.TrimSpace(text) == "" {
		return JSONValue(json.RawMessage("null")), nil
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(text)); err != nil {
		return Value{}, fmt.Errorf("it is not JSON, which the members of a batch without dataType have to be: set dataType to string or binary: %w", err)
	}
	return JSONValue(compact.Bytes()), nil
}
