package app

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// mainPackage reports whether the Go files of the app's folder are a main package,
// and whether it imports the functions package, itself or through a package of its
// own module. A file that does not parse is the compiler's to report.
func (l *handlerFinder) mainPackage() (isMain, imports bool) {
	name, paths := packageOf(l.app.Dir)
	if name != "main" {
		return false, false
	}
	root, module := moduleOf(l.app.Dir)
	seen := map[string]bool{}
	for len(paths) > 0 {
		path := paths[0]
		paths = paths[1:]
		if path == functionsPackage {
			return true, true
		}
		below, own := strings.CutPrefix(path, module+"/")
		if module == "" || !own || seen[path] {
			continue
		}
		seen[path] = true
		_, further := packageOf(filepath.Join(root, filepath.FromSlash(below)))
		paths = append(paths, further...)
	}
	return true, false
}

// packageOf returns the name of the package in a folder, main before others, and what
// it imports.
func packageOf(dir string) (name string, imports []string) {
	files, err := filepath.Glob(filepath.Join(globEscape(dir), "*.go"))
	if err != nil {
		return "", nil
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, _ := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if file == nil || file.Name == nil || name == "main" && file.Name.Name != name {
			continue
		}
		if file.Name.Name == "main" && name != "main" {
			imports = nil
		}
		name = file.Name.Name
		for _, spec := range file.Imports {
			if path, err := strconv.Unquote(spec.Path.Value); err == nil {
				imports = append(imports, path)
			}
		}
	}
	return name, imports
}

var moduleLine = regexp.MustCompile(`(?m)^module\s+"?([^"\s]+)`) // read only

// moduleOf finds the module that a folder belongs to: its folder and its path; both
// are empty when there is none.
func moduleOf(dir string) (root, path string) {
	for {
		if text, err := os.ReadFile(filepath.Join(dir, "go.mod")); err == nil {
			if m := moduleLine.FindSubmatch(text); m != nil {
				return dir, string(m[1])
			}
			return "", ""
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", ""
		}
		dir = up
	}
}
