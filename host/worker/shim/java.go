package shim

import (
	"embed"
	"io/fs"

	"github.com/redeliver/redeliver/host/languages"
)

//go:embed java/*.java java/io
var javaFiles embed.FS // read only

// Functions in Java 11 or later. The files without a package are the program; the package
// io.github.redeliver.worker is its library, which the test kit shares.
func init() {
	files, err := fs.Sub(javaFiles, "java")
	if err != nil {
		panic(err) // the folder is embedded
	}
	all = append(all, Shim{Runtime: languages.Java, Files: files, Entry: "RedeliverWorker.java"})
}
