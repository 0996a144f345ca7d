// Package js has the sources of the npm package @redeliver/testing, the test kit: those in this
// folder, and those of the worker that the kit shares with it (package shim), which are nowhere
// a second time.
//
// Read [Write]. docs/kits/javascript.md says what the kit is for; index.d.ts has its types.
package js

import (
	"embed"
	"fmt"
	"os"
	"slices"

	"github.com/redeliver/redeliver/host/languages"
	"github.com/redeliver/redeliver/host/worker/shim"
)

//go:embed *.js *.mjs *.d.ts *.d.mts package.json lib/*.js jest/*.js jest/*.d.ts
var sources embed.FS // read only

// program are the files of the worker that only the program has.
var program = []string{"worker.js", "wire.js", "package.json"} // read only

// Write writes the package into a folder without one, which may be
// node_modules/@redeliver/testing.
func Write(dir string) error {
	worker, ok := shim.Of(languages.Node)
	if !ok {
		return fmt.Errorf("there is no worker for %s", languages.Node)
	}
	if err := os.CopyFS(dir, sources); err != nil {
		return err
	}
	return worker.Write(dir, func(name string) string {
		if slices.Contains(program, name) {
			return ""
		}
		return "lib/worker/" + name
	})
}
