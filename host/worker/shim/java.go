package shim

import (
	"embed"
	"io/fs"

	"github.com/redeliver/redeliver/host/languages"
)

//go:embed java/RedeliverWorker.java
var javaFiles embed.FS // read only

// Functions in Java 11 or later. The file is one class without a package, so that "java"
// runs it as it is, and faster once "javac" has compiled it.
func init() {
	files, err := fs.Sub(javaFiles, "java")
	if err != nil {
		panic(err) // the folder is embedded
	}
	all = append(all, Shim{Runtime: languages.Java, Files: files, Entry: "RedeliverWorker.java"})
}
