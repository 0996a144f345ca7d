package atom

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/listen"
)

// authorize lets the request through, or says why not.
//
// Source: docs, Service Bus access control with Shared Access Signatures.
func (c *call) authorize() error {
	if len(c.opts.Keys) == 0 {
		return nil
	}
	header := c.r.Header.Get("Authorization")
	if header == "" {
		return unauthorized("MissingToken: the request has no Authorization header")
	}
	scheme, _, _ := strings.Cut(header, " ")
	switch {
	case strings.EqualFold(scheme, "SharedAccessSignature"):
		t, _ := listen.ParseSharedAccess(header)
		return c.authorizeBySignature(t)
	case strings.EqualFold(scheme, "Bearer") && c.r.TLS != nil:
		return nil // it cannot be checked here
	case strings.EqualFold(scheme, "Bearer"):
		return unauthorized("InvalidToken: a bearer token is taken over HTTPS only")
	}
	return unauthorized("MalformedToken: the Authorization header is no SharedAccessSignature")
}

func unauthorized(detail string) error {
	return &refusal{status: http.StatusUnauthorized, detail: detail}
}

// authorizeBySignature checks a token that was made of one of the keys.
func (c *call) authorizeBySignature(t *listen.SharedAccess) error {
	key, known := c.opts.Keys[t.Rule]
	switch {
	case !known:
		return unauthorized("InvalidSignature: the policy " + strconv.Quote(t.Rule) + " is unknown")
	case !t.SignedBy(key):
		return badSignature()
	case t.Expiry.IsZero():
		return unauthorized("MalformedToken: the expiry of the token is not a number of seconds")
	case c.opts.StrictDates && t.Expiry.Before(c.clk.Now()):
		return expiredToken()
	case !t.Covers(c.r.URL.Path):
		return wrongAudience()
	}
	return nil
}

func badSignature() error {
	return unauthorized("InvalidSignature: the token has an invalid signature")
}
func expiredToken() error { return unauthorized("ExpiredToken: the token has expired") }
func wrongAudience() error {
	return unauthorized("InvalidAudience: the token is for another resource")
}

// authorizeByRule holds a client that names an authorization rule of the entity, or
// of the topic of a subscription, to that rule: all operations here need Manage.
// Other tokens are good in development mode.
func (c *call) authorizeByRule() error {
	t, ok := listen.ParseSharedAccess(c.r.Header.Get("Authorization"))
	if len(c.opts.Keys) > 0 || !ok || t.Rule == "" || c.target.entity == "" {
		return nil
	}
	var rules []servicebus.AuthorizationRule
	_ = c.inside(func(ctx context.Context) error { // no entity has no rules
		if q, err := c.admin.GetQueue(ctx, c.target.entity); err == nil {
			rules = q.AuthorizationRules
		} else if topic, err := c.admin.GetTopic(ctx, c.target.entity); err == nil {
			rules = topic.AuthorizationRules
		}
		return nil
	})
	i := slices.IndexFunc(rules, func(r servicebus.AuthorizationRule) bool { return strings.EqualFold(r.KeyName, t.Rule) })
	switch {
	case i < 0:
		return nil
	case !t.SignedBy(rules[i].PrimaryKey, rules[i].SecondaryKey):
		return badSignature()
	case !t.Covers(c.r.URL.Path):
		return wrongAudience()
	case t.Expired(c.clk.Now()):
		return expiredToken()
	case !slices.Contains(rules[i].Rights, servicebus.Manage):
		claim := map[string]string{http.MethodGet: "EntityRead", http.MethodDelete: "EntityDelete"}[c.r.Method]
		return unauthorized("Manage," + cmp.Or(claim, "EntityWrite") + " claims required for this operation")
	}
	return nil
}
