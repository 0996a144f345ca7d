package httptrigger

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings"
)

// cookie is a cookie as functions write it. Names count in any case (proto:
// FunctionRpc.proto, RpcHttpCookie).
type cookie struct {
	Name     string
	Value    string
	Domain   string
	Path     string
	Expires  json.RawMessage // a date as text, or milliseconds since 1970
	Secure   bool
	HTTPOnly bool
	SameSite string
	MaxAge   *float64
}

// setCookies turns a list of cookies into Set-Cookie headers.
func setCookies(r *bindings.HTTPResponse, raw []byte) error {
	var list []cookie
	if err := json.Unmarshal(raw, &list); err != nil {
		return fmt.Errorf("the http output has no valid list of cookies: %w", err)
	}
	for _, c := range list {
		line, err := c.line()
		if err != nil {
			return err
		}
		if r.Header == nil {
			r.Header = http.Header{}
		}
		r.Header.Add("Set-Cookie", line)
	}
	return nil
}

// line returns the value of the Set-Cookie header.
func (c cookie) line() (string, error) {
	h := http.Cookie{
		Name: c.Name, Value: c.Value, Domain: c.Domain, Path: c.Path, Secure: c.Secure, HttpOnly: c.HTTPOnly,
	}
	switch strings.ToLower(c.SameSite) {
	case "strict":
		h.SameSite = http.SameSiteStrictMode
	case "lax":
		h.SameSite = http.SameSiteLaxMode
	case "none", "explicitnone":
		h.SameSite = http.SameSiteNoneMode
	}
	if c.MaxAge != nil {
		// Zero deletes the cookie; in net/http a negative age says so.
		h.MaxAge = -1
		if age := math.Trunc(*c.MaxAge); age > 0 {
			h.MaxAge = int(min(age, math.MaxInt32))
		}
	}
	var err error
	if h.Expires, err = expiry(c.Expires); err == nil {
		err = h.Valid()
	}
	if err != nil {
		return "", fmt.Errorf("the http output has a cookie %q that cannot be sent: %w", c.Name, err)
	}
	return h.String(), nil
}

func expiry(raw json.RawMessage) (time.Time, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return time.Time{}, nil
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		var ms float64
		if err := json.Unmarshal(raw, &ms); err != nil {
			return time.Time{}, fmt.Errorf("expires is neither a date nor a number")
		}
		return time.UnixMilli(int64(ms)).UTC(), nil
	}
	for _, form := range []string{time.RFC3339Nano, http.TimeFormat, time.RFC850, time.ANSIC, time.RFC1123Z} {
		if at, err := time.Parse(form, text); err == nil {
			return at.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("expires %q is not a date", text)
}
