package servicebus

import (
	"fmt"
	"strings"

	"github.com/redeliver/redeliver/bindings"
)

// SubQueue names one of the queues that an entity has beside itself.
type SubQueue string

// The sub-queues, as suffixes of a path.
const (
	MainQueue               SubQueue = ""
	DeadLetterQueue         SubQueue = "/$DeadLetterQueue"
	TransferDeadLetterQueue SubQueue = "/$Transfer/$DeadLetterQueue"
)

// Path is the address of something that holds messages.
type Path struct {
	Entity       string // queue or topic
	Subscription string // of the topic; empty: the entity itself
	SubQueue     SubQueue
}

const (
	subscriptionsInfix = "/subscriptions/"
)

// Lengths of names in characters (docs: Service Bus quotas).
const (
	maxEntityName       = 260
	maxSubscriptionName = 50
)

// String returns the path in the form in which it is documented.
func (p Path) String() string {
	if p.Subscription == "" {
		return p.Entity + string(p.SubQueue)
	}
	return p.Entity + "/Subscriptions/" + p.Subscription + string(p.SubQueue)
}

// Key returns the path as a key: two paths mean the same if their keys are
// equal.
func (p Path) Key() string { return strings.ToLower(p.String()) }

// Main returns the path without its sub-queue.
func (p Path) Main() Path {
	p.SubQueue = MainQueue
	return p
}

// ParsePath reads a path (spec messaging 1.4). Fixed words match in
// any case, names keep theirs. A leading slash and what comes before the path
// in an absolute URI ("amqps://host:5671/") are dropped, and so is a slash at
// the end. Names of queues and topics may contain slashes. It fails with
// bindings.ErrInvalidName; whether the entity exists is not its business.
func ParsePath(path string) (Path, error) {
	rest := trimAddress(path)
	var p Path
	for _, sub := range []SubQueue{TransferDeadLetterQueue, DeadLetterQueue} {
		if r, ok := cutSuffixFold(rest, string(sub)); ok {
			rest, p.SubQueue = r, sub
			break
		}
	}
	if i := lastIndexFold(rest, subscriptionsInfix); i >= 0 {
		p.Subscription, rest = rest[i+len(subscriptionsInfix):], rest[:i]
		if err := validName("subscription", p.Subscription, maxSubscriptionName, false); err != nil {
			return Path{}, err
		}
	}
	p.Entity = rest
	if err := validName("entity", p.Entity, maxEntityName, true); err != nil {
		return Path{}, err
	}
	if strings.Contains("/"+strings.ToLower(p.Entity)+"/", subscriptionsInfix) {
		return Path{}, fmt.Errorf("%w: path %q: want topic/Subscriptions/subscription", bindings.ErrInvalidName, path)
	}
	return p, nil
}

// ValidateRuleName checks the name of a rule: it has the form of a subscription's
// name, or begins with a dollar sign, as "$Default" does.
func ValidateRuleName(name string) error {
	return validName("rule", strings.TrimPrefix(name, "$"), maxSubscriptionName, false)
}

func trimAddress(address string) string {
	if _, after, ok := strings.Cut(address, "://"); ok {
		_, address, _ = strings.Cut(after, "/")
	}
	return strings.Trim(address, "/")
}

// lastIndexFold is strings.LastIndex without regard to case. The text may be
// anything: lower case can have another length.
func lastIndexFold(s, substr string) int {
	for i := len(s) - len(substr); i >= 0; i-- {
		if strings.EqualFold(s[i:i+len(substr)], substr) {
			return i
		}
	}
	return -1
}

func cutSuffixFold(s, suffix string) (string, bool) {
	if n := len(s) - len(suffix); n >= 0 && strings.EqualFold(s[n:], suffix) {
		return s[:n], true
	}
	return s, false
}

// validName checks a name: letters, digits, periods, hyphens and underscores, and for
// queues and topics (a path) slashes and tildes; first and last a letter, digit or, as the
// service accepts today, an underscore (docs: Terraform's provider for Azure,
// validate/queue_name).
func validName(what, name string, longest int, path bool) error {
	if name == "" {
		return fmt.Errorf("%w: the name of the %s is empty", bindings.ErrInvalidName, what)
	}
	if len(name) > longest {
		return fmt.Errorf("%w: %s %q has %d characters: want at most %d", bindings.ErrInvalidName, what, name, len(name), longest)
	}
	for i := range len(name) {
		switch c := name[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_':
			continue
		case i > 0 && i < len(name)-1 && (c == '.' || c == '-' || path && (c == '~' || c == '/' && name[i-1] != '/')):
			continue
		}
		return fmt.Errorf("%w: %s %q: want letters, digits, periods, hyphens and underscores, beginning and ending with a letter or a digit", bindings.ErrInvalidName, what, name)
	}
	return nil
}
