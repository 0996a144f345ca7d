package gobuild

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"hash"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// Sources knows what a build of one program reads: the files of its packages in the
// main module, in modules of the workspace and in modules that a folder replaces,
// embedded files, and the files that describe modules. Modules of the module cache are
// known by go.mod and go.sum.
//
// The list of these files comes from "go list" and is kept, in memory and beside the
// built programs, until something changes that decides it: the names in the folders,
// or the part of a Go file before its first declaration. So most looks cost no
// process. Methods may be called concurrently; they run in real time.
type Sources struct {
	dir string   // of the main package
	bin string   // where built programs are
	env []string // of the go command

	mu    sync.Mutex
	known known
}

// known is the kept list.
type known struct {
	List *list
	// Shape stands for what decided the list when it was made.
	Shape string
	// Environment stands for the settings and the go command that made it.
	Environment string
	// Sure is set when the list was made again after Shape was taken: before, a change
	// between the two may be missing from both.
	Sure bool
}

// NewSources returns the sources of the main package in dir, whose built programs are
// in the folder bin. env is the environment of the go command.
func NewSources(dir, bin string, env []string) *Sources {
	return &Sources{dir: dir, bin: bin, env: env}
}

// A Reading is one look at the sources.
type Reading struct {
	// Fingerprint stands for all that the program is built of: contents, settings and
	// the go command.
	Fingerprint string

	stamp string // also of times and sizes, so that a change there and back shows
	sure  bool
}

// Read looks at the sources as they are now. It always answers: what cannot be read is
// the build's to report.
func (s *Sources) Read(ctx context.Context) *Reading {
	s.mu.Lock()
	defer s.mu.Unlock()
	environment := environmentOf(s.env)
	if s.known.List == nil {
		s.load()
		if _, err := exec.LookPath("go"); err != nil && s.known.List != nil {
			environment = s.known.Environment // of the build that is there
		}
	}
	k := s.known
	if k.List != nil && k.Sure && !k.List.Partial && k.Environment == environment {
		if r := s.read(k.List, environment); r.shape == k.Shape {
			return r.reading(true)
		}
	}
	made := goList(ctx, s.dir, s.env)
	r := s.read(made, environment)
	sure := k.Environment == environment && k.Shape == r.shape && made.equal(k.List)
	s.known = known{List: made, Shape: r.shape, Environment: environment, Sure: sure}
	if sure && !made.Partial {
		s.save()
	}
	return r.reading(sure)
}

// Folders returns the folders beside the app whose changes matter, from the last
// Read. Changes below dir are the caller's to see.
func (s *Sources) Folders() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	if s.known.List == nil {
		return nil
	}
	for _, path := range s.known.List.Folders {
		if !filepath.IsLocal(filepath.FromSlash(path)) {
			out = append(out, absolute(s.dir, path))
		}
	}
	return out
}

// Reads reports whether a change of the file at path, absolute, can change the
// program.
func (s *Sources) Reads(path string) bool {
	if IsSource(filepath.Base(path)) {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	rel, err := filepath.Rel(s.dir, path)
	if err != nil || s.known.List == nil {
		return false
	}
	rel = filepath.ToSlash(rel)
	if _, found := slices.BinarySearch(s.known.List.Files, rel); found {
		return true
	}
	_, whole := slices.BinarySearch(s.known.List.Whole, filepath.ToSlash(filepath.Dir(filepath.FromSlash(rel))))
	return whole
}

// look is the result of one pass over the files of a list.
type look struct{ content, stamp, shape string }

func (l look) reading(sure bool) *Reading {
	return &Reading{Fingerprint: l.content, stamp: l.stamp, sure: sure}
}

// read goes through the files of a list.
func (s *Sources) read(l *list, environment string) look {
	content, stamp, shape := sha256.New(), sha256.New(), sha256.New()
	for _, to := range []hash.Hash{content, shape} {
		fmt.Fprintln(to, environment)
	}
	for _, path := range l.Files {
		at := absolute(s.dir, path)
		text, err := os.ReadFile(at)
		if err != nil {
			fmt.Fprintf(shape, "%s -\n", path)
			continue
		}
		digest := sha256.Sum256(text)
		fmt.Fprintf(content, "%s %x\n", path, digest)
		switch name := filepath.Base(path); {
		case filepath.Ext(name) == ".go":
			digest = sha256.Sum256(header(text))
			fmt.Fprintf(shape, "%s %x\n", path, digest)
		case IsSource(name):
			fmt.Fprintf(shape, "%s %x\n", path, digest)
		}
		if info, err := os.Stat(at); err == nil {
			fmt.Fprintf(stamp, "%s %d %d\n", path, info.Size(), info.ModTime().UnixNano())
		}
	}
	for _, path := range l.Folders {
		_, whole := slices.BinarySearch(l.Whole, path)
		fmt.Fprintf(shape, "%s/ %q\n", path, names(absolute(s.dir, path), whole))
	}
	sum := func(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }
	return look{content: sum(content), stamp: sum(stamp), shape: sum(shape)}
}

// header is the part of a Go file that decides what else is built: all up to its last
// import, and its embed patterns.
func header(text []byte) []byte {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", text, parser.ImportsOnly)
	if err != nil || file == nil {
		return text
	}
	end := file.Name.End()
	for _, d := range file.Decls {
		end = max(end, d.End())
	}
	offset := files.Position(end).Offset
	if offset > len(text) || bytes.Contains(text, []byte("//line ")) {
		return text
	}
	head := bytes.Clone(text[:offset])
	for line := range bytes.Lines(text[offset:]) {
		if bytes.HasPrefix(bytes.TrimSpace(line), []byte("//go:embed")) {
			head = append(head, line...)
		}
	}
	return head
}

// environmentOf stands for what else decides a build: the settings of the go command,
// and the command itself.
func environmentOf(env []string) string {
	digest := sha256.New()
	var settings []string
	for _, entry := range env {
		name, _, _ := strings.Cut(entry, "=")
		switch {
		case strings.HasPrefix(name, "GO"), strings.HasPrefix(name, "CGO_"), name == "CC", name == "CXX":
			settings = append(settings, entry)
		}
	}
	slices.Sort(settings)
	fmt.Fprintf(digest, "%q %s %s\n", settings, runtime.GOOS, runtime.GOARCH)
	if tool, err := exec.LookPath("go"); err == nil {
		if info, err := os.Stat(tool); err == nil {
			fmt.Fprintln(digest, tool, info.Size(), info.ModTime().UnixNano())
		}
	}
	kept := lookup(env, "GOENV")
	if kept == "" {
		if dir, err := os.UserConfigDir(); err == nil {
			kept = filepath.Join(dir, "go", "env")
		}
	}
	text, _ := os.ReadFile(kept) // there is none unless the user ran go env -w
	digest.Write(text)
	return hex.EncodeToString(digest.Sum(nil))
}

// keptList is the file beside the built programs that holds the list.
const keptList = "sources.json"

func (s *Sources) load() {
	text, err := os.ReadFile(filepath.Join(s.bin, keptList))
	if err != nil {
		return
	}
	var k known
	if json.Unmarshal(text, &k) == nil && k.List != nil {
		s.known = k
	}
}

// save keeps the list for the next process. A list that is not kept is made again.
func (s *Sources) save() {
	text, err := json.Marshal(s.known)
	if err != nil || os.MkdirAll(s.bin, 0o755) != nil {
		return
	}
	fresh, err := os.CreateTemp(s.bin, "sources-*")
	if err != nil {
		return
	}
	_, err = fresh.Write(text)
	if closed := fresh.Close(); err != nil || closed != nil || os.Rename(fresh.Name(), filepath.Join(s.bin, keptList)) != nil {
		_ = os.Remove(fresh.Name())
	}
}
