package gobuild

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/internal/apart"
)

// list has the files that a build of a program reads, as "go list" knows them.
// All paths are relative to the program's folder, with slashes.
type list struct {
	// Files are compiled, embedded, or decide what is: sources and module files. One
	// that does not exist stands for its absence.
	Files []string

	// Folders are those whose entries decide what belongs to the build: the ones of
	// packages, and those above them in their modules. In Whole ones each name
	// counts, because their content is embedded; in others only the names that a
	// build looks at.
	Folders, Whole []string

	// Partial says that not everything was found: no statement about what would
	// change the list is possible.
	Partial bool
}

// goPackage is one package in the answer of "go list".
type goPackage struct {
	ImportPath string
	Dir        string
	Standard   bool
	Module     *goModule
	Error      *struct{ Err string }

	GoFiles, CgoFiles, CFiles, CXXFiles, MFiles, HFiles, FFiles, SFiles []string
	SwigFiles, SwigCXXFiles, SysoFiles, EmbedFiles, EmbedPatterns       []string
}

type goModule struct {
	Path, Version, Dir, GoMod string
	Main                      bool
	Replace                   *goModule
}

// root is the folder of a module that can be edited: the main one, one of the
// workspace, or one that go.mod replaces by a folder. Modules of the module cache
// have none: go.mod and go.sum say all about them.
func (m *goModule) root() string {
	switch {
	case m == nil:
		return ""
	case m.Main:
		return m.Dir
	case m.Replace != nil && m.Replace.Version == "":
		return m.Replace.Dir
	}
	return ""
}

func (p *goPackage) files() []string {
	return slices.Concat(p.GoFiles, p.CgoFiles, p.CFiles, p.CXXFiles, p.MFiles, p.HFiles, p.FFiles, p.SFiles,
		p.SwigFiles, p.SwigCXXFiles, p.SysoFiles, p.EmbedFiles)
}

const listFields = "ImportPath,Dir,Standard,Module,Error,GoFiles,CgoFiles,CFiles,CXXFiles,MFiles,HFiles,FFiles,SFiles," +
	"SwigFiles,SwigCXXFiles,SysoFiles,EmbedFiles,EmbedPatterns"

// goList asks the go command. Where it cannot tell, the list is a partial one, of
// the program's own folder at least.
func goList(ctx context.Context, dir string, env []string) *list {
	c := collector{dir: dir, files: map[string]bool{}, folders: map[string]bool{}}
	c.above(dir, "go.work", "go.work.sum", "go.mod", "go.sum")
	c.settings(env)
	c.folder(dir)
	packages, err := listPackages(ctx, dir, env)
	if err != nil {
		c.list.Partial = true
		for _, name := range names(dir, false) {
			c.file(filepath.Join(dir, name))
		}
	}
	roots := map[string]string{} // folders of modules that can be edited, by path
	for _, p := range packages {
		if root := p.Module.root(); root != "" {
			roots[p.Module.Path] = root
		}
	}
	for _, p := range packages {
		c.add(p, roots)
	}
	return c.done()
}

func listPackages(ctx context.Context, dir string, env []string) ([]*goPackage, error) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		return nil, ErrNoGo
	}
	cmd := exec.CommandContext(ctx, goTool, "list", "-e", "-deps", "-json="+listFields, ".")
	cmd.Dir, cmd.Env = dir, append(slices.Clone(env), "PWD="+dir)
	apart.Group(cmd)
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	var packages []*goPackage
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		p := &goPackage{}
		if err := dec.Decode(p); err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		packages = append(packages, p)
	}
	return packages, nil
}

// collector makes a list.
type collector struct {
	dir            string
	list           list
	files, folders map[string]bool // true in folders: a whole one
}

// relative is a path as the list has it.
func (c *collector) relative(path string) string {
	if rel, err := filepath.Rel(c.dir, path); err == nil {
		path = rel
	}
	return filepath.ToSlash(path)
}

func (c *collector) file(path string) { c.files[c.relative(path)] = true }

func (c *collector) folder(path string) {
	path = c.relative(path)
	if _, known := c.folders[path]; !known {
		c.folders[path] = false
	}
}

func (c *collector) whole(path string) { c.folders[c.relative(path)] = true }

// above adds the files of these names in dir and in every folder above it, there or
// not: they decide which module dir belongs to.
func (c *collector) above(dir string, names ...string) {
	for {
		for _, name := range names {
			c.file(filepath.Join(dir, name))
		}
		up := filepath.Dir(dir)
		if up == dir {
			return
		}
		dir = up
	}
}

// settings adds files that the environment names.
func (c *collector) settings(env []string) {
	if work := lookup(env, "GOWORK"); filepath.IsAbs(work) {
		c.file(work)
		c.file(work + ".sum")
	}
	for _, flag := range strings.Fields(lookup(env, "GOFLAGS")) {
		switch name, value, _ := strings.Cut(strings.TrimLeft(flag, "-"), "="); name {
		case "modfile":
			c.file(absolute(c.dir, value))
			c.file(absolute(c.dir, strings.TrimSuffix(value, ".mod")+".sum"))
		case "overlay":
			c.file(absolute(c.dir, value))
		}
	}
}

// add takes up one package, unless it is of the standard library or the module cache.
func (c *collector) add(p *goPackage, roots map[string]string) {
	if p.Standard && p.Error == nil {
		return
	}
	if p.Error != nil {
		c.list.Partial = true
		c.missing(p.ImportPath, roots)
	}
	if p.Dir == "" {
		return
	}
	if p.Error != nil { // a file that does not parse is not listed
		for _, name := range names(p.Dir, false) {
			c.file(filepath.Join(p.Dir, name))
		}
	}
	root := p.Module.root()
	if root == "" && p.Module != nil && !within(p.Dir, roots) {
		return
	}
	for _, name := range p.files() {
		c.file(absolute(p.Dir, name))
	}
	for _, pattern := range p.EmbedPatterns {
		c.embed(p.Dir, pattern)
	}
	if root == "" { // vendored, or without a module
		if p.Module == nil {
			c.folder(p.Dir)
		}
		return
	}
	c.file(filepath.Join(root, "go.mod"))
	c.file(filepath.Join(root, "go.sum"))
	c.file(filepath.Join(root, "vendor", "modules.txt"))
	for at := p.Dir; ; at = filepath.Dir(at) {
		c.folder(at)
		if at == root || at == filepath.Dir(at) {
			break
		}
	}
}

// missing adds the folder in which a package that does not exist would appear.
func (c *collector) missing(importPath string, roots map[string]string) {
	for module, root := range roots {
		below, ok := strings.CutPrefix(importPath, module+"/")
		if !ok {
			continue
		}
		at := filepath.Join(root, filepath.FromSlash(below))
		for at != root && !isDir(at) {
			at = filepath.Dir(at)
		}
		c.folder(at)
	}
}

// embed adds the folders whose entries decide what a //go:embed pattern matches.
func (c *collector) embed(dir, pattern string) {
	pattern = strings.TrimPrefix(pattern, "all:")
	before, _, wild := strings.Cut(pattern, "*")
	for _, mark := range []string{"?", "["} {
		if head, _, found := strings.Cut(before, mark); found {
			before, wild = head, true
		}
	}
	if !wild {
		c.tree(filepath.Join(dir, filepath.FromSlash(pattern)))
		return
	}
	base := filepath.Join(dir, filepath.FromSlash(before[:strings.LastIndexByte(before, '/')+1]))
	c.whole(base)
	if strings.Contains(pattern[len(before):], "/") {
		c.tree(base)
		return
	}
	entries, _ := os.ReadDir(base) // one that is gone matches nothing
	for _, e := range entries {
		if ok, _ := filepath.Match(filepath.Base(filepath.FromSlash(pattern)), e.Name()); ok && e.IsDir() {
			c.tree(filepath.Join(base, e.Name()))
		}
	}
}

// tree adds a folder and those below it.
func (c *collector) tree(dir string) {
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			c.whole(path)
		}
		return nil
	})
}

func (c *collector) done() *list {
	for path := range c.files {
		c.list.Files = append(c.list.Files, path)
	}
	for path, whole := range c.folders {
		c.list.Folders = append(c.list.Folders, path)
		if whole {
			c.list.Whole = append(c.list.Whole, path)
		}
	}
	slices.Sort(c.list.Files)
	slices.Sort(c.list.Folders)
	slices.Sort(c.list.Whole)
	return &c.list
}

func (l *list) equal(o *list) bool {
	return o != nil && l.Partial == o.Partial && slices.Equal(l.Files, o.Files) && slices.Equal(l.Folders, o.Folders) && slices.Equal(l.Whole, o.Whole)
}

// compiled are the ends of the names that a build looks at in a package's folder.
var compiled = map[string]bool{ // read only
	".go": true, ".c": true, ".cc": true, ".cpp": true, ".cxx": true, ".m": true, ".h": true, ".hh": true, ".hpp": true, ".hxx": true,
	".f": true, ".F": true, ".for": true, ".f90": true, ".s": true, ".S": true, ".sx": true, ".swig": true, ".swigcxx": true, ".syso": true,
}

// IsSource reports whether a build looks at files of that name: sources, and what
// describes modules. Tests are left out.
func IsSource(name string) bool {
	switch name {
	case "go.mod", "go.sum", "go.work", "go.work.sum", "modules.txt":
		return true
	}
	return compiled[filepath.Ext(name)] && !strings.HasSuffix(name, "_test.go")
}

// names lists what counts in a folder.
func names(dir string, whole bool) []string {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var out []string
	for _, e := range entries {
		if whole || !e.IsDir() && IsSource(e.Name()) {
			out = append(out, e.Name())
		}
	}
	return out
}

func within(dir string, roots map[string]string) bool {
	for _, root := range roots {
		if rel, err := filepath.Rel(root, dir); err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func absolute(dir, path string) string {
	if path = filepath.FromSlash(path); filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// lookup is the last value of a name in "NAME=VALUE" entries.
func lookup(env []string, name string) string {
	value := ""
	for _, entry := range env {
		if v, ok := strings.CutPrefix(entry, name+"="); ok {
			value = v
		}
	}
	return value
}
