package shim

import (
	"embed"
	"io/fs"

	"github.com/redeliver/redeliver/host/languages"
)

//go:embed node/*.js node/package.json
var nodeFiles embed.FS // read only

// Functions in JavaScript and TypeScript. The package.json says what kind of modules the
// files are: without one a package.json in a folder above them would, the user's own for
// instance.
func init() {
	files, err := fs.Sub(nodeFiles, "node")
	if err != nil {
		panic(err) // the folder is embedded
	}
	all = append(all, Shim{Runtime: languages.Node, Files: files, Entry: "worker.js"})
}
