package conventions_test

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func architecture(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The layers of ARCHITECTURE.md name every package, and no import goes up.
func TestArchitectureLayers(t *testing.T) {
	t.Parallel()
	_, block, _ := strings.Cut(architecture(t), "```layers\n")
	block, _, _ = strings.Cut(block, "\n```")
	layer := map[string]int{}
	for i, line := range strings.Split(block, "\n") {
		for _, tree := range strings.Fields(line) {
			layer["./"+tree] = i + 1
		}
	}
	of := func(path string) int { // the longest entry counts; 0: there is none
		at, longest := 0, 0
		for tree, i := range layer {
			if within(path, tree) && len(tree) > longest {
				at, longest = i, len(tree)
			}
		}
		return at
	}
	for _, p := range packages(t) {
		if within(p.ImportPath, ".", "./docs", "./docs/site", "./docs/compare", "./conventions") {
			continue
		}
		own := of(p.ImportPath)
		if own == 0 {
			t.Errorf("%s has no layer in ARCHITECTURE.md", p.ImportPath)
		}
		for _, imported := range p.Imports {
			if ours(imported) && of(imported) < own {
				t.Errorf("%s imports %s, which stands above it in ARCHITECTURE.md", p.ImportPath, imported)
			}
		}
	}
}

// Everything in ARCHITECTURE.md that stands between backquotes exists: packages and
// files, functions and methods, and texts of the code.
func TestArchitectureNames(t *testing.T) {
	t.Parallel()
	known := declared(t)
	quoted := regexp.MustCompile("`([^`\n]+)`")
	found := 0
	for _, m := range quoted.FindAllStringSubmatch(architecture(t), -1) {
		name := m[1]
		if strings.ContainsAny(name, "<*") || strings.HasSuffix(name, "/...") || known[name] {
			found++
			continue
		}
		if _, err := os.Stat(name); err != nil {
			t.Errorf("ARCHITECTURE.md names %q, which is no package, file or identifier", name)
		}
		found++
	}
	if found < 50 {
		t.Errorf("%d names: the test does not find its subject", found)
	}
}

// declared returns the names that the code declares (Name, Type.Method, package.Name), the
// last elements of its paths, and the texts of its constants.
func declared(t *testing.T) map[string]bool {
	t.Helper()
	known := map[string]bool{}
	for _, s := range sources(t) {
		known[filepath.Base(s.ImportPath)], known[filepath.Base(s.name)] = true, true
		for _, decl := range s.file.Decls {
			for _, name := range declaredBy(decl) {
				known[name], known[s.Name+"."+name] = true, true
			}
		}
	}
	return known
}

func declaredBy(decl ast.Decl) (names []string) {
	if f, ok := decl.(*ast.FuncDecl); ok {
		if f.Recv == nil {
			return []string{f.Name.Name}
		}
		return []string{receiver(f.Recv.List[0].Type) + "." + f.Name.Name}
	}
	for _, spec := range decl.(*ast.GenDecl).Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			names = append(names, s.Name.Name)
			var members *ast.FieldList
			switch of := s.Type.(type) {
			case *ast.InterfaceType:
				members = of.Methods
			case *ast.StructType:
				members = of.Fields
			default:
				continue
			}
			for _, member := range members.List {
				for _, name := range member.Names {
					names = append(names, s.Name.Name+"."+name.Name, name.Name)
				}
			}
		case *ast.ValueSpec:
			for _, name := range s.Names {
				names = append(names, name.Name)
			}
			for _, value := range s.Values {
				if text, ok := value.(*ast.BasicLit); ok {
					names = append(names, strings.Trim(text.Value, `"`))
				}
			}
		}
	}
	return names
}

// receiver returns the name of a receiver's type.
func receiver(expr ast.Expr) string {
	for {
		switch of := expr.(type) {
		case *ast.StarExpr:
			expr = of.X
		case *ast.IndexExpr:
			expr = of.X
		case *ast.IndexListExpr:
			expr = of.X
		case *ast.Ident:
			return of.Name
		default:
			return ""
		}
	}
}
