package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// step is a command that publishes files.
type step struct {
	order   int
	name    string
	command []string // empty: somebody does it by hand
	text    string   // what is done by hand
}

// steps are the commands that publish a release, in their order: what others name comes
// first.
func steps(dir string, m manifest) (out []step) {
	once := map[string]bool{}
	var archives []string
	for _, f := range m.Files {
		file := filepath.Join(dir, filepath.FromSlash(f.Path))
		if f.Publish == nil {
			continue
		}
		s := step{order: f.Publish.Order, name: f.Publish.Name}
		switch f.Kind {
		case "npm":
			s.command = []string{"npm", "publish", file, "--access", "public", "--provenance"}
		case "wheel":
			s.command = []string{"python3", "-m", "twine", "upload", file}
		case "oci":
			s.command = []string{"skopeo", "copy", "--all", "oci:" + filepath.Join(dir, "oci") + ":" + m.Version, "docker://" + s.name + ":" + m.Version}
		case "maven":
			s.text = "upload " + filepath.Join(dir, "maven") + " as a bundle to the Central Portal"
		case "formula":
			s.text = "commit " + file + " to the repository of " + s.name
		default:
			archives = append(archives, file)
			continue
		}
		if key := strings.Join(s.command, " ") + s.text; !once[key] {
			once[key] = true
			out = append(out, s)
		}
	}
	repository := ""
	for _, f := range m.Files {
		if f.Path == checksumsFile && f.Publish != nil {
			repository = f.Publish.Name
		}
	}
	page := append([]string{"gh", "release", "create", "v" + m.Version, "--repo", repository, "--verify-tag"}, archives...)
	out = append(out, step{order: orderPage, name: repository, command: append(page, filepath.Join(dir, manifestFile))})
	slices.SortStableFunc(out, func(a, b step) int { return cmp.Compare(a.order, b.order) })
	return out
}

// publish publishes a release that verify accepts. A dry run prints what it would do, and
// who owns no name yet.
func publish(dir string, names Names, dry bool, out io.Writer) error {
	if err := verify(dir, io.Discard); err != nil {
		return err
	}
	m, err := readManifest(dir)
	if err != nil {
		return err
	}
	list := steps(dir, m)
	var given []string
	for _, s := range list {
		given = append(given, s.name)
	}
	unowned := names.unowned(given)
	if len(unowned) > 0 && !dry {
		return fmt.Errorf("these names are not confirmed as this project's, and nothing is published: %s; cmd/release/names.json says so", strings.Join(unowned, ", "))
	}
	for i, s := range list {
		fmt.Fprintf(out, "%d  %s", i+1, cmp.Or(strings.Join(s.command, " "), "by hand: "+s.text))
		if len(names.unowned([]string{s.name})) > 0 {
			fmt.Fprint(out, "  (refused: the name is not owned)")
		}
		fmt.Fprintln(out)
		if dry || len(s.command) == 0 {
			continue
		}
		cmd := exec.Command(s.command[0], s.command[1:]...)
		cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
		if err := cmd.Run(); err != nil {
			return errors.Join(fmt.Errorf("step %d of %d", i+1, len(list)), err)
		}
	}
	return nil
}
