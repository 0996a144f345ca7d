package web

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/redeliver/redeliver/triggers/httptrigger"
)

// displayed is the address of a request as functions are told it: what was escaped in its
// path without need is not, and what the platform's server has decoded is decoded, so that
// "a%252Fb" reads "a%2Fb" (aspnetcore: PathString.cs and QueryString.cs ToUriComponent;
// observed of the platform's host 4.1037).
func displayed(u *url.URL, host string) string {
	var b strings.Builder
	path := httptrigger.Unescape(u.EscapedPath())
	b.Grow(len("http://") + len(host) + len(path) + len("?") + len(u.RawQuery))
	b.WriteString("http://")
	b.WriteString(host)
	for i := range len(path) {
		switch c := path[i]; {
		case c == '%' && i+2 < len(path) && isHex(path[i+1]) && isHex(path[i+2]), plainInPath(c):
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	if u.RawQuery != "" || u.ForceQuery {
		b.WriteString("?" + strings.ReplaceAll(u.RawQuery, "#", "%23"))
	}
	return b.String()
}

func isHex(c byte) bool { return strings.IndexByte("0123456789abcdefABCDEF", c) >= 0 }

// plainInPath reports whether a path has a character unescaped.
func plainInPath(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("!$&'()*+,-./:;=@_~", c) >= 0
}
