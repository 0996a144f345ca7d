package app_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/app"
)

// Profiles and routes of a self-hosted app make functions (spec workers 13.7).
func TestSelfHosted(t *testing.T) {
	t.Parallel()
	const handler = `"customHandler": {"description": {"defaultExecutablePath": "serve"}`
	const trigger = `{"bindings": [{"type": "httpTrigger", "direction": "in", "name": "req"}, {"type": "http", "direction": "out", "name": "res"}]}`
	for _, tt := range []struct {
		name  string
		host  string
		files map[string]string
		env   map[string]string

		functions []string // name, template, level; "error" for one in error
		proxy     bool
		fault     string // of the app
		faultOf   string // of a function
		warning   string
	}{
		{name: "nothing", host: handler + `}`, warning: "no function"},
		{name: "default", host: `"configurationProfile": "default", ` + handler + `}`, warning: "no function"},
		{name: "empty", host: `"configurationProfile": "", ` + handler + `}`, warning: "no function"},
		{name: "web", host: `"configurationProfile": "web-app-custom-handler", ` + handler + `}`, functions: []string{"http-handler1 {*route} function"}, proxy: true},
		{name: "mcp, in capitals", host: `"ConfigurationProfile": "MCP-CUSTOM-HANDLER", ` + handler + `}`, functions: []string{"http-handler1 {*route} function"}, proxy: true},
		{
			name: "explicit values win", functions: []string{"http-handler1 own/mine/{id} anonymous"},
			host: `"configurationProfile": "mcp-custom-handler", "extensions": {"http": {"routePrefix": "own"}}, ` + handler +
				`, "enableProxyingHttpRequest": false, "http": {"defaultAuthorizationLevel": "anonymous", "routes": [{"route": "mine/{id}"}]}}`,
		},
		{
			name: "settings win", host: `"configurationProfile": "mcp-custom-handler", ` + handler + `}`, functions: []string{"http-handler1 api/x admin"},
			env: map[string]string{
				"AzureFunctionsJobHost__customHandler__enableProxyingHttpRequest": "false", "AzureFunctionsJobHost__extensions__http__routePrefix": "api",
				"AzureFunctionsJobHost__customHandler__http__routes__0__route": "x", "AzureFunctionsJobHost__customHandler__http__routes__0__authorizationLevel": "admin",
			},
		},
		{
			name: "profile by a setting", host: handler + `}`, functions: []string{"http-handler1 {*route} function"}, proxy: true,
			env: map[string]string{"AzureFunctionsJobHost__configurationProfile": "web-app-custom-handler"},
		},
		{name: "unknown profile", host: `"configurationProfile": "web-app", ` + handler + `}`, fault: "there is no such profile; allowed: default, mcp-custom-handler, web-app-custom-handler", warning: "no function"},
		{
			name: "routes in their order, with levels", functions: []string{"http-handler1 api/a anonymous", "http-handler2 api/b/{id:int} function", "http-handler3 api/c admin"},
			host: handler + `, "http": {"routes": [{"route": "a", "authorizationLevel": "Anonymous"}, {"route": "b/{id:int}"}, {"Route": "c", "authorizationLevel": "admin"}]}}`,
		},
		{
			name: "a malformed template is one function's fault", functions: []string{"http-handler1 error", "http-handler2 api/b function"}, faultOf: "host.json customHandler.http.routes[0].route",
			host: handler + `, "http": {"routes": [{"route": "a/{id"}, {"route": "b"}]}}`,
		},
		{
			name: "so is an empty one", functions: []string{"http-handler1 api/a function", "http-handler2 error"}, faultOf: "host.json customHandler.http.routes[1].route",
			host: handler + `, "http": {"routes": [{"route": "a"}, {"route": " "}]}}`,
		},
		{
			name: "and one into the host's own space", functions: []string{"http-handler1 error"}, faultOf: "host.json customHandler.http.routes[0].route",
			host: handler + `, "http": {"routes": [{"route": "admin/x"}]}}`,
		},
		{
			name: "an unknown level is told at the level", functions: []string{"http-handler1 error"}, faultOf: "host.json customHandler.http.routes[0].authorizationLevel",
			host: handler + `, "http": {"routes": [{"route": "a", "authorizationLevel": "everybody"}]}}`, fault: "authorizationLevel: found",
		},
		{
			name: "one source of functions only", host: handler + `, "http": {"routes": [{"route": "a"}]}}`, files: map[string]string{"F/function.json": trigger},
			functions: []string{"http-handler1 api/a function"}, fault: "one source of functions only",
		},
		{
			name: "another runtime", host: handler + `, "http": {"routes": [{"route": "a"}]}}`, env: map[string]string{"FUNCTIONS_WORKER_RUNTIME": "go"},
			fault: "only allowed for worker runtime custom",
		},
		{name: "an empty list is none", host: handler + `, "http": {"routes": []}}`, files: map[string]string{"F/function.json": trigger}, functions: []string{"F api/F"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"host.json": hostWith(tt.host), "serve": "1"}
			for name, text := range tt.files {
				files[name] = text
			}
			env := map[string]string{"FUNCTIONS_WORKER_RUNTIME": "custom"}
			for name, value := range tt.env {
				env[name] = value
			}
			a := loadDir(t, writeApp(t, files), &app.Options{Env: env})
			var got []string
			for _, f := range a.Functions {
				text := f.Name + " error"
				if !f.InError() {
					if methods := fmt.Sprint(f.Trigger.Value("methods")); f.Name != "F" && !strings.EqualFold(methods, "[GET POST PUT DELETE PATCH HEAD OPTIONS TRACE CONNECT]") {
						t.Errorf("methods of %s: %s", f.Name, methods)
					}
					text = fmt.Sprintf("%s %s %s", f.Name, app.RouteTemplate(a, f), strings.ToLower(f.Trigger.String("authLevel")))
				} else if at := f.Faults[0].File + " " + f.Faults[0].Path; at != tt.faultOf {
					t.Errorf("fault of %s: %v, want it at %s", f.Name, f.Faults[0], tt.faultOf)
				}
				got = append(got, strings.TrimSpace(text))
			}
			if diff := cmp.Diff(tt.functions, got); diff != "" {
				t.Errorf("functions (-want +got):\n%s", diff)
			}
			if c := a.Config.CustomHandler; c.Proxy != tt.proxy {
				t.Errorf("proxied: %v", c.Proxy)
			}
			wantText(t, "faults", texts(a.Faults), tt.fault)
			wantText(t, "warnings", texts(a.Warnings), tt.warning)
		})
	}
}

func texts[E error](list []E) (out []string) {
	for _, e := range list {
		out = append(out, e.Error())
	}
	return out
}

// wantText checks that there is one text with a part, or none at all.
func wantText(t *testing.T, what string, got []string, want string) {
	t.Helper()
	if want == "" && len(got) > 0 || want != "" && (len(got) != 1 || !strings.Contains(got[0], want)) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}
