package grid

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/listen"
)

// authorize lets a publisher through, or says why not: by the topic's key, by a
// token that was made with it, or, over TLS, by a bearer token, unchecked.
//
// Source: docs, Authenticate publishing clients using access keys or shared access
// signatures.
func (h *handler) authorize(r *http.Request, topic eventgrid.Topic) error {
	key, token := r.Header.Get("Aeg-Sas-Key"), r.Header.Get("Aeg-Sas-Token")
	scheme, credential, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	switch {
	case key != "":
		if subtle.ConstantTimeCompare([]byte(key), []byte(topic.Key)) != 1 {
			return unauthorized(topic, "the key is not the topic's")
		}
		return nil
	case token != "":
		return h.authorizeToken(r, topic, token)
	case strings.EqualFold(scheme, "SharedAccessSignature"):
		return h.authorizeToken(r, topic, strings.TrimSpace(credential))
	case strings.EqualFold(scheme, "Bearer") && r.TLS != nil:
		return nil
	case strings.EqualFold(scheme, "Bearer"):
		return unauthorized(topic, "a bearer token is taken over HTTPS only")
	case scheme != "":
		return unauthorized(topic, "the Authorization header is no SharedAccessSignature")
	case h.opts.Open:
		return nil
	}
	return unauthorized(topic, "the request has neither aeg-sas-key nor aeg-sas-token nor Authorization")
}

// unauthorized begins with the service's words, by which clients' tests know it
// (azure-eventgrid 4.22.1 for Python: tests/test_exceptions.py).
func unauthorized(topic eventgrid.Topic, reason string) error {
	return &eventgrid.Error{Status: http.StatusUnauthorized, Code: "Unauthorized", Message: "The request authorization key is not authorized for " + strings.ToUpper(topic.Name) + ". This is due to the reason: " + reason + "."}
}

// authorizeToken checks a token r=resource&e=expiry&s=signature, each escaped. The
// signature covers its text before the signature, with the key's bytes.
func (h *handler) authorizeToken(r *http.Request, topic eventgrid.Topic, token string) error {
	i := strings.LastIndex(token, "&s=")
	if i < 0 {
		return unauthorized(topic, "the token has no signature")
	}
	signed := token[:i]
	signature, err := url.QueryUnescape(token[i+len("&s="):])
	if err != nil {
		return unauthorized(topic, "the token's signature cannot be read")
	}
	sum, err := base64.StdEncoding.DecodeString(signature)
	mac := hmac.New(sha256.New, keyBytes(topic.Key))
	mac.Write([]byte(signed))
	if err != nil || !hmac.Equal(sum, mac.Sum(nil)) {
		return unauthorized(topic, "the token's signature is not valid")
	}
	fields, err := url.ParseQuery(signed)
	if err != nil {
		return unauthorized(topic, "the token cannot be read")
	}
	expiry, ok := parseExpiry(fields.Get("e"))
	if !ok {
		return unauthorized(topic, "the token's expiry is no time")
	}
	if h.expired(expiry) {
		return unauthorized(topic, "the token has expired")
	}
	if !covers(fields.Get("r"), r.URL.Path) {
		return unauthorized(topic, "the token is for another resource")
	}
	return nil
}

// expired reports whether a token's time is over; see Options.StrictDates.
func (h *handler) expired(expiry time.Time) bool {
	if now := h.clk.Now(); expiry.After(now) {
		return false
	}
	return h.opts.StrictDates || !expiry.After(time.Now()) //clock:outside publishers live in real time
}

// keyBytes are the bytes of a key: decoded from base64, or its own where a
// developer chose a key that is not base64.
func keyBytes(key string) []byte {
	if raw, err := base64.StdEncoding.DecodeString(key); err == nil {
		return raw
	}
	return []byte(key)
}

// expiryLayouts are the notations of an expiry: of the official clients, where the one for
// Java writes minutes and seconds below ten with one digit, and of .NET's DateTime and
// DateTimeOffset in the culture en-US, or with predefined cultures off in the invariant one,
// which counts 24 hours.
//
// Source: azure-sdk-for-net: sdk/eventgrid/Azure.Messaging.EventGrid/src/EventGridSasBuilder.cs.
var expiryLayouts = []string{ // read only
	"1/2/2006 3:4:5 PM", "1/2/2006 3:4:5 PM -07:00",
	"1/2/2006 15:4:5", "1/2/2006 15:4:5 -07:00",
	"2006-01-02 15:04:05", "2006-01-02 15:04:05-07:00",
	"2006-01-02T15:04:05", time.RFC3339,
}

// expirySpaces are the spaces before AM and PM in the locale data of ICU 72 and later, and
// of some older ones.
var expirySpaces = strings.NewReplacer("\u202f", " ", "\u00a0", " ")

// parseExpiry reads the expiry of a token; seconds may have a fraction.
func parseExpiry(text string) (time.Time, bool) {
	text = expirySpaces.Replace(text)
	for _, layout := range expiryLayouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// covers reports whether a token for resource, a URL, is good for a path. The host is
// not compared, because an emulator has many names.
func covers(resource, path string) bool {
	u, err := url.Parse(resource)
	if err != nil {
		return false
	}
	return listen.Below(path, u.Path)
}
