package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file that is changed, missing or not listed is named; the others are printed.
func TestVerify(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		change func(dir string) error
		want   string // in the error; empty: none
	}{
		{"as it was made", func(string) error { return nil }, ""},
		{"a changed byte", func(dir string) error { return flip(filepath.Join(dir, "homebrew", "redeliver.rb")) }, "homebrew/redeliver.rb: has "},
		{"a changed byte in the image", func(dir string) error { return flip(filepath.Join(dir, "oci", "index.json")) }, "oci/index.json: has "},
		{"a changed checksum", func(dir string) error { return flip(filepath.Join(dir, checksumsFile)) }, "checksums.txt does not agree with manifest.json"},
		{"a missing file", func(dir string) error { return os.Remove(filepath.Join(dir, "scoop", "redeliver.json")) }, "scoop/redeliver.json: is missing"},
		{"another file", func(dir string) error { return os.WriteFile(filepath.Join(dir, "npm", "more.tgz"), nil, 0o644) }, "npm/more.tgz: is not listed"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			dir := copied(t)
			if err := row.change(dir); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			err := verify(dir, &out)
			switch {
			case row.want == "" && err != nil:
				t.Error(err)
			case row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)):
				t.Errorf("verify = %v, want %q", err, row.want)
			}
			m, err := readManifest(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range m.Files {
				if printed := strings.Contains(out.String(), "  "+f.Path+"\n"); !printed && !strings.HasPrefix(row.want, f.Path) {
					t.Errorf("%s is not printed", f.Path)
				}
			}
		})
	}
}

// copied is a release that a test may change.
func copied(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "dist")
	if err := os.CopyFS(dir, os.DirFS(packed(t))); err != nil {
		t.Fatal(err)
	}
	return dir
}

func flip(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	data[len(data)/2] ^= 1
	return os.WriteFile(file, data, 0o644)
}

// What others name is published first, and nothing under a name that is not owned.
func TestPublish(t *testing.T) {
	t.Parallel()
	dir := copied(t)
	names, err := readNames()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := publish(dir, names, true, &out); err != nil {
		t.Fatal(err)
	}
	last := -1
	for _, part := range []string{
		"npm publish " + filepath.Join(dir, "npm", "redeliver-cli-linux-x64-0.4.0-rc.1.tgz") + " --access public --provenance  (refused: the name is not owned)",
		"npm publish " + filepath.Join(dir, "npm", "redeliver-cli-0.4.0-rc.1.tgz"),
		"twine upload", "skopeo copy --all", "gh release create v0.4.0-rc.1 --repo github.com/redeliver/redeliver", "by hand: commit " + filepath.Join(dir, "homebrew", "redeliver.rb"),
	} {
		at := strings.Index(out.String(), part)
		if part != "twine upload" && at < last || at < 0 {
			t.Errorf("%q stands at %d, before %d, in\n%s", part, at, last, out.String())
		}
		last = at
	}
	if n := strings.Count(out.String(), "skopeo"); n != 1 {
		t.Errorf("%d times the image", n)
	}
	err = publish(dir, names, false, &out)
	if err == nil || !strings.Contains(err.Error(), "@redeliver/cli") || !strings.Contains(err.Error(), "nothing is published") {
		t.Errorf("publish = %v, want a refusal", err)
	}
	if err := flip(filepath.Join(dir, checksumsFile)); err != nil {
		t.Fatal(err)
	}
	if err := publish(dir, names, true, &out); err == nil {
		t.Error("a damaged release is published")
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	const changelog = "# Changelog\n\n## [0.4.0]\n\n## [0.4.0-rc.1]\n\n## [0.4.0+x]\n\n## [v0.3.0]\n\n## [0.4]\n\n## [0.4.0-nightly]\n"
	for version, want := range map[string]string{
		"0.4.0": "", "0.4.0-rc.1": "",
		"0.5.0": `no section "## [0.5.0]"`, "v0.4.0": "semantic version", "0.4": "semantic version", "": "semantic version", "0.4.0+x": "semantic version", "0.4.0-nightly": "Python has no form",
	} {
		if err := checkVersion(version, changelog); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("version %q: %v, want %q", version, err, want)
		}
	}
	for version, want := range map[string]string{"0.4.0": "0.4.0", "0.4.0-rc.1": "0.4.0rc1", "1.0.0-alpha.2": "1.0.0a2", "1.0.0-beta.10": "1.0.0b10", "0.1.0-dev.0": "0.1.0.dev0"} {
		if got, err := pythonVersion(version); got != want || err != nil {
			t.Errorf("pythonVersion(%q) = %q, %v, want %q", version, got, err, want)
		}
	}
	if got, err := newestChange("# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-12-01\n## [0.1.0]\n"); got != "0.2.0" || err != nil {
		t.Errorf("newest %q, %v", got, err)
	}
	if _, err := parsePlatforms("linux/amd64,plan9/386"); err == nil || !strings.Contains(err.Error(), `"plan9/386"`) {
		t.Errorf("an unknown platform: %v", err)
	}
}

// A folder that holds something else than a release is left alone.
func TestReplaceable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := replaceable(filepath.Join(dir, "none")); err != nil {
		t.Error(err)
	}
	if err := replaceable(dir); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "thesis.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := replaceable(dir); err == nil {
		t.Error("a folder with a thesis is replaced")
	}
}

func TestManualPage(t *testing.T) {
	t.Parallel()
	r := &release{version: "0.4.0"}
	page := r.page(command{Path: "redeliver send queue", Usage: "redeliver send queue NAME", Short: "Put a message", Long: "Puts it.\n.hidden\n\n'quoted' and a\\b", Example: "  redeliver send queue orders -"})
	for _, want := range []string{`.TH "REDELIVER-SEND-QUEUE" 1 `, "redeliver\\-send\\-queue \\- Put a message\n", "\n\\&.hidden\n", "\n\\&'quoted' and a\\eb\n", ".nf\n  redeliver send queue orders \\-\n.fi\n"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
}

// A release that fails leaves the one before it as it was, and no folder beside it.
func TestFailedReleaseLeavesTheOldOne(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	out := filepath.Join(parent, "dist")
	write := func(text string, end error) error {
		return replace(out, func(dir string) error {
			return errors.Join(os.WriteFile(filepath.Join(dir, manifestFile), []byte(text), 0o644), end)
		})
	}
	failed := errors.New("no disk")
	if err := errors.Join(write("old", nil), write("older", nil)); err != nil {
		t.Fatal(err)
	}
	if err := write("new", failed); !errors.Is(err, failed) {
		t.Fatalf("the release ended with %v", err)
	}
	list, err := os.ReadDir(parent)
	if err != nil || len(list) != 1 {
		t.Fatalf("beside the release: %v, %v", list, err)
	}
	if text := string(read(t, out, manifestFile)); text != "older" || replaceable(out) != nil {
		t.Errorf("the release is %q", text)
	}
}
