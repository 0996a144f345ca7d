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

// sizes are what packages that are not kits export, the methods of host.Host and of
// exported interfaces, and the lines of the kernel, by what they are limited as.
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
				ownMethods(out, p.ImportPath, d)
			}
		}
	}
	return out
}

// ownMethods counts what each exported interface of a declaration asks for, beside the
// interfaces that it consists of.
func ownMethods(out map[string]int, importPath string, d ast.Decl) {
	decl, ok := d.(*ast.GenDecl)
	if !ok {
		return
	}
	for _, s := range decl.Specs {
		spec, ok := s.(*ast.TypeSpec)
		if !ok || !spec.Name.IsExported() {
			continue
		}
		if of, ok := spec.Type.(*ast.InterfaceType); ok {
			for _, m := range of.Methods.List {
				out["methods of the interface "+importPath+"."+spec.Name.Name] += len(m.Names)
			}
		}
	}
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
		"names of ./functions/functionpb":    81,  // protoc makes it
		"names of ./host/worker/workerpb":    173, // protoc makes it
		"names of ./host/emulator/amqp/wire": 164, // the constants of AMQP, as its specification names them

		// Used whole by all who have one.
		"methods of the interface ./host/clock.Clock": 11, // two clocks implement it, and nothing else can
		"methods of the interface ./triggers.Sink":    7,  // the host's only side of a listener

		"methods of the interface ./host/worker/settlementpb.SettlementClient": 9,  // protoc makes it
		"methods of the interface ./host/worker/settlementpb.SettlementServer": 10, // protoc makes it
		"methods of the interface ./bindings/servicebus.Admin":                 20, // four kinds of entity, five operations for each
		"methods of the interface ./bindings/servicebus.Transaction":           9,  // one server ends what it begins
	}
	for what, n := range sizes(t) {
		limit, ok := limits[what]
		if !ok {
			limit = 90
			if strings.HasPrefix(what, "methods of the interface ") {
				limit = 6 // more is split by who uses it
			}
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
