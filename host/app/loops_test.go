package app_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/redeliver/redeliver/host/app"
)

// A blob function that writes blobs which match its own pattern runs again for each
// of them; see lint L-16 of TestLints for the other services.
func TestBlobLoop(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, pattern, direction, path string
		want                           bool
	}{
		{"its own input", "photos/{name}", "out", "photos/{name}", true},
		{"another name", "photos/{name}", "out", "photos/small-{rand-guid}.png", true},
		{"both directions", "photos/{name}", "inout", "photos/{name}", true},
		{"another container", "photos/{name}", "out", "small/{name}", false},
		{"another ending", "photos/{name}.jpg", "out", "photos/{name}.png", false},
		{"another folder", "photos/in/{name}", "out", "photos/out/{name}", false},
		{"input only", "photos/{name}", "in", "photos/{name}", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := load(t, map[string]string{
				"local.settings.json": `{"IsEncrypted": false, "Values": {"AzureWebJobsStorage": "x"}}`,
				"F/function.json": functionJSON(fmt.Sprintf(
					`{"type": "blobTrigger", "name": "b", "path": %q}, {"type": "blob", "name": "out", "direction": %q, "path": %q}`, tt.pattern, tt.direction, tt.path), ""),
			}, &app.Options{InProcess: true})
			got := slices.ContainsFunc(app.Lints(a), func(l app.Lint) bool { return l.ID == "L-16" && l.Path == "bindings[1].path" })
			if got != tt.want {
				t.Errorf("L-16 of pattern %q and output %q: got %v, want %v (lints %v, faults %v)", tt.pattern, tt.path, got, tt.want, app.Lints(a), a.AllFaults())
			}
		})
	}
}
