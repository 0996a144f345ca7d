package watch

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/app/hostjson"
	"github.com/redeliver/redeliver/host/internal/dotnet"
	"github.com/redeliver/redeliver/host/internal/gobuild"
)

// The effect of a change (spec host-and-retry 7.1): the first matching row of the
// table wins.
func TestClassify(t *testing.T) {
	t.Parallel()
	const write, create, remove, rename, chmod = fsnotify.Write, fsnotify.Create, fsnotify.Remove, fsnotify.Rename, fsnotify.Chmod
	source := app.HandlerSpec{Kind: app.GoSource}
	dotnetProject := app.HandlerSpec{Kind: app.Language, Worker: true, Extensions: dotnet.Extensions(), Leaves: dotnet.Leaves}
	executable := func(path string) app.HandlerSpec { return app.HandlerSpec{Kind: app.Executable, Path: path} }
	for _, tt := range []struct {
		name    string
		rel     string
		op      fsnotify.Op
		isDir   bool
		folders string // at the last load; "" for the present ones: Orders, lib, node_modules
		handler app.HandlerSpec
		want    action
	}{
		// Row 1: the first path segment is in watchDirectories.
		{name: "watched directory", rel: "lib/deep/data.txt", op: write, want: reloadConfig},
		{name: "watched directory, itself", rel: "lib", op: create, isDir: true, want: reloadConfig},
		{name: "watched directory in another case", rel: "Lib/data.txt", op: write, want: ignore},
		{name: "watched directory below another", rel: "Orders/lib/data.txt", op: write, want: ignore},
		{name: "node_modules", rel: "node_modules/a/index.js", op: write, want: reloadConfig},
		{name: "first rule wins over the handler's", rel: "lib/lib.go", op: write, want: reloadConfig},

		// Rows 2 and 3: app_offline.htm.
		{name: "offline file appears", rel: "app_offline.htm", op: create, want: reloadNow},
		{name: "offline file changes", rel: "app_offline.htm", op: write, want: reloadNow},
		{name: "offline file in any case", rel: "APP_Offline.HTM", op: create, want: reloadNow},
		{name: "offline file deleted", rel: "app_offline.htm", op: remove, want: reloadConfig},
		{name: "offline file renamed away", rel: "app_offline.htm", op: rename, want: reloadConfig},
		{name: "offline file elsewhere", rel: "Orders/app_offline.htm", op: create, want: ignore},

		// Row 4: the file's name is in watchFiles, at any depth, in any case.
		{name: "host.json", rel: "host.json", op: write, want: reloadConfig},
		{name: "host.json in another case", rel: "HOST.json", op: write, want: reloadConfig},
		{name: "function.json", rel: "Orders/function.json", op: write, want: reloadConfig},
		{name: "function.json, deep", rel: "a/b/c/function.json", op: write, want: reloadConfig},
		{name: "function.json, replaced", rel: "Orders/function.json", op: rename, want: reloadConfig},
		{name: "function.json, deleted", rel: "Orders/function.json", op: remove, want: reloadConfig},
		{name: "function.json, touched", rel: "Orders/function.json", op: chmod, want: ignore},
		{name: "function.json, touched and written", rel: "Orders/function.json", op: chmod | write, want: reloadConfig},
		{name: "proxies.json", rel: "proxies.json", op: write, want: reloadConfig},
		{name: "own watch file", rel: "x/rules.xml", op: write, want: reloadConfig},
		{name: "own watch file in another case", rel: "x/Rules.XML", op: write, want: reloadConfig},
		{name: "name that only ends so", rel: "Orders/my-function.json", op: write, want: ignore},

		// Row 5: the set of direct sub-folders has changed.
		{name: "new folder", rel: "New", op: create, isDir: true, folders: "lib/node_modules/", want: reloadConfig},
		{name: "folder gone", rel: "Old", op: remove, folders: "Old/Orders/lib/node_modules/", want: reloadConfig},
		{name: "folder renamed", rel: "Old", op: rename, folders: "Old/Orders/lib/node_modules/", want: reloadConfig},
		{name: "new folder below", rel: "Orders/sub", op: create, isDir: true, handler: executable("bin/handler"), want: ignore},
		{name: "new folder below, of a Go app", rel: "Orders/sub", op: create, isDir: true, handler: source, want: reloadHandler},
		{name: "file deleted, same folders", rel: "Orders/notes.txt", op: remove, want: ignore},
		{name: "file written, other folders", rel: "notes.txt", op: write, folders: "Old/", want: ignore},

		// Row 6: files of the running handler.
		{name: "Go source", rel: "main.go", op: write, handler: source, want: reloadHandler},
		{name: "Go source, deep", rel: "a/b/c.go", op: create, handler: source, want: reloadHandler},
		{name: "Go source, deleted", rel: "a/b/c.go", op: remove, handler: source, want: reloadHandler},
		{name: "go.mod", rel: "go.mod", op: write, handler: source, want: reloadHandler},
		{name: "go.sum", rel: "go.sum", op: write, handler: source, want: reloadHandler},
		{name: "go.work", rel: "go.work", op: write, handler: source, want: reloadHandler},
		{name: "assembly", rel: "sum/sum_amd64.s", op: write, handler: source, want: reloadHandler},
		{name: "Go test", rel: "main_test.go", op: write, handler: source, want: ignore},
		{name: "no handler yet", rel: "main.go", op: write, want: reloadHandler},
		{name: "prebuilt handler", rel: "bin/handler", op: write, handler: executable("bin/handler"), want: reloadHandler},
		{name: "folder of the prebuilt handler", rel: "bin", op: create, isDir: true, handler: executable("bin/handler"), want: reloadHandler},
		{name: "other file beside it", rel: "bin/other", op: write, handler: executable("bin/handler"), want: ignore},
		{name: "Go source with a prebuilt handler", rel: "main.go", op: write, handler: executable("bin/handler"), want: ignore},
		{name: "name that only ends in go", rel: "cargo", op: write, handler: source, want: ignore},

		{name: "source of .NET", rel: "Models/Order.cs", op: write, handler: dotnetProject, want: reloadHandler},
		{name: "project of .NET", rel: "Shop.csproj", op: write, handler: dotnetProject, want: reloadHandler},
		{name: "new folder of .NET, deep", rel: "Orders/Models", op: create, isDir: true, handler: dotnetProject, want: reloadHandler},
		{name: "written by a build of .NET", rel: "obj/Debug/Made.cs", op: create, handler: dotnetProject, want: ignore},
		{name: "folder of a build of .NET", rel: "bin", op: create, isDir: true, folders: "Orders/lib/", handler: dotnetProject, want: ignore},
		{name: "other file of a project of .NET", rel: "Orders/data.db", op: write, handler: dotnetProject, want: ignore},
		{name: "output of .NET", rel: "App.dll", op: write, handler: app.HandlerSpec{Kind: app.Language, Worker: true, Extensions: []string{".dll"}}, want: reloadHandler},

		// Row 8: anything else.
		{name: "README", rel: "README.md", op: write, want: ignore},
		{name: "data", rel: "Orders/sample.dat", op: write, want: ignore},

		// Ours: nothing is loaded again, but it is said.
		{name: "local.settings.json is read once", rel: "local.settings.json", op: write, want: reloadHandler},

		// Ours: never watched.
		{name: "state of the host", rel: ".redeliver/bin/handler.go", op: write, want: ignore},
		{name: "git", rel: ".git/function.json", op: write, want: ignore},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for _, sub := range []string{"Orders", "lib", "node_modules", ".git"} {
				if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if tt.handler.Path != "" {
				tt.handler.Path = filepath.Join(dir, filepath.FromSlash(tt.handler.Path))
			}
			w := watchingIn(dir, &app.App{Handler: tt.handler, Config: hostjson.Config{
				WatchDirectories: []string{"lib", "node_modules"},
				WatchFiles:       []string{"rules.xml", "host.json", "function.json", "proxies.json"},
			}})
			if tt.folders == "" {
				tt.folders = w.functionFolders()
			}
			if got := w.classify(tt.rel, tt.op, tt.isDir, tt.folders); got != tt.want {
				t.Errorf("classify(%q, %v) = %d, want %d", tt.rel, tt.op, got, tt.want)
			}
		})
	}
}

// Every further change restarts the wait, and a handler's shorter one does not
// cut a configuration's.
func TestPostpone(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(ms int) time.Time { return now.Add(time.Duration(ms) * time.Millisecond) }
	var due time.Time
	for _, step := range []struct {
		at    int
		quiet time.Duration
		want  int
	}{
		{0, configQuiet, 500},
		{100, configQuiet, 600},
		{200, handlerQuiet, 600},
		{400, handlerQuiet, 700},
		{600, configQuiet, 1100},
	} {
		if due = postpone(due, at(step.at), step.quiet); !due.Equal(at(step.want)) {
			t.Errorf("after the change at %d ms: due at %v, want %d ms", step.at, due.Sub(now), step.want)
		}
	}
	if configQuiet != 500*time.Millisecond || handlerQuiet != 300*time.Millisecond {
		t.Errorf("quiet times are %v and %v", configQuiet, handlerQuiet)
	}
}

// The folders that matter are watched, and none of the huge ones.
func TestWatchedFolders(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "app")
	for _, name := range []string{"Orders/sub", "node_modules/a/b", ".git/objects", ".redeliver/bin", "web/node_modules/x", "__pycache__", ".venv/lib"} {
		if err := os.MkdirAll(filepath.Join(root, filepath.FromSlash(name)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w := watchingIn(root, nil)
	var watched []string
	for path := range w.watchedFolders() {
		rel, err := filepath.Rel(root, path)
		if err != nil {
			t.Fatal(err)
		}
		watched = append(watched, filepath.ToSlash(rel))
	}
	slices.Sort(watched)
	if diff := cmp.Diff(watched, []string{".", "..", "Orders", "Orders/sub", "web"}); diff != "" {
		t.Errorf("watched (-got +want):\n%s", diff)
	}
}

// The projects that a .NET app refers to are followed too, and what their builds write is
// not (spec workers-dotnet-java 1.13).
func TestFoldersOutside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root, library := filepath.Join(dir, "App"), filepath.Join(dir, "Library")
	for _, name := range []string{"App/Models", "App/obj/Debug", "App/bin", "Library/Rules"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.FromSlash(name)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w := watchingIn(root, &app.App{Handler: app.HandlerSpec{
		Kind: app.Language, Worker: true, Extensions: dotnet.Extensions(), Leaves: dotnet.Leaves, Folders: []string{library, filepath.Join(library, "Rules")},
	}})
	w.watched = w.watchedFolders()
	var watched []string
	for path := range w.watched {
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			t.Fatal(err)
		}
		watched = append(watched, filepath.ToSlash(rel))
	}
	slices.Sort(watched)
	if diff := cmp.Diff(watched, []string{".", "App", "App/Models", "Library", "Library/Rules"}); diff != "" {
		t.Errorf("watched (-got +want):\n%s", diff)
	}
	for name, want := range map[string]action{
		"Library/Rules/Rule.fs": reloadHandler, "Library/Library.fsproj": reloadHandler, "Library/notes.txt": ignore, "Elsewhere/Rule.fs": ignore,
	} {
		if got := w.means(fsnotify.Event{Name: filepath.Join(dir, filepath.FromSlash(name)), Op: fsnotify.Write}, w.functionFolders()); got != want {
			t.Errorf("a change of %s means %d, want %d", name, got, want)
		}
	}
}

// watchingIn is a watch of an app in a folder, as it was read last.
func watchingIn(dir string, last *app.App) *watching {
	return &watching{Options: Options{Dir: dir, Sources: gobuild.NewSources(dir, dir, nil), App: func() *app.App { return last }}}
}

// Folders that are reached by links are watched, with the folders of the links and of the
// files that they lead to; a cycle ends.
func TestWatchedLinks(t *testing.T) {
	t.Parallel()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"v1/Orders", "shared/Deep", "config"} {
		if err := os.MkdirAll(filepath.Join(top, filepath.FromSlash(name)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(top, "config", "function.json"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"app": "v1", "v1/Linked": "../shared", "v1/round": ".", "v1/Orders/function.json": "../../config/function.json"} {
		if err := os.Symlink(filepath.FromSlash(target), filepath.Join(top, filepath.FromSlash(link))); err != nil {
			t.Skipf("no links here: %v", err)
		}
	}
	w := watchingIn(filepath.Join(top, "app"), &app.App{Config: hostjson.Config{WatchFiles: []string{"function.json"}}})
	w.watched = w.watchedFolders()
	var watched []string
	for path := range w.watched {
		rel, err := filepath.Rel(top, path)
		if err != nil {
			t.Fatal(err)
		}
		watched = append(watched, filepath.ToSlash(rel))
	}
	slices.Sort(watched)
	if diff := cmp.Diff(watched, []string{".", "app", "app/Linked", "app/Linked/Deep", "app/Orders", "config", "shared", "v1", "v1/Orders"}); diff != "" {
		t.Errorf("watched (-got +want):\n%s", diff)
	}
	for name, want := range map[string]action{
		"app": reloadConfig, "app/Linked": reloadHandler, "v1/Linked": reloadConfig, "app/Orders/function.json": reloadConfig, "config/function.json": reloadConfig, "config/other": ignore,
	} {
		if got := w.means(fsnotify.Event{Name: filepath.Join(top, filepath.FromSlash(name)), Op: fsnotify.Create}, w.functionFolders()); got != want {
			t.Errorf("a new %s means %d, want %d", name, got, want)
		}
	}
}

// The file system of a folder is the one of the mount that is nearest above it, the last
// of several.
func TestFileSystem(t *testing.T) {
	t.Parallel()
	const mounts = `22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
40 27 0:40 / /mnt/c rw,noatime shared:1 - 9p drvfs rw,aname=drvfs
41 27 0:41 / /mnt/my\040share rw - cifs //server/share rw
42 27 0:42 / /home/me/remote rw,nosuid - fuse.sshfs me@host: rw
43 40 0:43 / /mnt/c/local rw - ext4 /dev/vdb rw
44 43 0:44 / /mnt/c/local rw - tmpfs none rw
broken line
`
	for path, want := range map[string]string{
		"/srv/app": "ext4", "/": "ext4", "/mnt/c": "9p", "/mnt/c/app": "9p", "/mnt/cd": "ext4", "/mnt/my share/app": "cifs", "/home/me/remote/a/b": "fuse.sshfs", "/mnt/c/local/app": "tmpfs",
	} {
		if got := fileSystem(mounts, filepath.FromSlash(path)); got != want {
			t.Errorf("the file system of %s is %q, want %q", path, got, want)
		}
	}
}

// Looking at folders finds what has come, gone and changed, also behind a link, and says
// nothing of a folder in which others write.
func TestLook(t *testing.T) {
	t.Parallel()
	dir, other := t.TempDir(), t.TempDir()
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(dir, "kept"), "1")
	write(filepath.Join(dir, "gone"), "1")
	write(filepath.Join(dir, "changed"), "1")
	write(filepath.Join(other, "target"), "1")
	write(filepath.Join(other, "next"), "1")
	for _, name := range []string{"link", "moved"} {
		if err := os.Symlink(filepath.Join(other, "target"), filepath.Join(dir, name)); err != nil {
			t.Skipf("no links here: %v", err)
		}
	}
	before := look([]string{dir})
	write(filepath.Join(dir, "changed"), "22")
	write(filepath.Join(dir, "new"), "1")
	write(filepath.Join(other, "target"), "22")
	if err := errors.Join(os.Remove(filepath.Join(dir, "gone")), os.Remove(filepath.Join(dir, "moved")), os.Symlink(filepath.Join(other, "next"), filepath.Join(dir, "moved"))); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, ev := range differences(before, look([]string{dir})) {
		got[filepath.Base(ev.Name)] = ev.Op.String()
	}
	if diff := cmp.Diff(got, map[string]string{"changed": "WRITE", "new": "CREATE", "gone": "REMOVE", "link": "WRITE", "moved": "WRITE"}); diff != "" {
		t.Errorf("differences (-got +want):\n%s", diff)
	}
}
