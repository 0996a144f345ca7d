// Package conventions_test keeps the rules that concern all packages: who imports whom and
// what is at home where, that everything is documented and that what is cited is there,
// that rooms stay small, and that every rule of the specification has a test
// (testdata/rules.tsv). Read main_test.go for what the tests look at: all of it, read once.
package conventions_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// The tests run in the root of the module, where all paths begin.
func TestMain(m *testing.M) {
	if err := os.Chdir(".."); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

const module = "github.com/redeliver/redeliver"

// A pkg is what `go list -json` says of one package of the module, with its
// paths made relative to the module.
type pkg struct {
	ImportPath string
	Name       string
	Dir        string
	Imports    []string
}

// packages lists the packages of the module.
func packages(t *testing.T) []pkg {
	t.Helper()
	list, err := listed()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	return list
}

var listed = sync.OnceValues(func() ([]pkg, error) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Name,Dir,Imports", "./...")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, stderr.String())
	}
	var list []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		p.ImportPath = relative(p.ImportPath)
		for i := range p.Imports {
			p.Imports[i] = relative(p.Imports[i])
		}
		list = append(list, p)
	}
	if len(list) < 20 {
		return nil, fmt.Errorf("%d packages only", len(list))
	}
	return list, nil
})

// A source is one file of a package.
type source struct {
	pkg
	name string // the path
	test bool
	text []byte
	file *ast.File
}

// sources are the files of all packages, with their tests.
func sources(t *testing.T) []source {
	t.Helper()
	list, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// positions are those of sources.
var positions = token.NewFileSet()

var parsed = sync.OnceValues(func() (list []source, err error) {
	packages, err := listed()
	if err != nil {
		return nil, err
	}
	for _, p := range packages {
		names, err := filepath.Glob(filepath.Join(p.Dir, "*.go"))
		if err != nil {
			return nil, err
		}
		slices.Sort(names)
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			file, err := parser.ParseFile(positions, name, text, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				return nil, err
			}
			list = append(list, source{p, name, strings.HasSuffix(name, "_test.go"), text, file})
		}
	}
	return list, nil
})

// relative turns the import path of one of our packages into "./<path>".
func relative(importPath string) string {
	if rest, ok := strings.CutPrefix(importPath, module); ok && (rest == "" || rest[0] == '/') {
		return "." + rest
	}
	return importPath
}

func ours(importPath string) bool { return importPath == "." || strings.HasPrefix(importPath, "./") }

func standard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !ours(importPath) && !strings.Contains(first, ".")
}

// within reports whether a path is one of trees, or lies below a tree that ends
// in "/...".
func within(importPath string, trees ...string) bool {
	for _, tree := range trees {
		root, below := strings.CutSuffix(tree, "/...")
		if importPath == root || below && strings.HasPrefix(importPath, root+"/") {
			return true
		}
	}
	return false
}
func goFiles(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return names
}
