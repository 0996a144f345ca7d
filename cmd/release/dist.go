package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// dist is the folder of a release while it is written. Files get their place in the manifest
// as they come.
type dist struct {
	dir   string
	files []distFile
}

// distFile is a file of a release.
type distFile struct {
	Path    string       `json:"path"` // with slashes, below the folder
	Kind    string       `json:"kind"` // archive, npm, wheel, nuget, maven, oci, formula, manifest, sbom or checksums
	Size    int64        `json:"size"`
	SHA256  string       `json:"sha256"`
	Publish *publication `json:"publish,omitempty"`
}

// publication says under which name a file is published, and when: smaller orders first, so
// that nothing names what is not there.
type publication struct {
	Name  string `json:"name"`
	Order int    `json:"order"`
}

// The order of publications.
const (
	orderPlatforms = iota + 1
	orderCommands
	orderKits
	orderImage
	orderPage    // the release's page, with the archives
	orderFormula // names the archives
)

// manifest lists the files of a release.
type manifest struct {
	Version string     `json:"version"`
	Commit  string     `json:"commit"`
	Date    string     `json:"date"`
	Files   []distFile `json:"files"` // by path
}

const (
	manifestFile  = "manifest.json"
	checksumsFile = "checksums.txt"
)

// add writes a file.
func (d *dist) add(name, kind string, data []byte, publish *publication) error {
	file := filepath.Join(d.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(file, data, 0o644); err != nil {
		return err
	}
	d.note(name, kind, data, publish)
	return nil
}

// note lists a file that was written.
func (d *dist) note(name, kind string, data []byte, publish *publication) {
	d.files = append(d.files, distFile{name, kind, int64(len(data)), sum(data), publish})
}

// hashOf is the hash of a file that was added.
func (d *dist) hashOf(name string) string {
	i := slices.IndexFunc(d.files, func(f distFile) bool { return f.Path == name })
	if i < 0 {
		return ""
	}
	return d.files[i].SHA256
}

func sum(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

// finish writes the checksums and the manifest.
func (d *dist) finish(r *release) error {
	byPath := func(a, b distFile) int { return strings.Compare(a.Path, b.Path) }
	slices.SortFunc(d.files, byPath)
	if err := d.add(checksumsFile, "checksums", checksums(d.files), &publication{r.names.Repository.Name, orderPage}); err != nil {
		return err
	}
	slices.SortFunc(d.files, byPath)
	text, err := json.MarshalIndent(manifest{r.version, r.commit, r.date.Format("2006-01-02"), d.files}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(d.dir, manifestFile), append(text, '\n'), 0o644)
}

// checksums is the list in the form of sha256sum.
func checksums(files []distFile) []byte {
	var b strings.Builder
	for _, f := range files {
		if f.Path != checksumsFile {
			fmt.Fprintf(&b, "%s  %s\n", f.SHA256, f.Path)
		}
	}
	return []byte(b.String())
}
