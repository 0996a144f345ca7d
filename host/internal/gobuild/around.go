package gobuild

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/internal/apart"
)

// Around returns the files outside dir that a build of the program in dir reads and
// that a copy of dir needs beside it: of its module and of modules that go.mod or
// go.work name by a relative path. Paths are absolute and sorted. Files that are
// named by an absolute path are found from a copy too, and are left out. A dir
// without a Go program needs nothing, and what the go command cannot say is the
// build's to report.
func Around(ctx context.Context, dir string, env []string) []string {
	if !slices.ContainsFunc(names(dir, false), func(name string) bool { return filepath.Ext(name) == ".go" }) {
		return nil
	}
	s := surroundings{ctx: ctx, env: env, dir: dir, files: map[string]bool{}}
	s.modules()
	if !s.outside {
		return nil
	}
	for _, path := range goList(ctx, dir, env).Files {
		switch path = absolute(dir, path); filepath.Base(path) {
		case "go.mod", "go.sum", "go.work", "go.work.sum": // the relevant ones are known
		default:
			s.add(path)
		}
	}
	var out []string
	for path := range s.files {
		if rel, err := filepath.Rel(dir, path); err == nil && !filepath.IsLocal(rel) && !within(path, s.absolute) {
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return out
}

// surroundings collects what a program needs beside it.
type surroundings struct {
	ctx      context.Context
	env      []string
	dir      string
	files    map[string]bool
	absolute map[string]string // folders of modules that are named by an absolute path
	outside  bool              // there is a module outside dir
}

// add takes up a file, if there is one.
func (s *surroundings) add(path string) {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		s.files[path] = true
	}
}

// modules takes up the files that describe the modules of the build.
func (s *surroundings) modules() {
	var env struct{ GOMOD, GOWORK string }
	s.ask(&env, "env", "-json", "GOMOD", "GOWORK")
	if filepath.IsAbs(env.GOWORK) {
		s.add(env.GOWORK)
		s.add(env.GOWORK + ".sum")
		var work struct {
			Use     []struct{ DiskPath string }
			Replace []replacement
		}
		s.ask(&work, "work", "edit", "-json", env.GOWORK)
		root := filepath.Dir(env.GOWORK)
		s.outside = true
		s.replaced(root, work.Replace)
		for _, use := range work.Use {
			s.module(root, use.DiskPath, true)
		}
	}
	if filepath.IsAbs(env.GOMOD) { // not the null device
		s.module(filepath.Dir(env.GOMOD), ".", true)
	}
}

type replacement struct {
	New struct{ Path, Version string }
}

// module takes up the module at path, which from names. Only in a main one replacements
// count.
func (s *surroundings) module(from, path string, main bool) {
	root := absolute(from, path)
	if filepath.IsAbs(filepath.FromSlash(path)) {
		if s.absolute == nil {
			s.absolute = map[string]string{}
		}
		s.absolute[root] = root
		return
	}
	if rel, err := filepath.Rel(s.dir, root); err != nil || !filepath.IsLocal(rel) {
		s.outside = true
	}
	mod := filepath.Join(root, "go.mod")
	s.add(mod)
	s.add(filepath.Join(root, "go.sum"))
	if main {
		var text struct{ Replace []replacement }
		s.ask(&text, "mod", "edit", "-json", mod)
		s.replaced(root, text.Replace)
	}
}

func (s *surroundings) replaced(root string, list []replacement) {
	for _, r := range list {
		if r.New.Version == "" {
			s.module(root, r.New.Path, false)
		}
	}
}

// ask runs the go command. Modules that it does not answer stay as they are.
func (s *surroundings) ask(answer any, args ...string) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		return
	}
	cmd := exec.CommandContext(s.ctx, goTool, args...)
	cmd.Dir, cmd.Env = s.dir, append(slices.Clone(s.env), "PWD="+s.dir)
	apart.Group(cmd)
	if out, err := cmd.Output(); err == nil {
		_ = json.NewDecoder(strings.NewReader(string(out))).Decode(answer)
	}
}
