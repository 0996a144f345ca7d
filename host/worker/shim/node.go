package shim

import (
	"embed"
	"io/fs"
)

//go:embed node/*.js
var nodeFiles embed.FS // read only

func init() {
	files, err := fs.Sub(nodeFiles, "node")
	if err != nil {
		panic(err) // the folder is embedded
	}
	all = append(all, Shim{Runtime: "node", Files: files, Entry: "worker.js", Extensions: []string{".js", ".mjs", ".cjs"}})
}
