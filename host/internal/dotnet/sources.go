package dotnet

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Extensions are the ends of the names of files that a build reads without being told to.
func Extensions() []string {
	return []string{
		".cs", ".csproj", ".fs", ".fsi", ".fsproj", ".vbproj", ".props", ".targets", ".projitems", ".rsp", ".config", ".editorconfig", ".globalconfig",
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
	// Fingerprint stands for what runs after a build: while it stays equal nothing has to be
	// built. A build of other sources may bring the fingerprint that there was before.
	Fingerprint string
	// Folders are those outside the project's own that hold sources, or where a file would
	// become one. Sorted.
	Folders []string
	// Reads reports whether a change of a path may change what is built.
	Reads func(path string, isDir bool) bool
}

// Read reads what a project is built of. The builds of the project are below folder: what
// MSBuild took as input in the last one decides, and before the first one all that may be.
func Read(project, folder string) Sources {
	known := records(folder, project)
	r := unbuilt(project)
	if len(known) > 0 {
		r = known[0]
	}
	s := Sources{Fingerprint: "sources " + digestFiles(r.now())}
	for _, k := range known {
		if len(k.changes()) == 0 {
			r, s.Fingerprint = k, fingerprintOf(k)
			break
		}
	}
	s.Folders, s.Reads = r.folders(), r.reads
	return s
}

// Around returns the files outside the project's folder that a build reads, and that a copy of
// the folder needs beside it. Paths are absolute and sorted.
func Around(project, folder string) (paths []string) {
	r := unbuilt(project)
	if known := records(folder, project); len(known) > 0 {
		r = known[0]
	}
	for path, digest := range r.now() {
		if digest != "" && !below(path, filepath.Dir(project)) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// fingerprintOf is the fingerprint of sources that are built.
func fingerprintOf(r *record) string { return "built " + r.Output }

// folders are those outside the project's own in which something may change.
func (r *record) folders() []string {
	own, set := filepath.Dir(r.Project), map[string]bool{}
	for path := range r.Inputs {
		if dir := filepath.Dir(path); isFolder(dir) {
			set[dir] = true
		}
	}
	for _, path := range r.files() {
		set[filepath.Dir(path)] = true
	}
	for _, root := range r.Roots {
		set[root] = true
	}
	var list []string
	for dir := range set {
		if dir != own && !below(dir, own) {
			list = append(list, dir)
		}
	}
	slices.Sort(list)
	return list
}

func (r *record) reads(path string, isDir bool) bool {
	if _, input := r.Inputs[path]; input && !r.hosts(path) {
		return true
	}
	if !isDir {
		return r.counts(path) && !leftOut(path, r.Roots)
	}
	return r.inRoots(path) && !leftOut(filepath.Join(path, "x"), r.Roots)
}

// leftOut reports whether a path below one of some folders is where nothing is read.
func leftOut(path string, roots []string) bool {
	for _, root := range roots {
		if relative, err := filepath.Rel(root, filepath.Dir(path)); err == nil && filepath.IsLocal(relative) && relative != "." {
			return slices.ContainsFunc(strings.Split(relative, string(filepath.Separator)), Leaves)
		}
	}
	return false
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
