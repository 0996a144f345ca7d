package bus

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/url"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

// rights are what a claim allows. Nil is everything: such is any token that names no
// authorization rule of the entity.
type rights []bindings.ServiceBusRight

// need fails if there is not one of these rights.
func (may rights) need(address string, one ...bindings.ServiceBusRight) *wire.Error {
	if may == nil || slices.ContainsFunc(one, func(r bindings.ServiceBusRight) bool { return slices.Contains(may, r) }) {
		return nil
	}
	return wire.Errorf(wire.CondUnauthorizedAccess, "Unauthorized access. '%s' claim(s) are required to perform this operation. Resource: '%s'.", one[0], address)
}

// attach fails if the rights do not allow a link.
func (may rights) attach(role wire.Role, managed bool, address string) error {
	var refused *wire.Error
	switch {
	case managed:
		refused = may.need(address, bindings.ServiceBusListen, bindings.ServiceBusSend)
	case role == wire.Sender:
		refused = may.need(address, bindings.ServiceBusSend)
	default:
		refused = may.need(address, bindings.ServiceBusListen)
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
		return may.need(address, bindings.ServiceBusSend)
	}
	return may.need(address, bindings.ServiceBusListen)
}

// rightsOf returns what a token allows with an entity. A subscription has the rules of its
// topic. The expiry is not looked at: clients have a clock of their own.
//
// Source: docs, Service Bus access control with Shared Access Signatures.
func (b *Backend) rightsOf(address, token string) (rights, error) {
	signed, ok := strings.CutPrefix(token, "SharedAccessSignature ")
	if !ok {
		return nil, nil
	}
	raw := map[string]string{}
	for part := range strings.SplitSeq(signed, "&") {
		name, value, _ := strings.Cut(part, "=")
		raw[name] = value
	}
	field := func(name string) string {
		s, _ := url.QueryUnescape(raw[name])
		return s
	}
	var rule *bindings.ServiceBusAuthorizationRule
	_ = b.inside("claim", func() error { // no entity has no rules
		rule = b.rule(address, field("skn"))
		return nil
	})
	if rule == nil {
		return nil, nil
	}
	signature, err := base64.StdEncoding.DecodeString(field("sig"))
	valid := false
	for _, key := range []string{rule.PrimaryKey, rule.SecondaryKey} {
		mac := hmac.New(sha256.New, []byte(key))
		mac.Write([]byte(raw["sr"] + "\n" + raw["se"]))
		valid = valid || err == nil && hmac.Equal(signature, mac.Sum(nil))
	}
	if !valid {
		return nil, refusedToken("InvalidSignature: The token has an invalid signature.")
	}
	scope := strings.ToLower(trimAddress(field("sr")))
	if at := strings.ToLower(address); scope != "" && at != scope && !strings.HasPrefix(at, scope+"/") {
		return nil, refusedToken("InvalidAudience: The authorization header contains a token signed for another resource.")
	}
	return append(rights{}, rule.Rights...), nil
}

// rule finds the authorization rule of that name of the entity of an address.
func (b *Backend) rule(address, name string) *bindings.ServiceBusAuthorizationRule {
	path, _, err := parseAddress(address)
	if err != nil || name == "" {
		return nil
	}
	var rules []bindings.ServiceBusAuthorizationRule
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
