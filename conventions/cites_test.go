package conventions_test

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	docLink   = regexp.MustCompile(`\[\*?([A-Za-z]\w*(?:\.\w+)*)\](?:$|[^\](:])`)
	citedWord = regexp.MustCompile(`[\w./-]*\w`)
	// Examples in Go name what they declare.
	exampleLine = regexp.MustCompile(`(?m)^\t.*[{}` + "`" + `].*$`)
	member      = regexp.MustCompile(`^[A-Z]\w*\.[A-Z]\w*$`)
)

// lost are the names and files that the package comment of s cites and that are not there:
// doc links, members of the package's types, Go files and paths. known has what each
// package declares, after its import path; roots are the folders of the module.
func lost(s source, known, roots map[string]bool) (out []string) {
	packages := map[string]string{} // ours that s imports, by name
	for _, path := range s.Imports {
		if ours(path) {
			packages[filepath.Base(path)] = path
		}
	}
	text := exampleLine.ReplaceAllString(s.file.Doc.Text(), "")
	for _, m := range docLink.FindAllStringSubmatch(text, -1) {
		home, name := s.ImportPath, m[1]
		if first, rest, qualified := strings.Cut(name, "."); qualified && !ast.IsExported(first) {
			if home, name = packages[first], rest; home == "" {
				continue // the standard library's
			}
		}
		if !known[home+"."+name] {
			out = append(out, m[0])
		}
	}
	for _, word := range citedWord.FindAllString(text, -1) {
		first, _, _ := strings.Cut(strings.TrimPrefix(word, "./"), "/")
		file := word
		switch {
		case member.MatchString(word):
			if of, _, _ := strings.Cut(word, "."); known[s.ImportPath+"."+of] && !known[s.ImportPath+"."+word] {
				out = append(out, word)
			}
			continue
		case strings.Contains(word, "/") && roots[first]:
		case strings.HasSuffix(word, ".go") && word != ".go":
			file = filepath.Join(s.Dir, word)
		default:
			continue
		}
		if _, err := os.Stat(file); err != nil {
			out = append(out, word)
		}
	}
	return out
}

// What a package comment sends its reader to is there.
func TestPackageComments(t *testing.T) {
	t.Parallel()
	known, roots := map[string]bool{}, map[string]bool{}
	for _, s := range sources(t) {
		for _, decl := range s.file.Decls {
			for _, name := range declaredBy(decl) {
				known[s.ImportPath+"."+name] = true
			}
		}
		first, _, below := strings.Cut(strings.TrimPrefix(s.ImportPath, "./"), "/")
		roots[first] = below || roots[first]
	}
	roots["docs"] = false // pages that are not there yet: docs/links_test.go looks at them
	cited := 0
	for _, s := range sources(t) {
		if s.test || s.file.Doc == nil {
			continue
		}
		cited += strings.Count(s.file.Doc.Text(), ".go")
		for _, word := range lost(s, known, roots) {
			t.Errorf("the comment of package %s cites %s, which is not there", s.ImportPath, word)
		}
	}
	if cited < 30 {
		t.Errorf("%d files are cited: the test does not find its subject", cited)
	}
	for comment, want := range map[string]int{
		"Read [Start] and start.go.": 2, "See [host.Nothing], Options.Nothing and host/nothing.": 3,
		"See [host.Host], [io.EOF], host/web and doc.go.": 0,
	} {
		s := source{pkg: pkg{ImportPath: "./host/web", Dir: "host/web", Imports: []string{"./host"}}, file: &ast.File{Doc: &ast.CommentGroup{List: []*ast.Comment{{Text: "// " + comment}}}}}
		if got := lost(s, known, roots); len(got) != want {
			t.Errorf("%s: %q are not there, want %d", comment, got, want)
		}
	}
}
