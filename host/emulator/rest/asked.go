package rest

import (
	"net/http"
	"net/url"
	"strconv"
)

// asked is the headers of a request, read as what they mean. Each method reads one thing;
// what is not there is nil, empty or zero, and an error names the header that is wrong.
// None depends on who asks: what a signature allows is the call's to check.
type asked struct{ http.Header }

func (c *Call) asked() asked { return asked{c.R.Header} }

// version is the version of the protocol that the request follows.
func (a asked) version() string {
	if v := a.Get("X-Ms-Version"); v != "" {
		return v
	}
	return fallbackVersion
}

// headers is the headers of an answer, written as what they mean.
type headers http.Header

// Headers are the headers of the answer.
func (c *Call) Headers() headers { return headers(c.W.Header()) }

func (h headers) set(name, value string) { http.Header(h).Set(name, value) }

// Parameters is the query of a request; names are in lower case. Of each parameter that is
// wrong, an error names it.
type Parameters struct{ url.Values }

// Number reads a parameter that is a whole number within limits; absent, it is
// def.
func (p Parameters) Number(name string, def, least, most int64) (int64, *Error) {
	if !p.Has(name) {
		return def, nil
	}
	text := p.Get(name)
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, ErrInvalidParameter(name, text, "The value is not a whole number.")
	}
	if n < least || n > most {
		return 0, errOutOfRangeParameter(name, text, least, most)
	}
	return n, nil
}
