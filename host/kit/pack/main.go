// Pack writes the files of a test kit's package into a folder: "pack LANGUAGE FOLDER". A release
// makes of them what package managers take (cmd/release). Java's are sources, and the classes
// and pages that the javac and the javadoc in the PATH make of them.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/redeliver/redeliver/host/kit/csharp"
	"github.com/redeliver/redeliver/host/kit/java"
	"github.com/redeliver/redeliver/host/kit/js"
	"github.com/redeliver/redeliver/host/kit/python"
)

func main() {
	kits := map[string]func(dir string) error{
		"csharp": csharp.Write,
		"java": func(dir string) error {
			err := java.Build(context.Background(), "javac", dir)
			if err == nil {
				err = java.Document(context.Background(), "javadoc", dir)
			}
			return err
		},
		"js": js.Write, "python": python.Write,
	}
	if len(os.Args) != 3 || kits[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: pack csharp|java|js|python FOLDER")
		os.Exit(2)
	}
	if err := kits[os.Args[1]](os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "pack: error:", err)
		os.Exit(1)
	}
}
