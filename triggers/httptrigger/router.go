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
	// Methods are the methods that the function takes, in any case; nil is all, an empty
	// list none.
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
	return r.Methods == nil || slices.ContainsFunc(r.Methods, func(m string) bool { return strings.EqualFold(m, method) })
}

// Router finds the function for a request. It does not change once made, and is
// safe for concurrent use.
type Router struct {
	routes []compiled
}

type compiled struct {
	Route
	template Template
}

// NewRouter returns a router over routes, which are tried in the order of their
// functions' names, letter case ignored: the first that matches answers, however
// specific others are (host: FunctionMetadataManager.cs; ext: WebJobsRouteBuilder.cs).
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
		r.routes = append(r.routes, compiled{Route: route, template: t})
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	slices.SortStableFunc(r.routes, func(a, b compiled) int {
		return strings.Compare(strings.ToUpper(a.Function), strings.ToUpper(b.Function))
	})
	return r, nil
}

// Match returns the function for a method and a path, with the values of its
// route parameters. The path is the escaped one of the request, with the prefix
// and without the query (net/url: URL.EscapedPath). Letter case matters neither
// in the method nor in the literals of a route. A route whose methods do not
// include the request's does not match: the answer is 404, never 405.
func (r *Router) Match(method, path string) (function string, params map[string]string, ok bool) {
	segments, end := splitPath(path)
	for _, c := range r.routes {
		if !c.takes(method) {
			continue
		}
		if values, ok := c.template.match(segments, end); ok {
			return c.Function, values, true
		}
	}
	return "", nil, false
}
