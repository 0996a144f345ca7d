package conventions_test

import (
	"bytes"
	"go/ast"
	"strings"
	"testing"
)

// limits are how much of something a reader can hold in mind: by the beginning of its
// name, of which the longest counts.
var limits = map[string]int{ // read only
	"methods of ":               60,
	"methods of the interface ": 6,  // more is split by who uses it
	"names of ":                 90, // that a package exports
	"files of ":                 40, // of a folder, without tests
	"lines of the function ":    60,
	"lines of the kernel":       4200,
}

// exceptions are above their limit. The first ones are used whole by all who have one; of
// the others each may only shrink, and TestSizes says when a number has to.
var exceptions = map[string]int{ // read only
	"names of ./host/emulator/amqp/wire": 161, // the constants of AMQP, as its specification names them

	"methods of the interface ./host/clock.Clock":                11, // two clocks implement it, and nothing else can
	"methods of the interface ./triggers.Sink":                   7,  // the host's only side of a listener
	"methods of the interface ./bindings/servicebus.Admin":       20, // four kinds of entity, five operations for each
	"methods of the interface ./bindings/servicebus.Transaction": 9,  // one server ends what it begins

	"lines of the function ./cmd/redeliver/show.Printer.line": 88,

	"names of ./functions": 97, // a few for each kind of trigger and binding
}

// slack is how far below its exception something may be.
const slack = 5

// sizes are what is limited.
func sizes(t *testing.T) map[string]int {
	t.Helper()
	out := map[string]int{}
	for _, s := range sources(t) {
		if s.test || ast.IsGenerated(s.file) {
			continue
		}
		out["files of "+s.ImportPath]++
		if s.ImportPath == "./host" {
			out["lines of the kernel"] += bytes.Count(s.text, []byte("\n"))
		}
		for _, d := range s.file.Decls {
			out["names of "+s.ImportPath] += exportedNames(d)
			ownMethods(out, s.ImportPath, d)
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			name := s.ImportPath + "."
			if f.Recv != nil {
				name += receiver(f.Recv.List[0].Type)
				out["methods of "+name]++
				name += "."
			}
			out["lines of the function "+name+f.Name.Name] = positions.Position(f.End()).Line - positions.Position(f.Pos()).Line + 1
		}
	}
	return out
}

// limit is the limit for what has that name.
func limit(name string) int {
	of := ""
	for beginning := range limits {
		if strings.HasPrefix(name, beginning) && len(beginning) > len(of) {
			of = beginning
		}
	}
	return limits[of]
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
	counted := sizes(t)
	for what, n := range counted {
		most := limit(what)
		switch allowed, excepted := exceptions[what]; {
		case excepted && n <= most:
			t.Errorf("%s: %d is within the limit of %d: no exception is needed", what, n, most)
		case excepted && n < allowed-slack:
			t.Errorf("%s: %d, and the exception says %d: write down what it has shrunk to", what, n, allowed)
		case n > max(most, allowed):
			t.Errorf("%s: %d, want at most %d", what, n, max(most, allowed))
		}
	}
	for what := range exceptions {
		if counted[what] == 0 {
			t.Errorf("%s: nothing is counted", what)
		}
	}
	for beginning := range limits {
		found := false
		for what := range counted {
			found = found || strings.HasPrefix(what, beginning)
		}
		if !found {
			t.Errorf("%s...: nothing is counted", beginning)
		}
	}
}
