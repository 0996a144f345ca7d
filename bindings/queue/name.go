package queue

import (
	"fmt"
	"strings"

	"github.com/redeliver/redeliver/bindings"
)

// poisonSuffix makes the name of a poison queue out of a queue's name.
const poisonSuffix = "-poison"

// Name returns the name that a queue name in a binding stands for: in
// lower case, checked by ValidateName. Settings and binding expressions
// must have been replaced before.
func Name(s string) (string, error) {
	name := strings.ToLower(s)
	return name, ValidateName(name)
}

// ValidateName checks the queue service's naming rules: 3 to 63
// characters, lower-case ASCII letters, digits and single dashes, a letter or
// digit at both ends. The error is a *bindings.NameError.
//
// Source: webjobs storage extension, QueueClientExtensions.cs, for texts and
// order; it accepts any Unicode letter, the service only ASCII, and so do we.
func ValidateName(name string) error {
	refuse := func(format string, args ...any) error {
		return &bindings.NameError{Name: name, Text: fmt.Sprintf(format, args...)}
	}
	switch {
	case name == "":
		return refuse("A queue name can't be null or empty")
	case len(name) < 3 || len(name) > 63:
		return refuse("A queue name must be from 3 through 63 characters long - %q", name)
	case name[0] == '-' || name[len(name)-1] == '-':
		return refuse("The dash (-) character may not be the first or last letter - %q", name)
	}
	previous := rune(0)
	for _, c := range name {
		switch {
		case 'A' <= c && c <= 'Z':
			return refuse("Queue names must be all lower case - %q", name)
		case !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-'):
			return refuse("A queue name can contain only letters, numbers, and dash(-) characters - %q", name)
		case c == '-' && previous == '-':
			return refuse("A queue name cannot contain consecutive dash(-) characters.")
		}
		previous = c
	}
	return nil
}

// PoisonName returns the name of the poison queue of a queue, and false if
// it has none: because the queue is a poison queue itself, or because the name
// would be too long (names of 57 characters and more).
func PoisonName(queue string) (string, bool) {
	if strings.HasSuffix(queue, poisonSuffix) {
		return "", false
	}
	name := queue + poisonSuffix
	if ValidateName(name) != nil {
		return "", false
	}
	return name, true
}

// PoisonOrigin returns the queue whose poison queue has that name. It is false for a
// name that is not a poison queue's.
func PoisonOrigin(poison string) (origin string, ok bool) {
	origin, ok = strings.CutSuffix(poison, poisonSuffix)
	return origin, ok && origin != ""
}
