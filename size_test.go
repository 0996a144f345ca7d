package redeliver_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

// sizes are what packages that are not kits export, the methods of host.Host, and the
// lines of the kernel, by what they are limited as.
func sizes(t *testing.T) map[string]int {
	t.Helper()
	out := map[string]int{}
	for _, p := range packages(t) {
		for _, name := range goFiles(t, p.Dir) {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			if p.ImportPath == "./host" {
				out["lines of the kernel"] += bytes.Count(text, []byte("\n"))
			}
			for _, d := range file.Decls {
				f, ok := d.(*ast.FuncDecl)
				if ok && p.ImportPath == "./host" && f.Recv != nil && receiver(f.Recv.List[0].Type) == "Host" {
					out["methods of Host"]++
				}
				out["names of "+p.ImportPath] += exportedNames(d)
			}
		}
	}
	return out
}

// exportedNames counts what a declaration exports.
func exportedNames(d ast.Decl) (n int) {
	count := func(names ...*ast.Ident) {
		for _, name := range names {
			if name.IsExported() {
				n++
			}
		}
	}
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			count(d.Name)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				count(s.Name)
			case *ast.ValueSpec:
				count(s.Names...)
			}
		}
	}
	return n
}

// A room stays one that a reader can hold in mind.
func TestSizes(t *testing.T) {
	t.Parallel()
	limits := map[string]int{
		"lines of the kernel": 4500,
		"methods of Host":     60,

		// Not for reading: names by the hundred are what they are.
		"names of ./functions/functionpb":    80,  // protoc makes it
		"names of ./host/worker/workerpb":    173, // protoc makes it
		"names of ./host/emulator/amqp/wire": 164, // the constants of AMQP, as its specification names them
	}
	for what, n := range sizes(t) {
		limit, ok := limits[what]
		if !ok {
			limit = 90
		}
		if n > limit {
			t.Errorf("%s: %d, want at most %d", what, n, limit)
		}
		delete(limits, what)
	}
	for what := range limits {
		t.Errorf("%s: nothing is counted", what)
	}
}
