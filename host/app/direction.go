package app

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/redeliver/redeliver/schemas"
)

// directions are the words of a binding's direction, by the numbers of the platform's enum.
var directions = [...]string{"in", "out", "inout"} // read only

// directionOf is the direction that the platform's enum makes of a value: a word in any
// case, its number, also as text, several with commas between them. asNamed says that it
// is written as a word. A value that is none comes back as text.
func directionOf(v any) (direction string, asNamed bool) {
	text := strings.ToLower(scalarText(v))
	_, isNumber := v.(json.Number)
	if _, isText := v.(string); !isText && !isNumber || text == "" {
		return text, true
	}
	sum := 0
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		n := -1
		for i, word := range directions {
			if part == word {
				n = i
			}
		}
		if n < 0 {
			var err error
			if n, err = strconv.Atoi(part); err != nil {
				return text, true
			}
		}
		sum |= n
	}
	if sum < 0 || sum >= len(directions) {
		return text, false
	}
	return directions[sum], directions[sum] == text
}

// A DirectionRule says what the platform makes of a direction that its enum reads and that
// is not written as the word (observed: host 4.1037).
type DirectionRule int

// The rules.
const (
	WordsOnly      DirectionRule = iota // the function is in error
	AnyDirection                        // it counts
	LateDirections                      // each delivery fails
)

// readDirection reads a binding's direction.
func (l *loader) readDirection(b *Binding) {
	asNamed := false
	if b.Direction, asNamed = directionOf(b.Value("direction")); b.Direction == "" {
		b.Direction = "in"
	}
	if asNamed {
		return
	}
	rule := WordsOnly
	if kind := l.opts.Kinds.trigger(b.Type); kind != nil {
		rule = kind.Odd
	} else if kind := l.opts.Kinds.binding(b.Type); kind != nil {
		rule = kind.Odd
	}
	if rule == AnyDirection && !slices.Contains(directions[:], b.Direction) {
		rule = WordsOnly
	}
	b.odd = rule
}

// odd is the rule for a fault about a binding's direction.
func (f *Function) odd(fault *schemas.Fault) DirectionRule {
	for _, b := range f.Bindings {
		if fault.Path == b.PathOf("direction") {
			return b.odd
		}
	}
	return WordsOnly
}
