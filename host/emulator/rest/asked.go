package rest

import (
	"net/http"
	"net/url"
)

// asked is the headers of a request, read as what they mean. Each method reads one thing;
// what is not there is nil, empty or zero, and an error names the header that is wrong.
// None depends on who asks: what a signature allows is the call's to check.
type asked struct{ http.Header }

func (c *call) asked() asked { return asked{c.r.Header} }

// version is the version of the protocol that the request follows.
func (a asked) version() string {
	if v := a.Get("X-Ms-Version"); v != "" {
		return v
	}
	return fallbackVersion
}

// headers is the headers of an answer, written as what they mean.
type headers http.Header

func (c *call) headers() headers { return headers(c.w.Header()) }

func (h headers) set(name, value string) { http.Header(h).Set(name, value) }

// parameters is the query of a request; names are in lower case. Of each parameter that is
// wrong, an error names it.
type parameters struct{ url.Values }
