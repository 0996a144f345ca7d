package faults_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/faults"
	"github.com/redeliver/redeliver/host/ops/all"
	"github.com/redeliver/redeliver/host/services"
)

// The table has each operation that the sources of the emulators name, and no other: a name
// that is missing there could not be made to fail.
func TestOperationsAreThoseOfTheSources(t *testing.T) {
	t.Parallel()
	for service, dir := range map[string]string{
		"queue": "storage/queues", "blob": "storage/blobs", "servicebus": "servicebus", "eventhubs": "eventhubs", "cosmos": "cosmos",
	} {
		want := operationsOf(t, filepath.Join("..", "emulator", filepath.FromSlash(dir)))
		if diff := cmp.Diff(want, all.Table().Faults().Operations(service)); diff != "" {
			t.Errorf("%s: operations (-sources +table):\n%s", service, diff)
		}
	}
}

// A disk that is full fails what writes, and nothing else: one that is wrong in the table of
// reads would fail what lists and shows.
func TestFullDiskLetsReadsThrough(t *testing.T) {
	t.Parallel()
	shows := regexp.MustCompile(`^(Get|List|Peek|Count|Exists|Queue(s$|Counts|Message|Metadata|Policies|Service)|Hidden|Blob|Containers?$|FindBlobs|Tags$|PageRanges|Properties|Access$|Held|Sessions$|State$|Hubs?$|Settings$|Partition$|ReadEvents|Items|Ranges|Read$|Pending|Changes)`)
	now := time.Unix(0, 0)
	for _, service := range []string{"queue", "blob", "servicebus", "eventhubs", "cosmos"} {
		for _, op := range all.Table().Faults().Operations(service) {
			list := faults.List{Services: all.Table().Faults()}
			if err := list.Add(now, faults.Fault{DiskFull: true}); err != nil {
				t.Fatal(err)
			}
			err := list.Ask(clock.NewVirtual(now, nil), services.FaultPoint{Service: service, Op: op})
			if shows.MatchString(op) && err != nil {
				t.Errorf("%s of %s: %v", op, service, err)
			}
			if regexp.MustCompile(`^(Create|Delete|Set[A-Z]|Put|Send|Update|Upsert|Purge|Complete)`).MatchString(op) && err == nil {
				t.Errorf("%s of %s takes no room", op, service)
			}
		}
	}
}

// operationsOf are the names that the files of a package give to operations: the word Op of
// its fault points, as a text, or as a parameter that callers give a text.
func operationsOf(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := sources{names: map[string]bool{}, passed: map[string]int{}}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, e.Name()), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		s.files = append(s.files, f)
	}
	for known := -1; known < len(s.names)+len(s.passed); { // until a look finds nothing more
		known = len(s.names) + len(s.passed)
		for _, f := range s.files {
			for _, d := range f.Decls {
				s.look(d)
			}
		}
	}
	names := make([]string, 0, len(s.names))
	for name := range s.names {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func isFaultPoint(e ast.Expr) bool {
	if from, ok := e.(*ast.SelectorExpr); ok {
		e = from.Sel
	}
	name, ok := e.(*ast.Ident)
	return ok && name.Name == "FaultPoint"
}

type sources struct {
	files  []*ast.File
	names  map[string]bool
	passed map[string]int // by the name of a function: which parameter is the name of an operation
}

var operationName = regexp.MustCompile(`^[A-Z][A-Za-z]+$`)

func (s *sources) look(d ast.Decl) {
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			if !isFaultPoint(n.Type) {
				break
			}
			for _, e := range n.Elts {
				if kv, _ := e.(*ast.KeyValueExpr); kv != nil && kv.Key.(*ast.Ident).Name == "Op" {
					s.add(d, kv.Value)
				}
			}
		case *ast.CallExpr:
			at, is := s.passed[called(n)]
			if is && at < len(n.Args) {
				s.add(d, n.Args[at])
			}
		}
		return true
	})
}

// add takes up an expression for the name of an operation.
func (s *sources) add(d ast.Decl, e ast.Expr) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if name, err := strconv.Unquote(e.Value); err == nil && operationName.MatchString(name) {
			s.names[name] = true
		}
	case *ast.SelectorExpr: // table[i].op
		if row, _ := e.X.(*ast.IndexExpr); row != nil {
			s.table(row.X.(*ast.Ident).Name)
		}
	case *ast.Ident:
		s.follow(d, e.Name)
	}
}

// table takes up the names in a table of the package.
func (s *sources) table(name string) {
	for _, f := range s.files {
		ast.Inspect(f, func(n ast.Node) bool {
			spec, _ := n.(*ast.ValueSpec)
			if spec == nil || spec.Names[0].Name != name || len(spec.Values) == 0 {
				return true
			}
			ast.Inspect(spec.Values[0], func(n ast.Node) bool {
				if lit, _ := n.(*ast.BasicLit); lit != nil {
					s.add(nil, lit)
				}
				return true
			})
			return false
		})
	}
}

// follow takes up what a variable or a parameter of a declaration holds.
func (s *sources) follow(d ast.Decl, name string) {
	f, _ := d.(*ast.FuncDecl)
	if f == nil {
		return
	}
	at := 0
	for _, field := range f.Type.Params.List {
		for _, param := range field.Names {
			if param.Name == name {
				s.passed[f.Name.Name] = at
			}
			at++
		}
	}
	ast.Inspect(f.Body, func(n ast.Node) bool {
		if a, _ := n.(*ast.AssignStmt); a != nil {
			for i, left := range a.Lhs {
				if id, _ := left.(*ast.Ident); id != nil && id.Name == name && i < len(a.Rhs) {
					s.add(d, a.Rhs[i])
				}
			}
		}
		return true
	})
}

// called is the name of the function of a call.
func called(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	case *ast.IndexExpr:
		if id, _ := f.X.(*ast.Ident); id != nil {
			return id.Name
		}
	}
	return ""
}

// A text that is a code of the Table service fails as the service does, and elsewhere it is
// a text (spec tables 10.5).
func TestTextsThatAreCodes(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	ask := func(service, text string) error {
		list := faults.List{Services: all.Table().Faults()}
		if err := list.Add(now, faults.Fault{Service: service, Operation: "Delete", Error: text}); err != nil {
			t.Fatal(err)
		}
		return list.Ask(clock.NewVirtual(now, nil), services.FaultPoint{Service: service, Op: "Delete"})
	}
	for text, status := range map[string]int{"TableBeingDeleted": 409, "ServerBusy": 503, "OperationTimedOut": 500, "UpdateConditionNotSatisfied": 412} {
		var failure *storage.Error
		if err := ask("table", text); !errors.As(err, &failure) || failure.Status != status || string(failure.Code) != text {
			t.Errorf("%s failed with %#v, want the status %d", text, err, status)
		}
		if err := ask("queue", text); errors.As(err, &failure) || !errors.Is(err, bindings.ErrUnavailable) {
			t.Errorf("%s of a queue failed with %#v", text, err)
		}
	}
	if err := ask("table", "the cable is out"); !errors.Is(err, bindings.ErrUnavailable) || err.Error() != "the cable is out: "+bindings.ErrUnavailable.Error() {
		t.Errorf("a text failed with %v", err)
	}
}
