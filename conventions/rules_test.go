package conventions_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// rulesFile says for each rule of the specification which test proves it: spec
// file, section and row; the rule in a few words; package/Test/subtest.
const rulesFile = "testdata/rules.tsv"

// logVariable names a file with the output of `go test -json ./...`. Where it is
// set, TestRules also demands that every test of the index ran and passed.
const logVariable = "REDELIVER_TEST_LOG"

type ruleRow struct {
	line             int
	spec, rule, test string
}

// split returns the package's folder and the parts of the test's name.
func (r ruleRow) split() (dir string, parts []string) {
	i := strings.Index(r.test, "/Test")
	if i < 0 {
		i = strings.Index(r.test, "/Example")
	}
	if i < 0 {
		return r.test, nil
	}
	return r.test[:i], strings.Split(r.test[i+1:], "/")
}

func readRules(t *testing.T) []ruleRow {
	t.Helper()
	file, err := os.Open(rulesFile)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var rows []ruleRow
	scanner := bufio.NewScanner(file)
	for line := 1; scanner.Scan(); line++ {
		text := scanner.Text()
		if strings.HasPrefix(text, "#") {
			continue
		}
		columns := strings.Split(text, "\t")
		if len(columns) != 3 || columns[0] == "" || columns[1] == "" || columns[2] == "" {
			t.Errorf("%s:%d: want spec row, rule and test, separated by tabs", rulesFile, line)
			continue
		}
		rows = append(rows, ruleRow{line, columns[0], columns[1], columns[2]})
	}
	if err := scanner.Err(); err != nil {
		t.Fatal(err)
	}
	if len(rows) == 0 {
		t.Fatalf("%s is empty", rulesFile)
	}
	return rows
}

// Every rule of the index names a test that exists, and that cannot be skipped
// without saying why. Whether its section exists, TestCitations looks up.
func TestRules(t *testing.T) {
	t.Parallel()
	rows := readRules(t)
	sources := map[string]*testSources{}
	seen := map[string]int{}
	for _, row := range rows {
		if n := len(strings.Fields(row.rule)); n > 8 {
			t.Errorf("%s:%d: %d words for one rule: five are enough", rulesFile, row.line, n)
		}
		key := row.spec + "\t" + row.rule + "\t" + row.test
		if first, ok := seen[key]; ok {
			t.Errorf("%s:%d: repeats line %d", rulesFile, row.line, first)
		}
		seen[key] = row.line
		dir, parts := row.split()
		if len(parts) == 0 {
			t.Errorf("%s:%d: %q names no test", rulesFile, row.line, row.test)
			continue
		}
		if sources[dir] == nil {
			sources[dir] = readTestSources(t, dir)
		}
		src := sources[dir]
		fn, ok := src.functions[parts[0]]
		if !ok {
			t.Errorf("%s:%d: %s: package %s has no %s", rulesFile, row.line, row.spec, dir, parts[0])
			continue
		}
		if mute(fn) {
			t.Errorf("%s:%d: %s: %s can be skipped without a reason", rulesFile, row.line, row.spec, row.test)
		}
		for _, part := range parts[1:] {
			if !src.names(part) {
				t.Errorf("%s:%d: %s: nothing in the tests of %s makes a subtest %q", rulesFile, row.line, row.spec, dir, part)
			}
		}
	}
	if name := os.Getenv(logVariable); name != "" {
		checkRan(t, rows, name)
	}
}

// checkRan demands that every test of the index ran and passed, from the output
// of `go test -json`.
func checkRan(t *testing.T, rows []ruleRow, name string) {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	ended := map[string]string{}
	for dec := json.NewDecoder(file); ; {
		var e struct{ Action, Package, Test string }
		if err := dec.Decode(&e); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		switch e.Action {
		case "pass", "fail", "skip":
			ended[strings.TrimPrefix(relative(e.Package), "./")+"/"+e.Test] = e.Action
		}
	}
	for _, row := range rows {
		switch got := ended[row.test]; got {
		case "pass":
		case "":
			t.Errorf("%s:%d: %s: %s did not run", rulesFile, row.line, row.spec, row.test)
		default:
			t.Errorf("%s:%d: %s: %s ended with %q", rulesFile, row.line, row.spec, row.test, got)
		}
	}
}

// testSources are the names of tests that a package's test files declare.
type testSources struct {
	functions map[string]*ast.FuncDecl
	literals  map[string]bool // in the form that package testing gives them
	pieces    []string        // what could be part of such a name
}

// readTestSources reads the test files of a folder, the kits that they import,
// and the names of its and the module's test data.
func readTestSources(t *testing.T, dir string) *testSources {
	t.Helper()
	src := &testSources{functions: map[string]*ast.FuncDecl{}, literals: map[string]bool{}}
	read := map[string]bool{}
	var readDir func(dir string, own bool)
	readDir = func(dir string, own bool) {
		if read[dir] {
			return
		}
		read[dir] = true
		for _, name := range goFiles(t, dir) {
			if own && !strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			src.add(file, own)
			for _, spec := range file.Imports {
				imported, _ := strconv.Unquote(spec.Path.Value)
				if kit := relative(imported); within(kit, kits()...) && kit != "./host/hosttest" {
					readDir(strings.TrimPrefix(kit, "./"), false)
				}
			}
		}
	}
	readDir(dir, true)
	for _, data := range []string{filepath.Join(dir, "testdata"), "testdata"} {
		_ = filepath.WalkDir(data, func(name string, _ os.DirEntry, err error) error {
			if err == nil {
				base := filepath.Base(name)
				src.literals[base] = true
				src.scenarios(name)
				src.literals[strings.TrimSuffix(base, filepath.Ext(base))] = true
			}
			return nil
		})
	}
	return src
}

// scenarios adds the names of the scenarios in a file.
func (s *testSources) scenarios(file string) {
	if !strings.HasSuffix(file, ".scenario.yaml") {
		return
	}
	text, _ := os.ReadFile(file) // without it the names are not found
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "name: "); ok {
			s.literals[strings.ReplaceAll(name, " ", "_")] = true
		}
	}
}

func (s *testSources) add(file *ast.File, own bool) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if own && n.Recv == nil {
				s.functions[n.Name.Name] = n
			}
		case *ast.BasicLit:
			text := n.Value
			if n.Kind == token.STRING {
				text, _ = strconv.Unquote(n.Value)
			}
			if text = rewritten(text); text != "" && len(text) < 100 {
				s.literals[text] = true
				s.pieces = append(s.pieces, text)
			}
		case *ast.Ident:
			s.pieces = append(s.pieces, n.Name, strings.ToLower(n.Name)) // constants print so
		}
		return true
	})
}

// names reports whether a subtest of that name can come from these sources: as a
// literal, or put together from literals and names that occur there.
func (s *testSources) names(part string) bool {
	if s.literals[part] {
		return true
	}
	ends := make([]bool, len(part)+1) // a name can end here
	ends[0] = true
	for i := range part {
		if !ends[i] {
			continue
		}
		if c := part[i]; strings.IndexByte("_-=,:./ ", c) >= 0 || '0' <= c && c <= '9' {
			ends[i+1] = true
		}
		for _, piece := range s.pieces {
			if len(piece) > 1 && strings.HasPrefix(part[i:], piece) {
				ends[i+len(piece)] = true
			}
		}
	}
	return ends[len(part)]
}

// rewritten is a subtest's name as package testing prints it.
func rewritten(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ' || r == '\t' || r == '\n' || r == '\r':
			return '_'
		case !strconv.IsPrint(r):
			return -1
		}
		return r
	}, name)
}

// mute reports whether a test can be skipped without printing a reason: every
// call of Skip and Skipf needs one, SkipNow has none.
func mute(fn *ast.FuncDecl) bool {
	found := false
	ast.Inspect(fn, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if of, ok := sel.X.(*ast.Ident); ok && (of.Name == "t" || of.Name == "b" || of.Name == "f" || of.Name == "tb") {
			switch sel.Sel.Name {
			case "SkipNow":
				found = true
			case "Skip", "Skipf":
				found = found || len(call.Args) == 0
			}
		}
		return true
	})
	return found
}
