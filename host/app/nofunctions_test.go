package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/app"
)

// An app in which nothing is a function is told what is missing.
func TestNothingDeclared(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		runtime string
		files   map[string]string
		want    string
	}{
		"no main":         {"node", map[string]string{"package.json": `{}`}, `"main" is missing`},
		"no package":      {"node", nil, "without a package.json"},
		"nothing in main": {"node", map[string]string{"package.json": `{"main":"a.js"}`, "a.js": ""}, `no file that "main" names registers one`},
		"blueprint":       {"python", map[string]string{"function_app.py": "", "more/bp.py": "bp = func.Blueprint()\n"}, "more/bp.py has a blueprint, which is not registered"},
		"no decorator":    {"python", map[string]string{"function_app.py": ""}, "nothing is registered"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for file, text := range tt.files {
				path := filepath.Join(dir, filepath.FromSlash(file))
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			env := map[string]string{"FUNCTIONS_WORKER_RUNTIME": tt.runtime, "AzureWebJobsStorage": "UseDevelopmentStorage=true"}
			a, err := app.Load(dir, &app.Options{Env: env, Declared: []call.Declaration{}})
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range a.Warnings {
				if strings.Contains(w.Reason, tt.want) {
					return
				}
			}
			t.Errorf("warnings %v, want one with %q", a.Warnings, tt.want)
		})
	}
}
