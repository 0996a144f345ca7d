package app

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/schemas"
)

// SwitchedOff is the function that a setting of this name switches off, as
// AzureWebJobs.NAME.Disabled does; not ok: it is another setting.
func SwitchedOff(setting string) (function string, ok bool) {
	if function, ok = cutFold(setting, "AzureWebJobs.", ".Disabled"); !ok {
		function, ok = cutFold(setting, "AzureWebJobs_", "_Disabled")
	}
	return function, ok
}

// HostSetting is the part of host.json that a setting writes, with the path as names between
// "__"; not ok: it writes none.
func HostSetting(setting, value string) (*schemas.Document, bool) {
	const prefix = "azurefunctionsjobhost__"
	if !strings.HasPrefix(strings.ToLower(setting), prefix) {
		return nil, false
	}
	var content any = value
	for _, key := range slices.Backward(strings.Split(setting[len(prefix):], "__")) {
		content = map[string]any{key: content}
	}
	text, err := json.Marshal(content)
	if err != nil {
		return nil, false
	}
	doc, fault := schemas.Parse("host.json", text)
	return doc, fault == nil
}

// MayBecome reports whether a name may come of a binding's text with expressions in it.
func MayBecome(template, name string) bool {
	var pattern strings.Builder
	depth := 0
	for _, c := range template {
		switch {
		case c == '{':
			if depth++; depth == 1 {
				pattern.WriteByte('*')
			}
		case c == '}' && depth > 0:
			depth--
		case depth == 0:
			pattern.WriteRune(c)
		}
	}
	ok, err := path.Match(pattern.String(), name)
	return ok && err == nil
}

// cutFold is what stands between a beginning and an end.
func cutFold(text, begin, end string) (string, bool) {
	if n := len(text) - len(end); n > len(begin) && strings.EqualFold(text[:len(begin)], begin) && strings.EqualFold(text[n:], end) {
		return text[len(begin):n], true
	}
	return "", false
}
