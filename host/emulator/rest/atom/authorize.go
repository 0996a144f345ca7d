package atom

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"strconv"
	"strings"
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
	scheme, token, _ := strings.Cut(header, " ")
	switch {
	case strings.EqualFold(scheme, "SharedAccessSignature"):
		return c.authorizeBySignature(token)
	case strings.EqualFold(scheme, "Bearer") && c.r.TLS != nil:
		return nil // nobody here could check it
	case strings.EqualFold(scheme, "Bearer"):
		return unauthorized("InvalidToken: a bearer token is taken over HTTPS only")
	}
	return unauthorized("MalformedToken: the Authorization header is no SharedAccessSignature")
}

func unauthorized(detail string) error {
	return &refusal{status: http.StatusUnauthorized, detail: detail}
}

// authorizeBySignature checks a token: sr=resource&sig=signature&se=expiry&skn=policy,
// in any order, each escaped. What is signed is the resource as it stands in the
// token, a line feed, and the expiry.
func (c *call) authorizeBySignature(token string) error {
	raw := map[string]string{}
	for part := range strings.SplitSeq(token, "&") {
		name, value, _ := strings.Cut(part, "=")
		raw[strings.ToLower(strings.TrimSpace(name))] = strings.TrimSpace(value)
	}
	field := func(name string) string {
		v, err := url.QueryUnescape(raw[name])
		if err != nil {
			return ""
		}
		return v
	}
	key, known := c.opts.Keys[field("skn")]
	if !known {
		return unauthorized("InvalidSignature: the policy " + strconv.Quote(field("skn")) + " is unknown")
	}
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(raw["sr"] + "\n" + raw["se"]))
	signature, err := base64.StdEncoding.DecodeString(field("sig"))
	if err != nil || !hmac.Equal(signature, mac.Sum(nil)) {
		return unauthorized("InvalidSignature: the token has an invalid signature")
	}
	expiry, err := strconv.ParseInt(field("se"), 10, 64)
	if err != nil {
		return unauthorized("MalformedToken: the expiry of the token is not a number of seconds")
	}
	if c.opts.StrictDates && expiry < c.clk.Now().Unix() {
		return unauthorized("ExpiredToken: the token has expired")
	}
	if !covers(field("sr"), c.r.URL.Path) {
		return unauthorized("InvalidAudience: the token is for another resource")
	}
	return nil
}

// covers reports whether a token for resource is good for a path: for the path
// itself and all below it. The host is not compared, because an emulator has many
// names.
func covers(resource, path string) bool {
	if _, after, ok := strings.Cut(resource, "://"); ok {
		resource = after
	}
	_, of, _ := strings.Cut(resource, "/")
	of, _, _ = strings.Cut(of, "?")
	of = strings.ToLower(strings.Trim(of, "/"))
	path = strings.ToLower(strings.Trim(path, "/"))
	return of == "" || path == of || strings.HasPrefix(path, of+"/")
}
