package scenario_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/host/scenario"
)

// inFolder writes files below a folder, runs the scenarios of its a.scenario.yaml and
// returns what did not hold.
func inFolder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, faults := scenario.Load(filepath.Join(dir, "a.scenario.yaml"))
	var b strings.Builder
	for _, f := range faults {
		b.WriteString(f.Error() + "\n")
	}
	for _, s := range list {
		for _, f := range scenario.Run(context.Background(), s, nil).Failures {
			f.Timeline = nil
			b.WriteString(f.String() + "\n")
		}
	}
	return strings.ReplaceAll(b.String(), dir+string(filepath.Separator), "")
}
