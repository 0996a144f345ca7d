package app

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/app/document"
	"github.com/redeliver/redeliver/schemas"
)

// A self-hosted app is a web or MCP server that answers requests by routes of its own:
// host.json names the routes, and each is a function (spec workers 13.7).

const (
	profileKey   = "configurationProfile"
	httpSection  = "customHandler.http"
	routesPath   = httpSection + ".routes"
	levelPath    = httpSection + ".defaultAuthorizationLevel"
	routedPrefix = "http-handler"
)

// profileDefaults are what a profile of a self-hosted app sets where neither the file nor a
// setting does (host: host#11320, host#11447).
var profileDefaults = []struct {
	path     string
	segments []string
	value    string
}{
	{"customHandler.enableProxyingHttpRequest", []string{"customHandler", "enableProxyingHttpRequest"}, "true"},
	{"extensions.http.routePrefix", []string{"extensions", "http", "routePrefix"}, ""},
	{routesPath, []string{"customHandler", "http", "routes", "0", "route"}, "{*route}"},
}

// profiles are the words of configurationProfile; the first one means nothing.
var profiles = []string{"default", "mcp-custom-handler", "web-app-custom-handler"} // read only

// selfHostedMethods are the methods of a route.
var selfHostedMethods = []string{"GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE", "CONNECT"} // read only

// applyProfile lays the defaults of the app's profile under what is set.
func (l *hostFile) applyProfile(doc *schemas.Document) {
	r := document.Reader{Doc: doc}
	given := strings.TrimSpace(r.Text(profileKey, ""))
	at := slices.IndexFunc(profiles, func(p string) bool { return strings.EqualFold(p, given) })
	switch {
	case given == "" || at == 0:
		return
	case at < 0:
		f := doc.Fault(profileKey, schemas.Quote(given), strings.Join(profiles, ", "), "there is no such profile")
		f.Kind = schemas.KindArgument
		l.fault(f)
		return
	}
	for _, d := range profileDefaults {
		if _, set := doc.Lookup(d.path); !set {
			doc.Override(d.segments, d.value, document.HostFile)
		}
	}
}

// selfHostedRoute is one of customHandler.http.routes.
type selfHostedRoute struct {
	path         string // in host.json
	route, level string
}

// selfHostedRoutes are the routes of host.json in their order.
func selfHostedRoutes(r document.Reader) (routes []selfHostedRoute) {
	level := r.Text(levelPath, "function")
	add := func(path string, v any) {
		if object, ok := v.(map[string]any); ok {
			_, route, _ := document.Member(object, "route")
			_, own, _ := document.Member(object, "authorizationLevel")
			routes = append(routes, selfHostedRoute{path: path, route: document.ScalarText(route), level: cmp.Or(document.ScalarText(own), level)})
		}
	}
	switch v := r.Value(routesPath).(type) {
	case []any:
		for i, item := range v {
			add(schemas.IndexPath(routesPath, i), item)
		}
	case map[string]any: // of settings
		for _, key := range document.ByIndex(v) {
			add(schemas.JoinPath(routesPath, key), v[key])
		}
	}
	return routes
}

// fromRoutes are the functions that the routes of host.json make. There is one source of
// functions only: beside routes no folder counts, and no other runtime has them.
func (l *loader) fromRoutes(folders []*Function) []*Function {
	r := document.Reader{Doc: l.app.hostDoc}
	if l.app.Config.CustomHandler == nil || l.app.Config.CustomHandler.Section != "customHandler" {
		return folders
	}
	routes := selfHostedRoutes(r)
	switch {
	case len(routes) == 0:
		l.noFunctions(folders)
		return folders
	case l.app.Handler.Kind != Custom:
		f := l.app.hostDoc.Fault(routesPath, "", "", routesPath+" is only allowed for worker runtime custom")
		f.Kind, f.Hint = schemas.KindInvalidOperation, "set FUNCTIONS_WORKER_RUNTIME to custom, or remove the routes"
		l.fault(f)
		return folders
	case len(folders) > 0:
		f := l.app.hostDoc.Fault(routesPath, "", "", "the app has functions by routes and by function.json ("+folders[0].File+"): one source of functions only")
		f.Kind, f.Hint = schemas.KindInvalidOperation, "remove the routes, or the folders with a function.json"
		l.fault(f)
	}
	var functions []*Function
	for i, route := range routes {
		functions = append(functions, l.routeFunction(fmt.Sprint(routedPrefix, i+1), route))
	}
	return functions
}

// routeFunction is the function of one route.
func (l *loader) routeFunction(name string, s selfHostedRoute) *Function {
	trigger := map[string]any{
		"name": "req", "type": "httpTrigger", "direction": "in", "route": s.route, "authLevel": s.level, "methods": selfHostedMethods,
	}
	out := map[string]any{"name": "res", "type": "http", "direction": "out"}
	f := l.declaredFunction(&call.Declaration{Name: name, Bindings: []json.RawMessage{document.RawJSON(trigger), document.RawJSON(out)}})
	f.routed = &routePlace{l.app.hostDoc, s.path}
	for _, staged := range f.staged {
		f.placed(staged.fault)
	}
	if strings.TrimSpace(s.route) == "" {
		f.record(indexing, &schemas.Fault{
			Path: schemas.JoinPath(s.path, "route"), Kind: schemas.KindArgument, Found: `""`, Allowed: "a route template, for instance {*route}", Reason: "the route is empty",
		})
	}
	return f
}

// routePlace is where host.json has the route that a function was made from.
type routePlace struct {
	doc  *schemas.Document
	path string
}

// take moves a fault there from the declaration that was made of the route.
func (p *routePlace) take(fault *schemas.Fault) {
	if fault.File != document.CodeFile && fault.File != "" {
		return
	}
	member := "route"
	if strings.HasSuffix(fault.Path, "authLevel") {
		member = "authorizationLevel"
	}
	fault.File, fault.Line, fault.Column, fault.Path = document.HostFile, 0, 0, schemas.JoinPath(p.path, member)
	document.Position(fault, p.doc)
}

// noFunctions warns of a custom handler that nothing calls: on the platform too, an app
// without functions starts and does nothing.
func (l *loader) noFunctions(folders []*Function) {
	if len(folders) > 0 || len(l.opts.Declared) > 0 || l.app.Handler.Kind != Custom {
		return
	}
	w := l.app.hostDoc.Fault("customHandler", "", "", "the app has a custom handler and no function: nothing calls it")
	w.Hint = `add a folder with a function.json, or, for a web or MCP server, "` + profileKey + `": "web-app-custom-handler" or customHandler.http.routes; for a program with functions.Main set ` + runtimeSetting + ` to go, since its build information does not say so`
	l.warn(w)
}
