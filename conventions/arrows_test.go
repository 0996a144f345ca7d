package conventions_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mostArrows is how many of 100 arrows between files may lead back up.
const mostArrows = 15

// A reader goes from a file to the files that it uses, and an arrow back up is a circle that
// has to be read as one. Files of different packages lie as their imports do; those of one
// package in the order of Eades, Lin and Smyth, which leaves few arrows back.
func TestArrows(t *testing.T) {
	t.Parallel()
	for _, tree := range []string{"./cmd/redeliver/...", "./host/web/..."} {
		t.Run(strings.NewReplacer(".", "", "/", " ").Replace(tree), func(t *testing.T) {
			t.Parallel()
			all, back := 0, []string(nil)
			within := arrows(t, tree)
			for _, dir := range slices.Sorted(maps.Keys(within)) {
				uses := within[dir]
				place := map[string]int{}
				for i, file := range order(uses) {
					place[file] = i
				}
				for _, from := range slices.Sorted(maps.Keys(uses)) {
					for _, to := range slices.Sorted(maps.Keys(uses[from])) {
						all++
						if at, same := place[to]; same && at < place[from] {
							back = append(back, fmt.Sprintf("%s uses %s of %s", inTree(from), strings.Join(slices.Sorted(maps.Keys(uses[from][to])), ", "), inTree(to)))
						}
					}
				}
			}
			if all < 50 {
				t.Fatalf("%d arrows only", all)
			}
			t.Logf("%d of %d arrows lead back up", len(back), all)
			if len(back)*100 >= mostArrows*all {
				t.Errorf("%d of %d arrows between files lead back up, %.1f of 100, want less than %d: move what is used to where it belongs\n%s",
					len(back), all, float64(len(back))*100/float64(all), mostArrows, strings.Join(back, "\n"))
			}
		})
	}
}

// inTree is the path of a file in the module.
func inTree(file string) string {
	root, err := os.Getwd()
	if err != nil {
		return file
	}
	return strings.TrimPrefix(file, root+string(filepath.Separator))
}

// arrows are, by folder, what each file uses of other files of the tree: names, fields and
// methods.
func arrows(t *testing.T, tree string) map[string]map[string]map[string]map[string]bool {
	t.Helper()
	exports := exported(t, tree)
	lookup := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	out := map[string]map[string]map[string]map[string]bool{}
	declared := map[string]string{} // by position without its column, which export data has not always
	checked := map[string][]*ast.File{}
	for _, s := range sources(t) {
		if within(s.ImportPath, tree) && !s.test && builds(t, s.name) {
			checked[s.ImportPath] = append(checked[s.ImportPath], s.file)
		}
	}
	for path, files := range checked {
		for _, f := range files {
			file := positions.Position(f.Pos()).Filename
			for _, d := range f.Decls {
				from, to := positions.Position(d.Pos()).Line, positions.Position(d.End()).Line
				for line := from; line <= to; line++ {
					declared[fmt.Sprint(filepath.Base(path), "/", filepath.Base(file), ":", line)] = file
				}
			}
		}
	}
	for path, files := range checked {
		info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
		conf := types.Config{Importer: importer.ForCompiler(positions, "gc", lookup)}
		if _, err := conf.Check(module+strings.TrimPrefix(path, "."), positions, files, info); err != nil {
			t.Fatal(err)
		}
		uses := map[string]map[string]map[string]bool{}
		for _, f := range files {
			uses[positions.Position(f.Pos()).Filename] = map[string]map[string]bool{}
		}
		for id, object := range info.Uses {
			if !lasting(object) || !within(relative(object.Pkg().Path()), tree) {
				continue
			}
			from, at := positions.Position(id.Pos()).Filename, positions.Position(object.Pos())
			to := declared[fmt.Sprint(filepath.Base(object.Pkg().Path()), "/", filepath.Base(at.Filename), ":", at.Line)]
			if to == "" || to == from {
				continue
			}
			if uses[from][to] == nil {
				uses[from][to] = map[string]bool{}
			}
			uses[from][to][object.Name()] = true
		}
		out[path] = uses
	}
	return out
}

// builds reports whether a file is one of this platform.
func builds(t *testing.T, name string) bool {
	t.Helper()
	ok, err := build.Default.MatchFile(filepath.Dir(name), filepath.Base(name))
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

// lasting reports whether an object is a name of a package, a field or a method.
func lasting(o types.Object) bool {
	if o.Pkg() == nil {
		return false
	}
	switch o := o.(type) {
	case *types.PkgName:
		return false
	case *types.Var:
		return o.IsField() || o.Parent() == o.Pkg().Scope()
	case *types.Func:
		return true
	}
	return o.Parent() == o.Pkg().Scope()
}

// exported are the files of export data of a tree and all that it imports.
func exported(t *testing.T, tree string) map[string]string {
	t.Helper()
	cmd := exec.Command("go", "list", "-trimpath", "-export", "-deps", "-json=ImportPath,Export", tree) // as make build compiles
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	out := map[string]string{}
	for dec := json.NewDecoder(bytes.NewReader(text)); ; {
		var p struct{ ImportPath, Export string }
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return out
		} else if err != nil {
			t.Fatal(err)
		}
		out[p.ImportPath] = p.Export
	}
}

// order puts files into the order in which few arrows lead back: sinks last, sources first,
// and else the one that uses most more than it is used.
func order(uses map[string]map[string]map[string]bool) (first []string) {
	left := maps.Clone(uses)
	degree := func(file string) (in, out int) {
		for other := range left {
			if other == file {
				continue
			}
			if uses[other][file] != nil {
				in++
			}
			if uses[file][other] != nil {
				out++
			}
		}
		return in, out
	}
	var last []string
	for len(left) > 0 {
		best, most := "", 0
		moved := false
		for _, file := range slices.Sorted(maps.Keys(left)) {
			in, out := degree(file)
			switch {
			case out == 0:
				last = append(last, file)
			case in == 0:
				first = append(first, file)
			default:
				if best == "" || out-in > most {
					best, most = file, out-in
				}
				continue
			}
			delete(left, file)
			moved = true
		}
		if !moved {
			first = append(first, best)
			delete(left, best)
		}
	}
	slices.Reverse(last)
	return append(first, last...)
}
