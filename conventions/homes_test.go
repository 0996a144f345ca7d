package conventions_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// product are the sources that are neither tests nor kits.
func product(t *testing.T) (list []source) {
	t.Helper()
	for _, s := range sources(t) {
		if !s.test && !within(s.ImportPath, kits()...) {
			list = append(list, s)
		}
	}
	return list
}

// Only host/listen opens ports and makes servers. Programs below docs only look for ports that
// are free.
func TestOneListens(t *testing.T) {
	t.Parallel()
	found := 0
	for _, s := range product(t) {
		if within(s.ImportPath, "./docs/...") {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			of, ok := sel.X.(*ast.Ident)
			switch {
			case !ok || !slices.Contains([]string{"net.Listen", "net.ListenTCP", "net.ListenConfig", "http.Server", "http.ListenAndServe", "http.Serve", "tls.Listen", "tls.NewListener", "tls.Server"}, of.Name+"."+sel.Sel.Name):
			case s.ImportPath == "./host/listen":
				found++
			default:
				t.Errorf("%s: %s.%s outside host/listen", positions.Position(sel.Pos()), of.Name, sel.Sel.Name)
			}
			return true
		})
	}
	if found < 5 {
		t.Errorf("%d places in host/listen: the test does not find its subject", found)
	}
}

// serviceWords are how services are named.
var serviceWords = regexp.MustCompile(`(?i)queue|blob|service ?bus|event ?(grid|hub)|cosmos`)

// servicesNamed returns what a text says of services.
func servicesNamed(text string) []string { return serviceWords.FindAllString(text, -1) }

// The host names no service: what is one kind's stands in its package below host/kinds,
// and what the services have in common in host/services.
func TestHostNamesNoService(t *testing.T) {
	t.Parallel()
	found := 0
	for _, s := range product(t) {
		if s.ImportPath != "./host" {
			continue
		}
		found++
		if words := servicesNamed(string(s.text)); len(words) > 0 {
			t.Errorf("%s names %q", s.name, words)
		}
	}
	if found == 0 {
		t.Error("the test does not find its subject")
	}
	for _, text := range []string{"// of a queue", "ns *servicebus.Namespace", "the Event Hubs namespace", `Is("cosmosDBTrigger")`} {
		if len(servicesNamed(text)) != 1 {
			t.Errorf("%q would not be seen", text)
		}
	}
}

// kindsCompared returns where a file compares the type of a binding with the name of a kind.
func kindsCompared(file *ast.File) (at []token.Pos) {
	named := func(exprs ...ast.Expr) bool {
		return slices.ContainsFunc(exprs, func(e ast.Expr) bool {
			text, ok := e.(*ast.BasicLit)
			return ok && text.Kind == token.STRING && strings.HasSuffix(text.Value, `Trigger"`)
		})
	}
	ast.Inspect(file, func(n ast.Node) bool {
		found := false
		switch n := n.(type) {
		case *ast.CallExpr:
			sel, ok := n.Fun.(*ast.SelectorExpr)
			if !ok || len(n.Args) == 0 {
				break
			}
			_, text := n.Args[0].(*ast.BasicLit)
			found = text && sel.Sel.Name == "Is" || sel.Sel.Name == "EqualFold" && named(n.Args...)
		case *ast.BinaryExpr:
			found = (n.Op == token.EQL || n.Op == token.NEQ) && named(n.X, n.Y)
		case *ast.CaseClause:
			found = named(n.List...)
		}
		if found {
			at = append(at, n.Pos())
		}
		return true
	})
	return at
}

// The peculiarities of a kind stand in its package below host/kinds. Code elsewhere asks a
// kind for its properties, and never compares its name. Conditions in schemas are exempt.
func TestKindsAreComparedAtHome(t *testing.T) {
	t.Parallel()
	home := 0
	for _, s := range product(t) {
		for _, at := range kindsCompared(s.file) {
			if within(s.ImportPath, "./host/kinds/...", "./schemas") {
				home++
				continue
			}
			t.Errorf("%s: a kind is compared by its name", positions.Position(at))
		}
	}
	if home < 5 {
		t.Errorf("%d places below host/kinds: the test does not find its subject", home)
	}
	for _, body := range []string{
		`_ = f.Trigger.Is("queueTrigger")`, `_ = b.Is("http")`, `_ = rec.Trigger == "cosmosDBTrigger"`,
		`_ = strings.EqualFold(rec.Trigger, "blobTrigger")`, `switch typ { case "timerTrigger": }`,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "", "package p; func f() { "+body+" }", 0)
		if err != nil {
			t.Fatal(err)
		}
		if len(kindsCompared(file)) != 1 {
			t.Errorf("%s would not be seen", body)
		}
	}
}
