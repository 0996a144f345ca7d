// Pack writes the files of a test kit's package into a folder: "pack LANGUAGE FOLDER". A release
// makes of them what package managers take (cmd/release).
package main

import (
	"fmt"
	"os"

	"github.com/redeliver/redeliver/host/kit/js"
	"github.com/redeliver/redeliver/host/kit/python"
)

func main() {
	kits := map[string]func(dir string) error{"js": js.Write, "python": python.Write}
	if len(os.Args) != 3 || kits[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: pack js|python FOLDER")
		os.Exit(2)
	}
	if err := kits[os.Args[1]](os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "pack: error:", err)
		os.Exit(1)
	}
}
