// Pack writes the package of the JavaScript test kit: "pack VERSION FOLDER". Package js says
// what is in it.
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/redeliver/redeliver/host/kit/js"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: pack VERSION FOLDER")
		os.Exit(2)
	}
	if err := pack(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "pack: error:", err)
		os.Exit(1)
	}
}

func pack(version, folder string) error {
	var tarball bytes.Buffer
	if err := js.Tarball(&tarball, version); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	path := filepath.Join(folder, js.TarballName(version))
	fmt.Println(path)
	return os.WriteFile(path, tarball.Bytes(), 0o644)
}
