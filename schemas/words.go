package schemas

import (
	"errors"
	"fmt"
	"strings"

	"github.com/redeliver/redeliver/retrycontext"
)

// A location is a keyword of a schema that failed, with the schemas around it:
// everything that a fault says is found there.
type location struct {
	chain   []map[string]any // from the root to the schema that holds the keyword
	keyword string
	partial bool
}

func (l location) schema() map[string]any { return l.chain[len(l.chain)-1] }

// locate follows the location of a keyword through the schema file.
func (v *validation) locate(pointer string) location {
	steps := splitLocation(pointer)
	l := location{chain: []map[string]any{v.c.raw}}
	var at any = v.c.raw
	for i, key := range steps {
		if i == len(steps)-1 {
			l.keyword = key
			break
		}
		switch here := at.(type) {
		case map[string]any:
			at = here[key]
		case []any:
			if n, ok := listIndex(key); ok && n < len(here) {
				at = here[n]
			}
		}
		if schema, ok := at.(map[string]any); ok {
			l.chain = append(l.chain, schema)
			l.partial = l.partial || schema[keyPartial] == true
		}
	}
	return l
}

// property returns the location of a required property: its own schema, which
// stands in the nearest schema around that knows the name.
func (l location) property(name string, root map[string]any) location {
	for i := len(l.chain) - 1; i >= 0; i-- {
		if sub := object(object(l.chain[i]["properties"])[name]); sub != nil {
			chain := append(append([]map[string]any{}, l.chain[:i+1]...), dereference(sub, root))
			return location{chain: chain, keyword: "required"}
		}
	}
	return location{chain: append(append([]map[string]any{}, l.chain...), map[string]any{}), keyword: "required"}
}

// kind finds the platform's kind of error: what the schema says, else what its
// parsers do.
func (v *validation) kind(l location) Kind {
	for i := len(l.chain) - 1; i >= 0; i-- {
		switch k := l.chain[i][keyKind].(type) {
		case string:
			return Kind(k)
		case map[string]any:
			if kind, ok := k[l.keyword].(string); ok && i == len(l.chain)-1 {
				return Kind(kind)
			}
		}
	}
	switch l.keyword {
	case "required":
		return KindArgumentNull
	case "type", "enum", "const", "format":
		if v.c.style == configStyle {
			return KindInvalidOperation
		}
		return KindJSON
	}
	return KindArgumentOutOfRange
}

func (l location) hint() string {
	hint, _ := l.schema()[keyHint].(string)
	return hint
}

func (l location) reason(n *node) string {
	switch r := l.schema()[keyReason].(type) {
	case string:
		return r
	case map[string]any:
		if reason, ok := r[l.keyword].(string); ok {
			return reason
		}
	}
	switch l.keyword {
	case "required":
		return "is required"
	case "type":
		return "cannot be read as " + noun(l.schema())
	case "enum", "const":
		return "not one of the allowed values"
	case "format":
		return formatReason(l.schema(), n)
	case "pattern":
		return "not in the required form"
	case "minLength", "minItems":
		return "must not be empty"
	}
	return "out of range"
}

func formatReason(schema map[string]any, n *node) string {
	switch schema["format"] {
	case formatTimeSpan:
		_, err := retrycontext.ParseTimeSpan(NumberText(n.text))
		var spanErr *retrycontext.TimeSpanError
		if errors.As(err, &spanErr) {
			return "cannot be read as a time span: " + spanErr.Reason
		}
		return "cannot be read as a time span"
	case formatInt32:
		return "cannot be read as a whole number of 32 bits"
	case "regex":
		return "not a regular expression"
	}
	return "cannot be read as a time"
}

// noun names the type that a schema wants.
func noun(schema map[string]any) string {
	names := map[string]string{
		"integer": "a whole number", "number": "a number", "boolean": "true or false",
		"string": "text", "array": "a list", "object": "an object", "null": "null",
	}
	var nouns []string
	types := texts(schema["type"])
	for _, t := range types {
		if t == "boolean" && len(types) > 1 {
			nouns = append(nouns, "true", "false")
			continue
		}
		nouns = append(nouns, names[t])
	}
	switch schema["format"] {
	case formatTimeSpan:
		return "a time span"
	case formatUTC, "date-time":
		return "a time"
	}
	return orList(nouns)
}

// allowed says what a schema accepts.
func (l location) allowed() string {
	s := l.schema()
	if text, ok := s[keyAllowed].(string); ok {
		return text
	}
	if words := append(texts(s["enum"]), texts(s["const"])...); len(words) > 0 {
		quoted := make([]string, len(words))
		for i, w := range words {
			quoted[i] = Quote(w)
		}
		return orList(quoted)
	}
	switch s["format"] {
	case formatTimeSpan:
		return "a time span" + spanLimits(object(s[keySpan]))
	case formatUTC:
		return "a time such as 2021-02-16T14:19:29Z"
	}
	if n, ok := s["maxItems"]; ok {
		return fmt.Sprintf("a list of at most %v items", n)
	}
	if n, ok := s["maxLength"]; ok {
		return fmt.Sprintf("text of at most %v characters", n)
	}
	if n, ok := s["maxProperties"]; ok {
		return fmt.Sprintf("at most %v entries", n)
	}
	return noun(s) + numberLimits(s)
}

func spanLimits(s map[string]any) string {
	low, hasLow := s["minimum"]
	high, hasHigh := s["maximum"]
	above, hasAbove := s["above"]
	switch {
	case hasLow && hasHigh:
		return fmt.Sprintf(" from %v to %v", low, high)
	case hasAbove && hasHigh:
		return fmt.Sprintf(" above %v and up to %v", above, high)
	case hasLow:
		return fmt.Sprintf(" of %v or more", low)
	case hasAbove:
		return fmt.Sprintf(" above %v", above)
	}
	return " such as 00:00:30"
}

func numberLimits(s map[string]any) string {
	low, hasLow := s["minimum"]
	high, hasHigh := s["maximum"]
	above, hasAbove := s["exclusiveMinimum"]
	below, hasBelow := s["exclusiveMaximum"]
	switch {
	case hasLow && hasHigh:
		return fmt.Sprintf(" from %v to %v", low, high)
	case hasAbove && hasBelow:
		return fmt.Sprintf(" above %v and below %v", above, below)
	case hasLow:
		return fmt.Sprintf(" of %v or more", low)
	}
	return ""
}

// orList joins words: "a", "b" or "c".
func orList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}
