package bus

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
	"github.com/redeliver/redeliver/host/listen"
)

// rights are the rights of a claim. Nil means all rights, for tokens that name
// no authorization rule of the entity.
type rights []servicebus.Right

// need fails if there is not one of these rights.
func (may rights) need(address string, one ...servicebus.Right) *wire.Error {
	if may == nil || slices.ContainsFunc(one, func(r servicebus.Right) bool { return slices.Contains(may, r) }) {
		return nil
	}
	return wire.Errorf(wire.CondUnauthorizedAccess, "Unauthorized access. '%s' claim(s) are required to perform this operation. Resource: '%s'.", one[0], address)
}

// attach fails if the rights do not allow a link.
func (may rights) attach(role wire.Role, managed bool, address string) error {
	var refused *wire.Error
	switch {
	case managed:
		refused = may.need(address, servicebus.Listen, servicebus.Send)
	case role == wire.Sender:
		refused = may.need(address, servicebus.Send)
	default:
		refused = may.need(address, servicebus.Listen)
	}
	if refused != nil {
		return refused
	}
	return nil
}

// request fails if the rights do not allow an operation of $management. Rules of
// subscriptions need no more than Listen (docs: ServiceBusRuleManager).
func (may rights) request(operation, address string) *wire.Error {
	switch operation {
	case "com.microsoft:schedule-message", "com.microsoft:cancel-scheduled-message":
		return may.need(address, servicebus.Send)
	}
	return may.need(address, servicebus.Listen)
}

// rightsOf returns what a token allows with an entity. A subscription has the rules of its
// topic. A token that names no rule of the entity is believed.
//
// Source: docs, Service Bus access control with Shared Access Signatures.
func (b *Backend) rightsOf(address, token string) (rights, error) {
	t, ok := listen.ParseSharedAccess(token)
	if !ok {
		return nil, nil
	}
	var rule *servicebus.AuthorizationRule
	var now time.Time
	_ = b.inside("claim", func() error { // no entity has no rules
		rule, now = b.rule(address, t.Rule), b.clk.Now()
		return nil
	})
	switch {
	case rule == nil:
		return nil, nil
	case !t.SignedBy(rule.PrimaryKey, rule.SecondaryKey):
		return nil, refusedToken("InvalidSignature: The token has an invalid signature.")
	case !t.Covers(address):
		return nil, refusedToken("InvalidAudience: The authorization header contains a token signed for another resource.")
	case t.Expired(now):
		return nil, refusedToken(fmt.Sprintf("ExpiredToken: The token is expired. Expiration time: '%s'.", t.Expiry.UTC().Format(time.RFC1123)))
	}
	return append(rights{}, rule.Rights...), nil
}

// rule finds the authorization rule of that name of the entity of an address.
func (b *Backend) rule(address, name string) *servicebus.AuthorizationRule {
	path, _, err := parseAddress(address)
	if err != nil || name == "" {
		return nil
	}
	var rules []servicebus.AuthorizationRule
	if q, err := b.ns.GetQueue(background, path.Entity); err == nil {
		rules = q.AuthorizationRules
	} else if t, err := b.ns.GetTopic(background, path.Entity); err == nil {
		rules = t.AuthorizationRules
	}
	for i := range rules {
		if strings.EqualFold(rules[i].KeyName, name) {
			return &rules[i]
		}
	}
	return nil
}

// refusedToken is why a token is refused, in the words of the service.
type refusedToken string

func (r refusedToken) Error() string { return string(r) }
