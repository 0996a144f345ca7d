package linked_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/internal/linked"
)

// tree makes folders, files and links ("name -> target") below a new folder.
func tree(t *testing.T, names map[string]string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, target := range names {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if target == "" {
			err = os.WriteFile(path, nil, 0o644)
		} else {
			err = os.Symlink(filepath.FromSlash(target), path)
		}
		if err != nil {
			t.Skipf("no links here: %v", err)
		}
	}
	return root
}

// Links to folders and files are followed, those that lead nowhere are not there, and
// cycles of any length end.
func TestWalk(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{
		"real/host.json": "", "real/Ping/index.js": "", "app": "real", "real/shared": "../lib", "lib/a.js": "",
		"real/b.js": "../lib/a.js", "real/gone": "nowhere", "real/self": ".", "real/Ping/up": "..", "lib/back": "../real",
		"real/loop": "loop", "real/skipped/x.js": "",
	})
	var got []string
	err := linked.Walk(filepath.Join(root, "app"), func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if e.IsDir() {
			rel += "/"
		}
		got = append(got, filepath.ToSlash(rel))
		if e.Name() == "skipped" {
			return fs.SkipDir
		}
		return err
	})
	want := []string{"app/", "app/Ping/", "app/Ping/index.js", "app/b.js", "app/host.json", "app/shared/", "app/shared/a.js", "app/skipped/"}
	if diff := cmp.Diff(got, want); diff != "" || err != nil {
		t.Errorf("walked %v (-got +want):\n%s", err, diff)
	}
}

// Each link on the way to a file is named, also when the file is not there.
func TestWay(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{
		"app/host.json": "..data/host.json", "app/..data": "..1", "app/..1/host.json": "", "plain/x": "", "round": "round", "open": "plain/none/y",
	})
	for path, want := range map[string][]string{
		"app/host.json": {"app/host.json", "app/..data", "-", "app/..1/host.json"},
		"plain/x":       {"-", "plain/x"},
		"open":          {"open", "-", "plain/none/y"},
	} {
		links, end := linked.Way(filepath.Join(root, filepath.FromSlash(path)))
		var got []string
		for _, p := range append(append(links, filepath.Join(root, "-")), end) {
			rel, err := filepath.Rel(root, p)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, filepath.ToSlash(rel))
		}
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("the way of %s (-got +want):\n%s", path, diff)
		}
	}
	if links, _ := linked.Way(filepath.Join(root, "round")); len(links) == 0 {
		t.Error("a link to itself is no link")
	}
}
