package dotnet

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/redeliver/redeliver/host/internal/linked"
)

// record is what a build leaves in its output folder of itself.
type record struct {
	// Project is the project file; Assembly is what it has become, relative to the folder.
	Project, Assembly string
	// Inputs are the digests of what it was built of, by path; "" of a file that was not
	// there and would count.
	Inputs map[string]string
	// Others are the files beside these that are no inputs. Roots are the folders of the
	// projects.
	Others, Roots []string
	// Names are the items that the project files name. Doubt is why the inputs may not be
	// all; Wild is set when patterns name inputs.
	Names []string
	Doubt string
	Wild  bool
	// Env stands for what the environment gives the build, Output for what came of it.
	Env, Output string
	Built       time.Time

	folder string              // of the output
	beside map[string][]string // see elsewhere
}

// recordFile is the name of a record in an output folder.
const recordFile = ".redeliver-build.json"

// records are those of a project below a folder, the newest first.
func records(folder, project string) (list []*record) {
	entries, _ := os.ReadDir(folder) // nothing is built before it is there
	for _, e := range entries {
		if r := readRecord(filepath.Join(folder, e.Name())); e.IsDir() && r != nil && r.Project == project {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b *record) int { return b.Built.Compare(a.Built) })
	return list
}

func readRecord(folder string) *record {
	text, err := os.ReadFile(filepath.Join(folder, recordFile))
	if err != nil {
		return nil
	}
	r := &record{folder: folder}
	if json.Unmarshal(text, r) != nil || r.Assembly == "" || !isFile(r.assembly()) {
		return nil
	}
	return r
}

// write puts the record into its folder in one step.
func (r *record) write() error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	fresh := filepath.Join(r.folder, recordFile+".new")
	if err := os.WriteFile(fresh, text, 0o600); err != nil {
		return err
	}
	return os.Rename(fresh, filepath.Join(r.folder, recordFile))
}

func (r *record) assembly() string { return filepath.Join(r.folder, r.Assembly) }

// unbuilt is what is known of a project before it has been built: all files in its folder and
// in those of the projects that it names may count.
func unbuilt(project string) *record {
	r := &record{Project: project, Inputs: map[string]string{}, Wild: true}
	r.refer(project)
	for _, root := range r.Roots {
		for _, path := range above(root) {
			r.Inputs[path] = ""
		}
	}
	return r
}

// reference matches a project that another refers to.
var reference = regexp.MustCompile(`<ProjectReference\s[^>]*Include\s*=\s*"([^"]+)"`)

// refer takes up a project's folder, and those of the projects that it refers to.
func (r *record) refer(project string) {
	dir := filepath.Dir(project)
	if _, seen := r.Inputs[project]; seen {
		return
	}
	r.Inputs[project] = ""
	if !slices.Contains(r.Roots, dir) {
		r.Roots = append(r.Roots, dir)
	}
	for _, found := range reference.FindAllStringSubmatch(contentOf(project), -1) {
		other := filepath.FromSlash(strings.ReplaceAll(found[1], `\`, "/"))
		if !filepath.IsAbs(other) {
			other = filepath.Join(dir, other)
		}
		if isFile(other) {
			r.refer(other)
		}
	}
}

// above are the files that a build of a project looks for in its folder and above it, whether
// they are there or not.
func above(dir string) (paths []string) {
	for ; ; dir = filepath.Dir(dir) {
		for _, name := range []string{
			"Directory.Build.props", "Directory.Build.targets", "Directory.Build.rsp", "Directory.Packages.props", "global.json", "NuGet.Config", "nuget.config", "NuGet.config", ".editorconfig", ".globalconfig",
		} {
			paths = append(paths, filepath.Join(dir, name))
		}
		if dir == filepath.Dir(dir) {
			return paths
		}
	}
}

// files are the files below the folders of the projects, and those beside inputs elsewhere
// that are of the same kind: patterns may name them.
func (r *record) files() (paths []string) {
	for _, root := range r.Roots {
		_ = linked.Walk(root, func(path string, e fs.DirEntry, err error) error {
			switch {
			case err != nil: // it has just gone, or cannot be read
			case e.IsDir() && path != root && Leaves(e.Name()):
				return filepath.SkipDir
			case !e.IsDir():
				paths = append(paths, path)
			}
			return nil
		})
	}
	for folder := range r.elsewhere() {
		entries, _ := os.ReadDir(folder)
		for _, e := range entries {
			if !e.IsDir() {
				paths = append(paths, filepath.Join(folder, e.Name()))
			}
		}
	}
	paths = slices.DeleteFunc(paths, func(path string) bool { return !r.counts(path) })
	slices.Sort(paths)
	return slices.Compact(paths)
}

// elsewhere are the folders outside the projects' that hold inputs of a kind that compilers
// read, with the ends of their names.
func (r *record) elsewhere() map[string][]string {
	if r.beside != nil {
		return r.beside
	}
	out := map[string][]string{}
	for path, digest := range r.Inputs {
		folder, end := filepath.Dir(path), strings.ToLower(filepath.Ext(path))
		if digest != "" && !r.inRoots(path) && !slices.Contains(projectEnds, end) && !slices.Contains(out[folder], end) {
			out[folder] = append(out[folder], end)
		}
	}
	r.beside = out
	return out
}

// projectEnds are the ends of the names of files that are imported one by one.
var projectEnds = []string{".props", ".targets", ".csproj", ".fsproj", ".vbproj", ".proj", ".projitems", ".rsp", ".config", ".editorconfig", ".globalconfig"} // read only

func (r *record) inRoots(path string) bool {
	return slices.ContainsFunc(r.Roots, func(root string) bool { return below(path, root) })
}

// counts reports whether a path, which is no input and not known to be none, may be an input.
func (r *record) counts(path string) bool {
	if r.hosts(path) {
		return false
	}
	if _, known := r.Inputs[path]; known {
		return true
	}
	if _, known := slices.BinarySearch(r.Others, path); known {
		return false
	}
	end := strings.ToLower(filepath.Ext(path))
	if !r.inRoots(path) {
		return slices.Contains(r.elsewhere()[filepath.Dir(path)], end)
	}
	return r.Wild || slices.Contains(Extensions(), end)
}

// hosts reports whether a file is for the host: it reads it itself, and no build is needed
// for it.
func (r *record) hosts(path string) bool {
	name := filepath.Base(path)
	return (name == settingsFile || name == hostFile) && filepath.Dir(path) == filepath.Dir(r.Project)
}

// The host reads these, and a worker sees no copy of the first.
const (
	settingsFile = "local.settings.json"
	hostFile     = "host.json"
)

// now is a digest of each file that counts, as it is now.
func (r *record) now() map[string]string {
	out := map[string]string{}
	for path := range r.Inputs {
		out[path] = digestOf(path)
	}
	for _, path := range r.files() {
		if _, known := out[path]; !known {
			out[path] = digestOf(path)
		}
	}
	return out
}

// changes are the paths of what has changed since the build, in order.
func (r *record) changes() (paths []string) {
	for path, digest := range r.now() {
		if was, known := r.Inputs[path]; !known || was != digest {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// mostHashed is the size from which a file is known by its time instead of its content.
const mostHashed = 4 << 20

// digestOf stands for the content of a file, "" when there is none.
func digestOf(path string) string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	if info.Size() > mostHashed {
		return fmt.Sprint(info.Size(), " ", info.ModTime().UnixNano())
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:16])
}

// digestFiles stands for files by their digests.
func digestFiles(files map[string]string) string {
	digest := sha256.New()
	paths := make([]string, 0, len(files))
	for path := range files {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	for _, path := range paths {
		fmt.Fprintf(digest, "%s\x00%s\x00", path, files[path])
	}
	return hex.EncodeToString(digest.Sum(nil))
}
