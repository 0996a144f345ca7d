package app

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/redeliver/redeliver/host/app/document"
	"github.com/redeliver/redeliver/schemas"
	"github.com/redeliver/redeliver/triggers/httptrigger"
)

// RouteTemplate returns the whole route template of an HTTP-triggered function:
// the prefix of host.json, then its route or its name, without outer slashes.
func RouteTemplate(a *App, f *Function) string {
	prefix, route := strings.Trim(a.Config.HTTP.RoutePrefix, "/"), f.route()
	if prefix == "" {
		return route
	}
	return prefix + "/" + route
}

// RouteOf is where requests find an HTTP-triggered function.
func RouteOf(a *App, f *Function) httptrigger.Route {
	r := httptrigger.Route{Function: f.Name, Template: f.Trigger.String("route"), Prefix: a.Config.HTTP.RoutePrefix}
	if list, ok := f.Trigger.Value("methods").([]any); ok {
		r.Methods = []string{} // an empty list takes none
		for _, m := range list {
			switch m := m.(type) {
			case string:
				r.Methods = append(r.Methods, m)
			case json.Number:
				r.Methods = append(r.Methods, m.String())
			case bool:
				r.Methods = append(r.Methods, strconv.FormatBool(m))
			}
		}
	}
	return r
}

// checkPrefix refuses a prefix that spoils each route: one that puts two slashes into it,
// which the routes of the platform's library have not, and one that is no template (ext:
// WebJobsRouteBuilder.cs BuildRouteTemplate).
func (l *hostFile) checkPrefix(r document.Reader) {
	const path = "extensions.http.routePrefix"
	prefix, reason := l.app.Config.HTTP.RoutePrefix, ""
	if strings.HasSuffix(prefix, "/") || strings.Contains(prefix, "//") {
		reason = "two slashes come together in each route"
	} else if _, err := httptrigger.ParseTemplate(prefix + "/x"); prefix != "" && err != nil {
		reason = err.Error()
	}
	if reason == "" {
		return
	}
	f := r.Doc.Fault(path, schemas.Quote(prefix), `a prefix without a slash at its end, such as "api/v1"`, reason+", and "+StopsTheApp)
	f.Kind = schemas.KindInvalidOperation
	l.fault(f)
}

// FailsDeliveries is what the platform does over an output that cannot be bound: it finds
// out when the handler has run. Redeliver leaves out the function.
const FailsDeliveries = "the platform runs the function, and then fails each of its deliveries"

// StopsTheApp is what the platform does over what stops its whole host; Redeliver leaves
// out one function.
const StopsTheApp = "the platform stops the whole app"

// Routed returns the names of the functions that requests reach by a route of HTTP.
func (a *App) Routed() (names []string) {
	for _, f := range a.Functions {
		if f.Routed() {
			names = append(names, f.Name)
		}
	}
	return names
}

// route is the route without the prefix.
func (f *Function) route() string {
	if route := strings.TrimSpace(f.Trigger.String("route")); route != "" {
		return strings.Trim(route, "/")
	}
	return f.Name
}

// checkRoutes applies spec host-and-retry 9.1 (host: ScriptHost.cs
// ValidateHttpFunction, HttpRoutesConflict): no route into the host's own space,
// and of two that clash the later function is in error.
func (l *loader) checkRoutes(functions []*Function) {
	var taken []*Function
	for _, f := range functions {
		if !f.Routed() {
			continue
		}
		path := f.Trigger.PathOf("route")
		route := strings.ToLower(f.route())
		if strings.HasPrefix(route, "admin") || strings.HasPrefix(route, "runtime") {
			f.fault(indexing, path, schemas.KindInvalidOperation, schemas.Quote(f.route()), `a route that does not begin with "admin" or "runtime"`,
				"the route conflicts with built-in routes")
		}
		if len(f.staged) > 0 {
			continue
		}
		clash := false
		for _, other := range taken {
			if strings.EqualFold(f.route(), other.route()) && methodsMeet(f.Trigger, other.Trigger) {
				f.fault(indexing, path, schemas.KindInvalidOperation, schemas.Quote(f.route()), "",
					fmt.Sprintf("the route conflicts with the route of the function %q", other.Name)).Hint =
					"give one of them another route or other methods"
				clash = true
				break
			}
		}
		if !clash {
			taken = append(taken, f)
		}
	}
}

// methodsMeet compares methods with their case, as the platform does. None given
// means all.
func methodsMeet(a, b *Binding) bool {
	x, y := document.TextList(a.Value("methods")), document.TextList(b.Value("methods"))
	if len(x) == 0 || len(y) == 0 {
		return true
	}
	for _, m := range x {
		for _, n := range y {
			if m == n {
				return true
			}
		}
	}
	return false
}
