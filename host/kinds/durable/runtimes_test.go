package durable_test

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/kinds/served"
)

// Spec durable 2.2: functions and clients of what has no Durable Functions here are in error
// and say so, and the others run.
func TestRefusedRuntimes(t *testing.T) {
	t.Parallel()
	const others = "they are for Node.js, Python, PowerShell, .NET in the isolated worker model and Java; the other functions of the app run"
	custom := map[string]string{"host.json": `{"version":"2.0","customHandler":{"description":{"defaultExecutablePath":"handler"}}}`, "handler": ""}
	goes := map[string]string{"host.json": `{"version":"2.0"}`, "main.go": "package main\n\nfunc main() {}\n"}
	for _, tt := range []struct {
		name, runtime, property string
		files                   map[string]string
		want                    string // after the binding's path
		hint                    string
	}{
		{"custom", "custom", "", custom, "Durable Functions are not emulated for custom handlers, for which the platform has no package either", others},
		{"go", "go", "", goes, "Durable Functions are not emulated for handlers in Go", others},
		{"gRPC", "node", `,"durableRequiresGrpc":true`, map[string]string{"host.json": `{"version":"2.0"}`}, "Durable Functions by gRPC are not emulated yet", "remove the property: without it Node.js, Python and PowerShell speak JSON"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			files := maps.Clone(tt.files)
			for name, binding := range map[string]string{
				"Charge": `{"type":"activityTrigger","direction":"in","name":"order"` + tt.property + `}`,
				"Order":  `{"type":"orchestrationTrigger","direction":"in","name":"context"` + tt.property + `}`,
				"Count":  `{"type":"entityTrigger","direction":"in","name":"context"` + tt.property + `}`,
				"Client": `{"type":"queueTrigger","direction":"in","name":"m","queueName":"orders"},{"type":"durableClient","direction":"in","name":"client"` + tt.property + `}`,
				"Plain":  `{"type":"queueTrigger","direction":"in","name":"m","queueName":"orders"}`,
			} {
				files[name+"/function.json"] = `{"bindings":[` + binding + `]}`
			}
			for name, text := range files {
				path := filepath.Join(dir, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			a, err := app.Load(dir, &app.Options{InProcess: tt.name == "gRPC", Kinds: served.Facts(), Env: map[string]string{
				"AzureWebJobsStorage": "UseDevelopmentStorage=true", "FUNCTIONS_WORKER_RUNTIME": tt.runtime,
			}})
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"Charge", "Order", "Count", "Client", "Plain"} {
				faults := a.Function(name).Faults
				switch {
				case name == "Plain":
					if len(faults) != 0 {
						t.Errorf("%s is in error: %v", name, faults)
					}
				case len(faults) != 1 || faults[0].Reason != tt.want || faults[0].Hint != tt.hint:
					t.Errorf("%s: %v, want %q", name, faults, tt.want)
				}
			}
		})
	}
}
