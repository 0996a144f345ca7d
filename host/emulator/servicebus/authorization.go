package servicebus

import (
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
)

// Limits of authorization rules (docs: Service Bus access control with Shared Access
// Signatures; class SharedAccessAuthorizationRule).
const (
	maxAuthorizationRules = 12
	maxAuthorizationText  = 256 // characters of a name or a key
)

// rules checks the authorization rules of an entity, and makes the keys that they lack.
func (s *settings) rules(e *entity, rules *[]servicebus.AuthorizationRule) {
	if len(*rules) > maxAuthorizationRules {
		s.fail(messaging.ConditionArgumentOutOfRange, "%d authorization rules: want at most %d", len(*rules), maxAuthorizationRules)
		return
	}
	*rules = slices.Clone(*rules) // never the caller's
	for i := range *rules {
		r := &(*rules)[i]
		r.Rights = slices.Clone(r.Rights)
		for _, text := range []string{r.KeyName, r.PrimaryKey, r.SecondaryKey} {
			if utf8.RuneCountInString(text) > maxAuthorizationText {
				s.fail(messaging.ConditionArgumentOutOfRange, "authorization rule %q: name and keys have at most %d characters", r.KeyName, maxAuthorizationText)
			}
		}
		named := func(o servicebus.AuthorizationRule) bool { return strings.EqualFold(o.KeyName, r.KeyName) }
		switch {
		case r.KeyName == "":
			s.fail(messaging.ConditionArgumentError, "an authorization rule has no name")
		case slices.ContainsFunc((*rules)[:i], named):
			s.fail(messaging.ConditionArgumentError, "two authorization rules are named %q", r.KeyName)
		case len(r.Rights) == 0:
			s.fail(messaging.ConditionArgumentError, "authorization rule %q has no rights: want Listen, Send or Manage", r.KeyName)
		}
		s.rights(r)
		makeKey(&r.PrimaryKey, e, r.KeyName, "primary")
		makeKey(&r.SecondaryKey, e, r.KeyName, "secondary")
	}
}

func (s *settings) rights(r *servicebus.AuthorizationRule) {
	for i, right := range r.Rights {
		switch right {
		case servicebus.Listen, servicebus.Send, servicebus.Manage:
		default:
			s.fail(messaging.ConditionArgumentError, "authorization rule %q: right %q: want Listen, Send or Manage", r.KeyName, right)
		}
		if slices.Contains(r.Rights[:i], right) {
			s.fail(messaging.ConditionArgumentError, "authorization rule %q: the right %s stands twice", r.KeyName, right)
		}
	}
	if slices.Contains(r.Rights, servicebus.Manage) && len(r.Rights) < 3 {
		s.fail(messaging.ConditionArgumentError, "authorization rule %q: Manage needs Send and Listen", r.KeyName)
	}
}

// makeKey fills in a key that is missing: always the same one, so that runs can be
// repeated. It is no secret.
func makeKey(key *string, e *entity, name, which string) {
	if *key == "" {
		sum := sha256.Sum256([]byte(e.key + "\x00" + name + "\x00" + which))
		*key = base64.StdEncoding.EncodeToString(sum[:])
	}
}
