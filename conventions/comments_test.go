package conventions_test

import (
	"go/ast"
	"slices"
	"testing"
)

// Every package says what it is for, and every exported identifier adds
// something to its name.
func TestComments(t *testing.T) {
	t.Parallel()
	code, described := map[string]bool{}, map[string]bool{}
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		code[s.ImportPath] = true
		if s.file.Doc.Text() != "" {
			described[s.ImportPath] = true
		}
		if s.Name == "main" || ast.IsGenerated(s.file) {
			continue
		}
		for _, ident := range undocumented(s.file) {
			if ident.Name == "Do" && within(s.ImportPath, "./host/ops/...") {
				continue // the comment of an operation is that of its type
			}
			t.Errorf("%s: %s has no comment", positions.Position(ident.Pos()), ident.Name)
		}
	}
	for path := range code {
		if !described[path] {
			t.Errorf("package %s has no comment", path)
		}
	}
}

// undocumented returns the exported identifiers of a file without a comment.
// Members of a group share its comment; the members of types are left to their
// type's comment.
func undocumented(file *ast.File) []*ast.Ident {
	var out []*ast.Ident
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Doc.Text() == "" && d.Name.IsExported() && !wellKnown(d) && exportedReceiver(d) {
				out = append(out, d.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() && d.Doc.Text() == "" && s.Doc.Text() == "" {
						out = append(out, s.Name)
					}
				case *ast.ValueSpec:
					if d.Doc.Text() != "" || s.Doc.Text() != "" || s.Comment.Text() != "" {
						continue
					}
					for _, name := range s.Names {
						if name.IsExported() {
							out = append(out, name)
						}
					}
				}
			}
		}
	}
	return out
}

// wellKnown are the methods whose meaning the standard library gives.
func wellKnown(d *ast.FuncDecl) bool {
	return d.Recv != nil && slices.Contains([]string{
		"Error", "Unwrap", "Is", "As", "String", "MarshalJSON", "UnmarshalJSON", "Len", "Less", "Swap", "Push", "Pop", "Read", "Write", "ServeHTTP",
	}, d.Name.Name)
}

func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return true
	}
	name := receiver(d.Recv.List[0].Type)
	return name == "" || ast.IsExported(name)
}
