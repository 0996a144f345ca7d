package listen

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// SharedAccess is a token that was made of the key of an authorization rule:
// sr=resource&sig=signature&se=expiry&skn=rule, in any order, each escaped.
// The signed text is the resource as it stands in the token, a line feed,
// and the expiry.
//
// Source: docs, Service Bus access control with Shared Access Signatures.
type SharedAccess struct {
	Resource string
	Rule     string    // name of the authorization rule
	Expiry   time.Time // zero: it is not a number of seconds

	signed, signature string
}

// ParseSharedAccess reads a token; ok is false for one of another kind.
func ParseSharedAccess(token string) (t *SharedAccess, ok bool) {
	scheme, rest, _ := strings.Cut(token, " ")
	if !strings.EqualFold(scheme, "SharedAccessSignature") {
		return nil, false
	}
	raw := map[string]string{}
	for part := range strings.SplitSeq(rest, "&") {
		name, value, _ := strings.Cut(part, "=")
		raw[strings.ToLower(strings.TrimSpace(name))] = strings.TrimSpace(value)
	}
	field := func(name string) string {
		s, err := url.QueryUnescape(raw[name])
		if err != nil {
			return ""
		}
		return s
	}
	t = &SharedAccess{Resource: field("sr"), Rule: field("skn"), signed: raw["sr"] + "\n" + raw["se"], signature: field("sig")}
	if seconds, err := strconv.ParseInt(field("se"), 10, 64); err == nil {
		t.Expiry = time.Unix(seconds, 0)
	}
	return t, true
}

// SignedBy reports whether the token was made of one of these keys.
func (t *SharedAccess) SignedBy(keys ...string) bool {
	signature, err := base64.StdEncoding.DecodeString(t.signature)
	return err == nil && slices.ContainsFunc(keys, func(key string) bool {
		mac := hmac.New(sha256.New, []byte(key))
		mac.Write([]byte(t.signed))
		return hmac.Equal(signature, mac.Sum(nil))
	})
}

// Expired reports whether the token's time is over: by the host's clock,
// which gives now, and by the machine's too. Clients make tokens by the
// machine's clock, and renew them by it, wherever a virtual clock stands.
func (t *SharedAccess) Expired(now time.Time) bool {
	return !t.Expiry.After(now) && !t.Expiry.After(time.Now())
}

// Covers reports whether the token is good for a path: for the resource itself and all
// below it. The host is not compared, because an emulator has many names.
func (t *SharedAccess) Covers(path string) bool {
	of := t.Resource
	if _, after, ok := strings.Cut(of, "://"); ok {
		_, of, _ = strings.Cut(after, "/")
	} else if _, after, ok := strings.Cut(of, "/"); ok {
		of = after
	}
	of, _, _ = strings.Cut(of, "?")
	return Below(path, of)
}

// Below reports whether a path is another one or below it, ignoring case. Every path is
// below the empty one.
func Below(path, other string) bool {
	path, other = strings.ToLower(strings.Trim(path, "/")), strings.ToLower(strings.Trim(other, "/"))
	return other == "" || path == other || strings.HasPrefix(path, other+"/")
}
