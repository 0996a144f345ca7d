package httptrigger

import (
	"net/url"
	"testing"
)

// The path of an address is that of package net/url, where the work is done without it too.
func TestEscapedPath(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"http://localhost:7071/api/Hello", "http://localhost/", "http://localhost", "http://localhost?q=1", "http://localhost/a?q=/b",
		"http://[::1]:7071/api/a-b_c.d~e", "http://h/a%2Fb", "http://h/a b", "http://h/ä", "http://h//a//", "http://h/a:b", "http://h/a#b",
		"http://user@h/a", "/a/b", "", "http://h:x/a", "http://%zz/a", "http://h/a!$&'()*+,;=", "a/b://c/d", "http:///a",
	} {
		want := address
		if u, err := url.Parse(address); err == nil {
			want = u.EscapedPath()
		}
		if got := escapedPath(address); got != want {
			t.Errorf("escapedPath(%q) = %q, want %q", address, got, want)
		}
	}
}
