// Package http is the HTTP trigger and the http output as the host knows them.
package http

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/httpanswer"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/kinds"
	"github.com/redeliver/redeliver/schemas"
	"github.com/redeliver/redeliver/triggers"
	"github.com/redeliver/redeliver/triggers/httptrigger"
)

// Kind is the HTTP trigger.
func Kind() kinds.Kind {
	return kinds.Kind{
		Kind: app.Kind{
			Type: "httpTrigger", Routed: true, Odd: app.AnyDirection, Literal: "route", Endless: "a request that always fails is never answered",
			End: end, Validate: validate, Lint: lint,
		},
		Connect: connect, Listen: listen, Message: message, Result: result,
	}
}

// Output is the http output, the answer to the request.
func Output() kinds.Binding {
	out := []string{"out"}
	return kinds.Binding{
		BindingKind: app.BindingKind{Type: "http", Odd: app.AnyDirection, Of: "HTTP", Directions: out, Served: out, Answers: true},
		Output:      func(*kinds.Function, *app.Binding) (kinds.Output, error) { return output{}, nil },
	}
}

type output struct{}

// Write implements kinds.Output.
func (output) Write(_ context.Context, a kinds.Attempt, v bindings.Value) error {
	resp, err := httpanswer.From(v, a.Request())
	if err == nil {
		a.Respond(resp)
	}
	return err
}

// result answers with what the function returned, where no output was the answer. An
// output of another kind that took the value changes nothing (observed of the platform's
// host 4.1037).
func result(a kinds.Attempt, v bindings.Value) error {
	resp, err := httpanswer.OfResult(v, a.Request())
	if err == nil {
		a.Respond(resp)
	}
	return err
}

// connect makes the listener that the host brings requests to.
func connect(f *kinds.Function) error {
	f.Served = httptrigger.New(f.Clock)
	return nil
}

func listen(t *kinds.Turn) (triggers.Listener, error) { return t.Served.(*httptrigger.Listener), nil }

func message(f *kinds.Function, input string) (triggers.Message, error) {
	req := &bindings.HTTPRequest{Method: http.MethodPost, URL: "http://localhost/" + byHand(f.App(), f.Def), Body: []byte(input)}
	if methods, _ := f.Def.Trigger.Value("methods").([]any); len(methods) > 0 && !slices.ContainsFunc(methods, isPost) {
		req.Method = strings.ToUpper(fmt.Sprint(methods[0]))
	}
	return httptrigger.Message(req), nil
}

func isPost(method any) bool { return strings.EqualFold(fmt.Sprint(method), http.MethodPost) }

// optional matches a parameter of a route that a path may lack.
var optional = regexp.MustCompile(`/?\{(\*[^{}]*|[^{}]*\?|[^{}]*=[^{}]*)\}`)

// byHand is the path of a call by hand: the function's own, since a worker that serves HTTP
// itself finds the function by it. A route whose parameters have no values has none.
func byHand(a *app.App, f *app.Function) string {
	path := optional.ReplaceAllString(app.RouteTemplate(a, f), "")
	if strings.Contains(path, "{") {
		return "admin/functions/" + f.Name
	}
	return path
}

func end(*app.App, *app.Function) string { return "500 to the caller" }

func lint(r *app.Review) {
	shadowed(r)
	r.LongLoop("L-8", 230*time.Second, "the longest retry loop takes {loop}; Azure ends a request after 230 seconds")
}

// shadowed is L-17.
func shadowed(r *app.Review) {
	var routes []httptrigger.Route
	for _, f := range r.App.Functions {
		if f.Routed() && !f.InError() && !f.Disabled {
			routes = append(routes, app.RouteOf(r.App, f))
		}
	}
	router, err := httptrigger.NewRouter(routes)
	if err != nil { // a fault says so
		return
	}
	if s, ok := router.Shadow(r.Function.Name); ok {
		r.Trigger("L-17", "route", "the more specific route of %q stands behind the route of %q: the platform tries functions in the order of their names, so that %[2]q answers %s",
			s.Function, s.By, s.Path)
	}
}

// validate refuses routes that the platform's library refuses. There they stop the whole
// app (ext: WebJobsRouteBuilder.cs BuildRouteTemplate).
func validate(a *app.App, f *app.Function) []*schemas.Fault {
	route := f.Trigger.String("route")
	if f.Trigger.Direction != "in" {
		return []*schemas.Fault{{Path: f.Trigger.PathOf("direction"), Found: f.Trigger.Direction, Allowed: "in", Reason: "the platform has no HTTP trigger of this direction", Kind: "argument"}}
	}
	fault := &schemas.Fault{
		Path: f.Trigger.Path + ".route", Found: route, Allowed: "an ASP.NET route template, e.g. orders/{id:int?}", Kind: "argument",
	}
	if prefix := a.Config.HTTP.RoutePrefix; prefix != "" && strings.HasPrefix(route, "/") {
		fault.Reason = fmt.Sprintf("two slashes come together behind the prefix %q, and %s", prefix, app.StopsTheApp)
		fault.Allowed, fault.Hint = "a route without a slash at its beginning", "leave the first slash out"
		return []*schemas.Fault{fault}
	}
	for _, template := range []string{route, app.RouteTemplate(a, f)} { // by itself, and with what the prefix has
		if _, err := httptrigger.ParseTemplate(template); err != nil {
			fault.Reason = err.Error() + ", and " + app.StopsTheApp
			switch {
			case errors.Is(err, httptrigger.ErrExpression): // observed: host 4.1037
				fault.Reason = err.Error() + ": if .NET cannot read it either, the platform answers 500 to each request that comes to this route"
			case strings.HasPrefix(route, "~"):
				fault.Reason = err.Error()
			}
			return []*schemas.Fault{fault}
		}
	}
	return nil
}
