package httptrigger

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Route is where one function is to be found.
type Route struct {
	Function string
	// Methods are the methods that the function takes, in any case; none is all.
	Methods []string
	// Template is the `route` of the binding (see [ParseTemplate]). Blank: the
	// function's name.
	Template string
	// Prefix is the routePrefix of the app, usually "api"; it may be empty.
	Prefix string
}

// template returns the route without the prefix and without outer slashes.
func (r Route) template() string {
	if strings.TrimSpace(r.Template) == "" {
		return r.Function
	}
	return strings.Trim(r.Template, "/")
}

// full returns the route with the prefix.
func (r Route) full() string {
	return strings.Trim(strings.Trim(r.Prefix, "/")+"/"+r.template(), "/")
}

func (r Route) takes(method string) bool {
	return len(r.Methods) == 0 || slices.ContainsFunc(r.Methods, func(m string) bool { return strings.EqualFold(m, method) })
}

// Router finds the function for a request. It does not change once made, and is
// safe for concurrent use.
type Router struct {
	routes []compiled
}

type compiled struct {
	Route
	template Template
	rank     []int
}

// NewRouter returns a router over routes, which are tried the most specific
// first, segment by segment: a literal before a parameter with constraints or a
// segment of several parts, that before a plain parameter, that before the rest
// of the path. Between equals the order of routes decides.
//
// All faults are reported together; each is a *[TemplateError] that names its
// function around it.
func NewRouter(routes []Route) (*Router, error) {
	r := &Router{}
	var faults []error
	for _, route := range routes {
		t, err := ParseTemplate(route.full())
		if err != nil {
			faults = append(faults, fmt.Errorf("function %q: %w", route.Function, err))
			continue
		}
		r.routes = append(r.routes, compiled{Route: route, template: t, rank: t.rank()})
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	slices.SortStableFunc(r.routes, func(a, b compiled) int { return slices.Compare(a.rank, b.rank) })
	return r, nil
}

// rank returns a digit for each segment: the lower, the more specific.
func (t Template) rank() []int {
	var digits []int
	for _, s := range t.segments {
		digit := 2
		if p := s[0].param; len(s) == 1 {
			switch {
			case p == nil:
				digit = 1
			case p.catchAll:
				digit = 5
			default:
				digit = 3
			}
			if p != nil && len(p.constraints) > 0 {
				digit--
			}
		}
		digits = append(digits, digit)
	}
	return digits
}

// Match returns the function for a method and a path, with the values of its
// route parameters. The path is the escaped one of the request, with the prefix
// and without the query (net/url: URL.EscapedPath). Letter case matters neither
// in the method nor in the literals of a route. A route whose methods do not
// include the request's does not match: the answer is 404, never 405.
func (r *Router) Match(method, path string) (function string, params map[string]string, ok bool) {
	segments := splitPath(path)
	for _, c := range r.routes {
		if !c.takes(method) {
			continue
		}
		if values, ok := c.template.match(segments); ok {
			return c.Function, values, true
		}
	}
	return "", nil, false
}
