// Package python has the sources of the Python package redeliver-testing, the test kit: those in
// the folder redeliver_testing, and those of the worker that the kit shares with it (package
// shim), which are nowhere a second time.
//
// Read [Write]. docs/kits/python.md says what the kit is for; unasync.py writes the part of it
// that waits for nothing from the part that does.
package python

import (
	"embed"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/languages"
	"github.com/redeliver/redeliver/host/worker/shim"
)

//go:embed redeliver_testing/*.py redeliver_testing/py.typed
var sources embed.FS // read only

// program are the files of the worker that only the program has.
var program = []string{"worker.py", "redeliver_worker/serve.py", "redeliver_worker/link.py"} // read only

// Write writes the package into a folder without one, which may then be in PYTHONPATH.
func Write(dir string) error {
	worker, ok := shim.Of(languages.Python)
	if !ok {
		return fmt.Errorf("there is no worker for %s", languages.Python)
	}
	if err := os.CopyFS(dir, sources); err != nil {
		return err
	}
	return worker.Write(dir, func(name string) string {
		if slices.Contains(program, name) {
			return ""
		}
		if rest, ok := strings.CutPrefix(name, "redeliver_worker/"); ok {
			return "redeliver_testing/_worker/" + rest
		}
		return "redeliver_testing/" + name
	})
}
