package app_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/app"
)

// TestHostReference: each key of the published reference of host.json and of its pages of
// extensions is served, and then it changes what the app is, or check says that it has no
// effect; in the file, and by a setting in both spellings. Keys of testdata/hostkeys.tsv:
// learn.microsoft.com, "host.json reference for Azure Functions 2.x and later", the
// host.json section of each page of a binding, the options of the host (host: Config), and
// spec drift-2026 C-2, C-3. Custom headers and hsts: observed of the platform's host 4.1037,
// which answers over HTTP with the headers and without Strict-Transport-Security.
func TestHostReference(t *testing.T) {
	t.Parallel()
	file, err := os.Open("testdata/hostkeys.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for rows := bufio.NewScanner(file); rows.Scan(); {
		if strings.HasPrefix(rows.Text(), "#") {
			continue
		}
		columns := strings.Split(rows.Text(), "\t")
		path, value, served := columns[0], columns[1], columns[2] == "served"
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			beside := map[string]string{"version": `"2.0"`}
			if len(columns) > 3 { // what the key needs beside it
				if err := json.Unmarshal([]byte("{"+columns[3]+"}"), &beside); err != nil {
					t.Fatal(err)
				}
				beside["version"] = `"2.0"`
			}
			custom := map[string]string{"FUNCTIONS_WORKER_RUNTIME": "custom"}
			before := load(t, map[string]string{"host.json": hostJSONOf(t, beside)}, &app.Options{Env: custom})
			for _, spelling := range []string{"file", "__", ":"} {
				members, env := map[string]string{path: value}, maps.Clone(custom)
				if spelling != "file" {
					text := value
					if json.Unmarshal([]byte(value), &text) != nil && strings.ContainsAny(value, "{[") {
						continue // a setting is one value
					}
					members = map[string]string{}
					env["AzureFunctionsJobHost"+spelling+strings.ReplaceAll(path, ".", spelling)] = text
				}
				for key, v := range beside {
					if _, own := members[key]; !own {
						members[key] = v
					}
				}
				a := load(t, map[string]string{"host.json": hostJSONOf(t, members)}, &app.Options{Env: env})
				for _, fault := range a.Faults {
					if !strings.Contains(fault.Reason, "program of the custom handler does not exist") {
						t.Errorf("%s: %v", spelling, fault)
					}
				}
				told := false
				for _, idle := range app.Check(a).WithoutEffect {
					told = told || strings.EqualFold(idle, path) || strings.HasPrefix(strings.ToLower(path), strings.ToLower(idle)+".")
				}
				if told == served {
					t.Errorf("%s: said to have no effect: %v", spelling, told)
				}
				changes := cmp.Diff(before.Config, a.Config) + cmp.Diff(before.Switches, a.Switches) + cmp.Diff(routesOf(before), routesOf(a))
				if served && changes == "" {
					t.Errorf("%s: it changes nothing", spelling)
				}
			}
		})
	}
}

// routesOf are the functions that host.json makes.
func routesOf(a *app.App) (routes []string) {
	for _, f := range a.Functions {
		routes = append(routes, fmt.Sprintf("%s %s %s", f.Name, app.RouteTemplate(a, f), f.Trigger.String("authLevel")))
	}
	return routes
}

// hostJSONOf writes values at paths, in which 0 is the place in a list of one.
func hostJSONOf(t *testing.T, values map[string]string) string {
	t.Helper()
	root := map[string]any{}
	for path, text := range values {
		var value any
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			t.Fatal(fmt.Errorf("%s: %w", path, err))
		}
		at, keys := root, strings.Split(strings.ReplaceAll(path, ".0.", "[0]."), ".")
		for _, key := range keys[:len(keys)-1] {
			key, list := strings.CutSuffix(key, "[0]")
			if at[key] == nil {
				at[key] = map[string]any{}
				if list {
					at[key] = []any{map[string]any{}}
				}
			}
			if list {
				at = at[key].([]any)[0].(map[string]any)
			} else {
				at = at[key].(map[string]any)
			}
		}
		at[keys[len(keys)-1]] = value
	}
	text, err := json.Marshal(root)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
