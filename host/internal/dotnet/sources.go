package dotnet

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/internal/linked"
)

// Extensions are the ends of the names of files that a build reads. Files of other kinds
// may be what the app itself writes.
func Extensions() []string {
	return []string{
		".cs", ".csproj", ".fs", ".fsi", ".fsproj", ".vbproj", ".props", ".targets", ".config", ".editorconfig",
		".json", ".resx", ".razor", ".cshtml", ".proto", ".xml",
	}
}

// Leaves reports whether a folder of that name holds nothing that a build reads: what
// builds, editors and version control write (spec workers-dotnet-java 1.13).
func Leaves(name string) bool {
	return strings.EqualFold(name, "bin") || strings.EqualFold(name, "obj") || name == "node_modules" || strings.HasPrefix(name, ".")
}

// Sources are what a project is built of.
type Sources struct {
	// Fingerprint stands for the contents.
	Fingerprint string
	// Folders are those outside the project's own that hold sources: of the projects that
	// it refers to, with all below them. Sorted.
	Folders []string
}

// reference matches a project that another refers to.
var reference = regexp.MustCompile(`<ProjectReference\s[^>]*Include\s*=\s*"([^"]+)"`)

// above are the files that a build looks for in the folders above a project.
var above = []string{ // read only
	"Directory.Build.props", "Directory.Build.targets", "Directory.Packages.props", "global.json", "NuGet.Config", "nuget.config",
}

// settingsFile is read by the host, and not copied for the worker to see.
const settingsFile = "local.settings.json"

// Read reads what a project is built of.
func Read(project string) Sources {
	r := reading{files: map[string]bool{}, folders: map[string]bool{}, seen: map[string]bool{}}
	r.project(project)
	own := filepath.Dir(project)
	digest := sha256.New()
	for _, path := range sorted(r.files) {
		content, err := os.ReadFile(path)
		if err != nil {
			continue // it has just gone
		}
		name, err := filepath.Rel(own, path)
		if err != nil {
			name = path
		}
		fmt.Fprintf(digest, "%s\x00%d\x00", filepath.ToSlash(name), len(content))
		digest.Write(content)
	}
	s := Sources{Fingerprint: hex.EncodeToString(digest.Sum(nil))}
	for _, folder := range sorted(r.folders) {
		if rel, err := filepath.Rel(own, folder); err != nil || !filepath.IsLocal(rel) {
			s.Folders = append(s.Folders, folder)
		}
	}
	return s
}

// reading is one Read.
type reading struct{ files, folders, seen map[string]bool }

func (r *reading) project(path string) {
	if r.seen[path] {
		return
	}
	r.seen[path] = true
	dir := filepath.Dir(path)
	_ = linked.Walk(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil: // it has just gone, or cannot be read
		case e.IsDir() && path != dir && Leaves(e.Name()):
			return filepath.SkipDir
		case e.IsDir():
			r.folders[path] = true
		case e.Name() != settingsFile && slices.Contains(Extensions(), strings.ToLower(filepath.Ext(path))):
			r.files[path] = true
		}
		return nil
	})
	for parent := filepath.Dir(dir); ; parent = filepath.Dir(parent) {
		for _, name := range above {
			if file := filepath.Join(parent, name); isFile(file) {
				r.files[file] = true
			}
		}
		if parent == filepath.Dir(parent) {
			break
		}
	}
	for _, found := range reference.FindAllStringSubmatch(contentOf(path), -1) {
		other := filepath.FromSlash(strings.ReplaceAll(found[1], `\`, "/"))
		if !filepath.IsAbs(other) {
			other = filepath.Join(dir, other)
		}
		if isFile(other) {
			r.project(other)
		}
	}
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

func sorted(set map[string]bool) []string {
	list := make([]string, 0, len(set))
	for path := range set {
		list = append(list, path)
	}
	slices.Sort(list)
	return list
}
