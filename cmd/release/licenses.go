package main

import (
	"bytes"
	"debug/buildinfo"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// pageLicenses are those of the packages that are compiled into the page.
//
//go:embed pagelicenses.txt
var pageLicenses string // read only

// licenseFiles are the names of files that licences want to be passed on.
var licenseFiles = []string{"LICENSE*", "LICENCE*", "COPYING*", "NOTICE*", "COPYRIGHT*"} // read only

// thirdPartyLicenses are the licences of all modules that are linked into programs, of Go,
// and of what is compiled into the page.
func thirdPartyLicenses(root string, programs []string) ([]byte, error) {
	modules := map[string]bool{}
	for _, file := range programs {
		info, err := buildinfo.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		for _, dep := range info.Deps {
			modules[dep.Path+"@"+dep.Version] = true
		}
	}
	folders, err := moduleFolders(root, slices.Sorted(maps.Keys(modules)))
	if err != nil {
		return nil, err
	}
	goroot, err := output(root, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	b.WriteString("Redeliver contains the following, under these licences.\n")
	if err := appendLicenses(&b, "The Go programming language and its standard library", goroot); err != nil {
		return nil, err
	}
	for _, module := range slices.Sorted(maps.Keys(folders)) {
		if err := appendLicenses(&b, module, folders[module]); err != nil {
			return nil, err
		}
	}
	b.WriteString("\n" + pageLicenses)
	return []byte(b.String()), nil
}

// moduleFolders are where the sources of modules are.
func moduleFolders(root string, modules []string) (map[string]string, error) {
	if len(modules) == 0 {
		return nil, nil
	}
	text, err := output(root, "go", append([]string{"mod", "download", "-json"}, modules...)...)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for dec := json.NewDecoder(strings.NewReader(text)); ; {
		var m struct{ Path, Version, Dir string }
		if err := dec.Decode(&m); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, err
		}
		out[m.Path+"@"+m.Version] = m.Dir
	}
}

// appendLicenses adds the licence files of a folder. One without any is refused: somebody
// has to look.
func appendLicenses(b *strings.Builder, name, dir string) error {
	var files []string
	for _, pattern := range licenseFiles {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return err
		}
		files = append(files, found...)
	}
	fmt.Fprintf(b, "\n%s\n%s\n", strings.Repeat("=", 80), name)
	some := false
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // a folder of licences has its files elsewhere
		}
		some = true
		fmt.Fprintf(b, "\n%s\n", bytes.TrimSpace(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))))
	}
	if !some {
		return fmt.Errorf("%s: no licence in %s", name, dir)
	}
	return nil
}

// output is what a command prints. What it says else is in the error.
func output(dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	var said bytes.Buffer
	cmd.Stderr = &said
	text, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, said.String())
	}
	return strings.TrimSpace(string(text)), nil
}
