package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/app/appsettings"
)

// TestProgramWithoutBuildInformation: a prebuilt program that does not say what it was built
// of is taken for a custom handler. Where that leaves the app without a function, it is told,
// with the setting that makes it a program of functions; with the setting it is one.
func TestProgramWithoutBuildInformation(t *testing.T) {
	t.Parallel()
	const hostJSON = `{"version":"2.0","customHandler":{"description":{"defaultExecutablePath":"handler"}}}`
	for runtime, want := range map[string]struct {
		kind app.HandlerKind
		told bool
	}{
		"": {app.Custom, true}, "custom": {app.Custom, true}, "go": {app.Executable, false},
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{"host.json": hostJSON, "handler": "#!/bin/sh\nexit 1\n"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		a, err := app.Load(dir, &app.Options{Env: appsettings.Environment([]string{"AzureWebJobsStorage=UseDevelopmentStorage=true", "FUNCTIONS_WORKER_RUNTIME=" + runtime})})
		if err != nil {
			t.Fatal(err)
		}
		if a.Handler.Kind != want.kind {
			t.Errorf("runtime %q: a handler of kind %v, want %v", runtime, a.Handler.Kind, want.kind)
		}
		told := false
		for _, w := range a.Warnings {
			told = told || strings.Contains(w.Reason, "has a custom handler and no function") && strings.Contains(w.Hint, "for a program with functions.Main set FUNCTIONS_WORKER_RUNTIME to go, since its build information does not say so")
		}
		if told != want.told {
			t.Errorf("runtime %q: warnings %v, want it to be told: %v", runtime, a.Warnings, want.told)
		}
	}
}
