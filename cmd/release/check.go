package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// changes are the headings of versions in CHANGELOG.md.
var changes = regexp.MustCompile(`(?m)^## \[(\d[^\]]*)\]`) // read only

// newestChange is the newest version that CHANGELOG.md describes.
func newestChange(changelog string) (string, error) {
	m := changes.FindStringSubmatch(changelog)
	if m == nil {
		return "", errors.New("CHANGELOG.md describes no version")
	}
	return m[1], nil
}

// checkVersion refuses what is no version, and one that CHANGELOG.md does not describe.
func checkVersion(version, changelog string) error {
	if !semver.IsValid("v"+version) || semver.Canonical("v"+version) != "v"+version {
		return fmt.Errorf("version %q: want a semantic version such as 0.4.0 or 0.4.0-rc.1, without a v", version)
	}
	if _, err := pythonVersion(version); err != nil {
		return err
	}
	for _, m := range changes.FindAllStringSubmatch(changelog, -1) {
		if m[1] == version {
			return nil
		}
	}
	return fmt.Errorf("CHANGELOG.md has no section %q: say there what users notice", "## ["+version+"]")
}

// checkTree refuses a tree with changes that no commit has, or a Go of another version than
// the one that go.mod names: the bytes would be others.
func checkTree(root string) error {
	changed, err := output(root, "git", "status", "--porcelain")
	if err != nil {
		return err
	}
	if changed != "" {
		return fmt.Errorf("the tree has changes that are not committed:\n%s", changed)
	}
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return err
	}
	file, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		return err
	}
	if file.Toolchain == nil {
		return errors.New("go.mod names no toolchain")
	}
	have, err := output(root, "go", "env", "GOVERSION")
	if err != nil {
		return err
	}
	if have, _, _ = strings.Cut(have, " "); have != file.Toolchain.Name {
		return fmt.Errorf("this is %s, and go.mod names the toolchain %s", have, file.Toolchain.Name)
	}
	return nil
}
