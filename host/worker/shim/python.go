package shim

import (
	"embed"
	"io/fs"

	"github.com/redeliver/redeliver/host/languages"
)

//go:embed python/worker.py python/redeliver_worker/*.py python/standin/azure/functions/*.py
var pythonFiles embed.FS // read only

// Functions in Python 3.9 or later, of both programming models. Where the app's
// environment has no package azure-functions, a small stand-in serves for it (spec workers
// 10.2).
func init() {
	files, err := fs.Sub(pythonFiles, "python")
	if err != nil {
		panic(err) // the folder is embedded
	}
	all = append(all, Shim{Runtime: languages.Python, Files: files, Entry: "worker.py"})
}
