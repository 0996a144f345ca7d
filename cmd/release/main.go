// Command release writes a release of Redeliver: archives, packages of npm and PyPI, a Maven
// repository, an OCI image, a formula, bills of materials and checksums. The same commit and
// version give the same bytes in every file.
//
//	release make    compiles and packs ("make release VERSION=0.4.0" is the way to call it)
//	release verify  checks a folder that make has written
//	release publish publishes it, or with --dry-run says what it would do
//
// Read release.go first; each artefact has a file. Names stand in names.json. This is a module
// of its own, so that what it needs stays out of the product's go.sum.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	if err := execute(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "release: error: %v\n", err)
		os.Exit(1)
	}
}

// execute is the whole program, without the process around it.
func execute(args []string, out io.Writer) error {
	if len(args) == 0 {
		return errors.New("a command is missing: make, verify or publish")
	}
	switch args[0] {
	case "make":
		return makeCommand(args[1:], out)
	case "verify":
		if len(args) != 2 {
			return errors.New("want the folder of a release: release verify dist")
		}
		return verify(args[1], out)
	case "publish":
		rest := slices.DeleteFunc(slices.Clone(args[1:]), func(a string) bool { return strings.TrimLeft(a, "-") == "dry-run" })
		if len(rest) != 1 || strings.HasPrefix(rest[0], "-") {
			return errors.New("want the folder of a release: release publish dist --dry-run")
		}
		names, err := readNames()
		if err != nil {
			return err
		}
		return publish(rest[0], names, len(rest) < len(args)-1, out)
	}
	return fmt.Errorf("unknown command %q: want make, verify or publish", args[0])
}

func makeCommand(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("release make", flag.ContinueOnError)
	version := flags.String("version", "", "the version, such as 0.4.0")
	snapshot := flags.Bool("snapshot", false, "a build of any tree, of no version that CHANGELOG.md describes")
	root := flags.String("root", "../..", "folder of the repository")
	dir := flags.String("out", "../../dist", "folder for the release")
	list := flags.String("platforms", "", "some of the platforms, such as linux/amd64; all by default")
	var b build
	flags.StringVar(&b.env, "build-env", "", "variables of the compiler")
	flags.StringVar(&b.flags, "build-flags", "", "flags of go build")
	flags.StringVar(&b.link, "link-flags", "", "flags of the linker")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if b.flags == "" || b.link == "" {
		return errors.New("the flags of the build are missing: call this by make release, whose Makefile has them")
	}
	of, err := parsePlatforms(*list)
	if err != nil {
		return err
	}
	where, err := filepath.Abs(*root)
	if err != nil {
		return err
	}
	r, err := newRelease(where, *version, *snapshot, of)
	if err != nil {
		return err
	}
	if err := r.make(b, *dir); err != nil {
		return err
	}
	m, err := readManifest(*dir)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "redeliver %s (%s, %s): %d files in %s\n", m.Version, m.Commit, m.Date, len(m.Files), *dir)
	return nil
}
