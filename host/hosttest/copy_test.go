package hosttest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
)

// A copy of an app is a copy: whatever links lead out of the app, an edit or a removal
// reaches no file outside it, and not the app.
func TestCopyOfLinks(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	put := func(name string) {
		t.Helper()
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		text := "outside"
		if filepath.Ext(name) == ".json" {
			text = `{"version": "2.0"}`
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files := []string{"outside/file.txt", "outside/folder/file.txt", "outside/folder/deep/file.txt", "outside/package/index.js", "outside/host.json", "real/within/file.txt", "real/node_modules/own/index.js"}
	for _, name := range files {
		put(name)
	}
	for link, target := range map[string]string{
		"app": "real", "real/host.json": "../outside/host.json", "real/file.txt": "../outside/file.txt", "real/folder": "../outside/folder",
		"outside/folder/again": "../folder", "real/node_modules/package": "../../outside/package", "real/inner": "within", "real/up": "..",
		"real/absolute": filepath.Join(root, "outside", "folder"), "real/nothing.txt": filepath.Join(root, "outside", "nothing.txt"),
	} {
		if err := os.Symlink(filepath.FromSlash(target), filepath.Join(root, filepath.FromSlash(link))); err != nil {
			t.Skip("this system has no links for us: ", err)
		}
	}
	changes := []string{"file.txt", "folder/file.txt", "folder/deep/file.txt", "absolute/file.txt", "node_modules/package/index.js", "inner/file.txt", "within/file.txt", "up/outside/file.txt", "nothing.txt", "host.json"}
	for _, change := range []struct {
		name string
		make func(h *hosttest.Host, name string) error
	}{
		{"edit", func(h *hosttest.Host, name string) error { return h.Edit(name, `{"version": "2.0", "changed": 1}`) }},
		{"remove", func(h *hosttest.Host, name string) error { return h.Remove(name) }},
	} {
		t.Run(change.name, func(t *testing.T) {
			h := hosttest.New(t, &hosttest.Options{Dir: filepath.Join(root, "app"), Files: map[string]string{"folder/new.txt": "new"}, Handlers: functions.New()})
			for _, name := range changes {
				if change.name == "remove" && name == "within/file.txt" {
					continue // the same file, which is gone by the link's name
				}
				if change.name == "edit" && name != "nothing.txt" {
					if got, err := os.ReadFile(filepath.Join(h.Dir(), filepath.FromSlash(name))); err != nil || len(got) == 0 {
						t.Errorf("%s is not in the copy: %q, %v", name, got, err)
					}
				}
				if err := change.make(h, name); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			for _, name := range files {
				want := "outside"
				if filepath.Ext(name) == ".json" {
					want = `{"version": "2.0"}`
				}
				if got, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name))); err != nil || string(got) != want {
					t.Errorf("%s outside of the copy is %q, %v", name, got, err)
				}
			}
			for _, name := range []string{"outside/nothing.txt", "outside/folder/new.txt"} {
				if _, err := os.Lstat(filepath.Join(root, filepath.FromSlash(name))); err == nil {
					t.Errorf("%s is there, outside of the copy", name)
				}
			}
			if got, err := os.ReadFile(filepath.Join(h.Dir(), "within", "file.txt")); change.name == "edit" && (err != nil || string(got) == "outside") {
				t.Errorf("a link within the copy leads elsewhere: %q, %v", got, err)
			}
		})
	}
}
