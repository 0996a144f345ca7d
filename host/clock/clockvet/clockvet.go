// Package clockvet finds code that goes around host/clock: go statements,
// channels, timers of package time, contexts and wait groups that the clock
// cannot see. One such line under the clock is enough to break its promises.
//
// Start with [Module], which checks every package of a module that imports
// host/clock; [Source] checks one file. An exempt line carries its reason,
// at its end or on the line above:
//
//	go serve(l) //clock:outside the socket server waits for the real world
//
// Above the package clause, with an empty line or a comment between, the
// directive exempts the file. A directive without a reason is a finding itself.
//
// It reads syntax only, one file at a time: a channel that comes ready-made from
// another package and is merely ranged over goes unseen.
package clockvet

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	clockPath = "github.com/redeliver/redeliver/host/clock"
	directive = "//clock:outside"
)

// A Finding is one use of something that the clock cannot see.
type Finding struct {
	Pos token.Position // file name as given, line, column
	Use string         // what was found: "go statement", "time.Sleep"
	Fix string         // what to use instead
}

// String returns the finding in the form of a compiler's message.
func (f Finding) String() string { return fmt.Sprintf("%s: %s: %s", f.Pos, f.Use, f.Fix) }

const noReason = "say why this code meets the real world"

const (
	useGroup   = "use clock.Group"
	useCond    = "use clock.Cond"
	useClock   = "use the clock's Now, Sleep, Idle or AfterFunc"
	useContext = "use the clock's WithCancel or WithTimeout"
)

// refused lists identifiers by import path.
var refused = map[string]map[string]string{
	"time": {
		"Now": useClock, "Since": useClock, "Until": useClock, "Sleep": useClock,
		"After": useClock, "AfterFunc": useClock, "Tick": useClock,
		"NewTimer": useClock, "NewTicker": useClock,
	},
	"context": {
		"WithCancel": useContext, "WithCancelCause": useContext,
		"WithTimeout": useContext, "WithTimeoutCause": useContext,
		"WithDeadline": useContext, "WithDeadlineCause": useContext,
		"AfterFunc": useGroup,
	},
	"sync":          {"WaitGroup": useGroup, "Cond": useCond, "NewCond": useCond},
	"os/signal":     {"NotifyContext": useContext},
	errgroupPackage: {"Group": useGroup, "WithContext": useGroup},
}

const errgroupPackage = "golang.org/x/sync/errgroup"

// Module checks the module in dir: all files, but tests, of all packages that
// import host/clock, except host/clock itself. Findings come in order of file
// and line; their file names are relative to dir. Files that do not parse are an error.
//
// Folders in except, slash-separated and relative to dir, are left out with all
// below them: the programs and test kits that drive a clock from the outside.
func Module(dir string, except ...string) ([]Finding, error) {
	files, err := sources(dir, except)
	if err != nil {
		return nil, err
	}
	var found []Finding
	for pkg, names := range files {
		if filepath.ToSlash(pkg) == path.Join(filepath.ToSlash(dir), "host/clock") {
			continue
		}
		list, err := folder(dir, names)
		if err != nil {
			return nil, err
		}
		found = append(found, list...)
	}
	sortFindings(found)
	return found, nil
}

// sources are the files of a module but its tests, by folder.
func sources(dir string, except []string) (files map[string][]string, err error) {
	files = map[string][]string{}
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := d.Name()
		if d.IsDir() {
			if name == dir {
				return nil
			}
			if base == "testdata" || base == "vendor" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
				return filepath.SkipDir
			}
			if rel, err := filepath.Rel(dir, name); err == nil && slices.Contains(except, filepath.ToSlash(rel)) {
				return filepath.SkipDir
			}
			if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil {
				return filepath.SkipDir // another module
			}
			return nil
		}
		if strings.HasSuffix(base, ".go") && !strings.HasSuffix(base, "_test.go") {
			files[filepath.Dir(name)] = append(files[filepath.Dir(name)], name)
		}
		return nil
	})
	return files, err
}

// folder checks the files of one package, if it imports the clock.
func folder(dir string, names []string) (found []Finding, err error) {
	fset := token.NewFileSet()
	var parsed []*ast.File
	under := false
	for _, name := range names {
		src, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return nil, err
		}
		f, err := parser.ParseFile(fset, filepath.ToSlash(rel), src, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, f)
		under = under || importsClock(f)
	}
	if !under {
		return nil, nil
	}
	for _, f := range parsed {
		found = append(found, check(fset, f)...)
	}
	return found, nil
}

// Source checks one file, whether it imports the clock or not. The name is for the findings.
func Source(name string, src []byte) ([]Finding, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	found := check(fset, f)
	sortFindings(found)
	return found, nil
}

func sortFindings(found []Finding) {
	slices.SortFunc(found, func(a, b Finding) int {
		if c := strings.Compare(a.Pos.Filename, b.Pos.Filename); c != 0 {
			return c
		}
		return a.Pos.Offset - b.Pos.Offset
	})
}

func importsClock(f *ast.File) bool {
	return slices.ContainsFunc(f.Imports, func(s *ast.ImportSpec) bool { return importPath(s) == clockPath })
}

func importPath(s *ast.ImportSpec) string {
	p, err := strconv.Unquote(s.Path.Value)
	if err != nil {
		return ""
	}
	return p
}

// check finds what is wrong in one file.
func check(fset *token.FileSet, f *ast.File) []Finding {
	c := checker{fset: fset, names: map[string]string{}, excused: map[int]bool{}}
	if c.readDirectives(f) {
		return c.found
	}
	for _, s := range f.Imports {
		p := importPath(s)
		if refused[p] == nil {
			continue
		}
		name := path.Base(p)
		if s.Name != nil {
			name = s.Name.Name
		}
		switch name {
		case ".":
			c.report(s, "dot import of "+p, "import it by name")
		case "_":
		default:
			c.names[name] = p
		}
	}
	ast.Inspect(f, c.visit)
	return c.found
}

type checker struct {
	fset    *token.FileSet
	names   map[string]string // import path by the name it has in the file
	excused map[int]bool      // lines
	found   []Finding
}

// readDirectives notes the excused lines, and reports whether the whole file is.
func (c *checker) readDirectives(f *ast.File) bool {
	for _, group := range f.Comments {
		for _, comment := range group.List {
			rest, ok := strings.CutPrefix(comment.Text, directive)
			if !ok {
				continue
			}
			if strings.TrimSpace(rest) == "" || !strings.HasPrefix(rest, " ") {
				c.report(comment, directive+" without a reason", noReason)
				continue
			}
			if comment.Pos() < f.Package {
				return true
			}
			line := c.fset.Position(comment.Pos()).Line
			c.excused[line] = true
			c.excused[line+1] = true
		}
	}
	return false
}

func (c *checker) report(n ast.Node, use, fix string) {
	pos := c.fset.Position(n.Pos())
	if !c.excused[pos.Line] {
		c.found = append(c.found, Finding{pos, use, fix})
	}
}

func (c *checker) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GoStmt:
		c.report(n, "go statement", useGroup)
	case *ast.SelectStmt:
		c.report(n, "select statement", useCond)
	case *ast.ChanType:
		c.report(n, "channel type", useCond)
	case *ast.SendStmt:
		c.report(n, "send on a channel", useCond)
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			c.report(n, "receive from a channel", useCond)
		}
	case *ast.SelectorExpr:
		if x, ok := n.X.(*ast.Ident); ok {
			p := c.names[x.Name]
			if fix := refused[p][n.Sel.Name]; fix != "" {
				c.report(n, path.Base(p)+"."+n.Sel.Name, fix)
			}
		}
	}
	return true
}
