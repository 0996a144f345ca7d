package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// tagline is what package managers show.
const tagline = "Runs an Azure Functions app on your machine and shows, controls and tests every delivery and every attempt."

// release is what every file of one is made from.
type release struct {
	version   string // semantic, without a v
	commit    string
	date      time.Time // of the commit, never of today
	root      string    // folder of the repository
	names     Names
	platforms []platform
	snapshot  bool // a build of any tree, which may lack what this machine cannot make

	license    []byte
	readme     []byte
	thirdParty []byte
	manual     []manualFile // completions and manual pages
}

// newRelease reads what the repository says. A snapshot is of the newest version in
// CHANGELOG.md, and of any tree.
func newRelease(root, version string, snapshot bool, of []platform) (*release, error) {
	r := &release{version: version, root: root, platforms: of, snapshot: snapshot}
	changelog, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	if err != nil {
		return nil, err
	}
	switch {
	case snapshot && version == "":
		newest, err := newestChange(string(changelog))
		if err != nil {
			return nil, err
		}
		r.version = newest + "-dev.0"
	case snapshot:
	default:
		if err := errors.Join(checkVersion(version, string(changelog)), checkTree(root), checkTools()); err != nil {
			return nil, err
		}
	}
	if r.names, err = readNames(); err != nil {
		return nil, err
	}
	if r.commit, err = output(root, "git", "describe", "--always", "--dirty", "--abbrev=7", "--exclude", "*"); err != nil {
		return nil, err
	}
	when, err := output(root, "git", "log", "-1", "--format=%cI")
	if err != nil {
		return nil, err
	}
	if r.date, err = time.Parse(time.RFC3339, when); err != nil {
		return nil, err
	}
	r.date = r.date.UTC()
	if r.license, err = os.ReadFile(filepath.Join(root, "LICENSE")); err != nil {
		return nil, err
	}
	r.readme, err = os.ReadFile(filepath.Join(root, "README.md"))
	return r, err
}

// make compiles the program and writes a release into the folder out, which may hold an
// older one.
func (r *release) make(b build, out string) error {
	if err := replaceable(out); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	files, all := map[string]string{}, []string{}
	for _, p := range r.platforms {
		file, err := b.compile(r, p, work)
		if err != nil {
			return err
		}
		files[p.String()] = file
		all = append(all, file)
	}
	own := files[runtime.GOOS+"/"+runtime.GOARCH]
	if own == "" { // it writes its manual itself
		if own, err = b.compile(r, platform{os: runtime.GOOS, arch: runtime.GOARCH}, work); err != nil {
			return err
		}
	}
	if r.manual, err = r.readManual(own); err != nil {
		return err
	}
	if r.thirdParty, err = thirdPartyLicenses(r.root, all); err != nil {
		return err
	}
	return replace(out, func(dir string) error { return r.pack(files, dir) })
}

// replace has write fill a folder beside out and puts it in the place of out. Where it fails,
// what was there stays, and nothing else does.
func replace(out string, write func(dir string) error) error {
	parent := filepath.Dir(out)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(parent, ".release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := errors.Join(os.Chmod(dir, 0o755), write(dir)); err != nil {
		return err
	}
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	return os.Rename(dir, out)
}

// replaceable refuses a folder that holds something else than a release.
func replaceable(out string) error {
	list, err := os.ReadDir(out)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(list) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(out, manifestFile)); err != nil {
		return fmt.Errorf("%s holds something else than a release: name another folder, or empty it", out)
	}
	return nil
}

// pack writes every file of the release from the programs of the platforms.
func (r *release) pack(files map[string]string, out string) error {
	d := &dist{dir: out}
	linux := map[string][]byte{}
	for _, p := range r.platforms {
		program, err := os.ReadFile(files[p.String()])
		if err != nil {
			return err
		}
		if p.os == "linux" {
			linux[p.String()] = program
		}
		for _, write := range []func(*dist, platform, []byte) error{r.archive, r.npmPlatform, r.commandWheel, r.mavenJar} {
			if err := write(d, p, program); err != nil {
				return fmt.Errorf("%s: %w", p, err)
			}
		}
		if err := r.sbom(d, p, files[p.String()]); err != nil {
			return err
		}
	}
	for _, write := range []func(*dist) error{r.npmCommand, r.mavenCommand, r.kits, r.homebrew, r.scoop} {
		if err := write(d); err != nil {
			return err
		}
	}
	if err := r.nugetProgram(d, files); err != nil {
		return err
	}
	if err := r.image(d, linux); err != nil {
		return err
	}
	return d.finish(r)
}
