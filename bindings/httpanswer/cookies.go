package httpanswer

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Cookie is a cookie of a worker's response (proto: RpcHttpCookie). Nil parts are not set.
type Cookie struct {
	Name, Value  string
	Domain, Path *string
	Expires      *time.Time
	MaxAge       *float64 // seconds
	Secure       bool
	HTTPOnly     bool
	SameSite     string // "strict", "lax" or "none"; empty: it is not said
}

// line is the value of the Set-Cookie header, in the platform's order: all but unreserved
// characters of the value are escaped, and a cookie without a path is the whole site's
// (aspnetcore: ResponseCookies.cs, SetCookieHeaderValue.cs).
func (c Cookie) line() (string, error) {
	if c.Name != "" && !isToken(c.Name) {
		return "", fmt.Errorf("%q is no name of a cookie", c.Name)
	}
	var b strings.Builder
	b.WriteString(c.Name + "=" + strings.ReplaceAll(url.QueryEscape(c.Value), "+", "%20"))
	if c.Expires != nil {
		b.WriteString("; expires=" + c.Expires.UTC().Format(http.TimeFormat))
	}
	if c.MaxAge != nil {
		b.WriteString("; max-age=" + strconv.FormatInt(int64(*c.MaxAge), 10))
	}
	if c.Domain != nil {
		b.WriteString("; domain=" + *c.Domain)
	}
	path := "/"
	if c.Path != nil {
		path = *c.Path
	}
	b.WriteString("; path=" + path)
	if c.Secure {
		b.WriteString("; secure")
	}
	if c.SameSite != "" {
		b.WriteString("; samesite=" + c.SameSite)
	}
	if c.HTTPOnly {
		b.WriteString("; httponly")
	}
	if line := b.String(); !isFieldValue(line) {
		return "", fmt.Errorf("the cookie %q would be %q: HTTP takes printable ASCII", c.Name, line)
	}
	return b.String(), nil
}
