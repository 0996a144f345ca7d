package gobuild_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/internal/gobuild"
)

// repository is a module with a program in a subfolder, which imports a package beside
// it, one of a module that is replaced by a folder, and one of a workspace module, and
// embeds files.
func repository(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.work":                         "go 1.24\n\nuse (\n\t./mono\n\t./shared\n)\n\nreplace example.com/old => ./old\n",
		"mono/go.mod":                     "module mono\n\ngo 1.24\n\nrequire example.com/old v1.0.0\n",
		"mono/apps/orders/main.go":        "package main\n\nimport (\n\t\"embed\"\n\n\t\"example.com/old\"\n\t\"mono/pay\"\n\t\"shared\"\n)\n\n//go:embed pages/*.html all:static\nvar files embed.FS\n\nfunc main() {\n\tpage, _ := files.ReadFile(\"pages/a.html\")\n\tprint(pay.Text, old.Text, shared.Text, string(page))\n}\n",
		"mono/apps/orders/x_test.go":      "package main\n",
		"mono/apps/orders/pages/a.html":   "a",
		"mono/apps/orders/static/deep/.b": "b",
		"mono/pay/pay.go":                 "package pay\n\nconst Text = \"pay \"\n",
		"mono/pay/pay_windows.go":         "package pay\n",
		"mono/unused/unused.go":           "package unused\n",
		"old/go.mod":                      "module example.com/old\n\ngo 1.24\n",
		"old/old.go":                      "package old\n\nconst Text = \"old \"\n",
		"shared/go.mod":                   "module shared\n\ngo 1.24\n",
		"shared/shared.go":                "package shared\n\nconst Text = \"shared \"\n",
	} {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Dir(path), filepath.Base(path), text)
	}
	return root
}

func sourcesOf(root string) *gobuild.Sources {
	dir := filepath.Join(root, "mono", "apps", "orders")
	return gobuild.NewSources(dir, filepath.Join(dir, ".redeliver", "bin"), append(os.Environ(), "GOFLAGS=", "GOWORK="))
}

// The program consists of the files that a build reads, in every editable module,
// embedded files included, and of no others.
func TestSources(t *testing.T) {
	t.Parallel()
	root := repository(t)
	s := sourcesOf(root)
	run := func() string {
		t.Helper()
		program, _, err := s.Build(t.Context(), false)
		if err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(program).CombinedOutput()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	if got, want := run(), "pay old shared a"; got != want {
		t.Fatalf("the program printed %q, want %q", got, want)
	}
	const dir = "mono/apps/orders/"
	for _, change := range []struct {
		name, text string
		want       bool
	}{
		{"mono/pay/pay.go", "package pay\n\nconst Text = \"PAY \"\n", true},
		{"mono/pay/new.go", "package pay\n\nfunc init() { print(\"new \") }\n", true},
		{"mono/pay/pay_test.go", "package pay\n", false},
		{"mono/unused/unused.go", "package unused\n\nvar X int\n", false},
		{"mono/pay/README.md", "text", false},
		{"mono/go.mod", "module mono\n\ngo 1.24\n\nrequire example.com/old v1.0.1\n", true},
		{"old/old.go", "package old\n\nconst Text = \"OLD \"\n", true},
		{"old/new.go", "package old\n\nimport _ \"example.com/old/in\"\n", true},
		{"old/in/in.go", "package in\n\nfunc init() { print(\"in \") }\n", true},
		{"shared/shared.go", "package shared\n\nconst Text = \"SHARED \"\n", true},
		{dir + "pages/a.html", "A", true},
		{dir + "pages/b.html", "B", true},
		{dir + "pages/notes.txt", "text", false},
		{dir + "static/deep/c", "C", true},
		{dir + "static/.d", "D", true},
		{dir + "x_test.go", "package main // changed\n", false},
		{dir + "function/function.json", "{}", false},
	} {
		before := s.Read(t.Context()).Fingerprint
		path := filepath.Join(root, filepath.FromSlash(change.name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Dir(path), filepath.Base(path), change.text)
		if got := s.Read(t.Context()).Fingerprint != before; got != change.want {
			t.Errorf("a change of %s changes the fingerprint: %v, want %v", change.name, got, change.want)
		}
		if change.want && !s.Reads(path) {
			t.Errorf("%s is not seen as something that is read", change.name)
		}
	}
	if got, want := run(), "in new PAY OLD SHARED A"; got != want {
		t.Errorf("after the changes the program printed %q, want %q", got, want)
	}
	var outside []string
	for _, path := range s.Folders() {
		rel, err := filepath.Rel(root, path)
		if err != nil {
			t.Fatal(err)
		}
		outside = append(outside, filepath.ToSlash(rel))
	}
	slices.Sort(outside)
	if diff := cmp.Diff(outside, []string{"mono", "mono/apps", "mono/pay", "old", "old/in", "shared"}); diff != "" {
		t.Errorf("folders outside (-got +want):\n%s", diff)
	}

	// Another process finds the same, with the list that is kept, and then the go
	// command is not asked.
	now := s.Read(t.Context()).Fingerprint
	if got := sourcesOf(root).Read(t.Context()).Fingerprint; got != now {
		t.Errorf("another process reads %s, want %s", got, now)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if got := sourcesOf(root).Read(ended).Fingerprint; got != now {
		t.Errorf("without the go command: %s, want %s", got, now)
	}
	tagged := gobuild.NewSources(filepath.Join(root, "mono", "apps", "orders"), t.TempDir(), append(os.Environ(), "GOFLAGS=-tags=other"))
	if got := tagged.Read(t.Context()).Fingerprint; got == now {
		t.Error("GOFLAGS do not count")
	}
}

// A package that is not there yet is waited for where it will appear, and one that does
// not parse is read all the same.
func TestSourcesOfABrokenProgram(t *testing.T) {
	t.Parallel()
	root := repository(t)
	s := sourcesOf(root)
	pay := filepath.Join(root, "mono", "pay")
	if err := os.Rename(pay, pay+"-away"); err != nil {
		t.Fatal(err)
	}
	missing := s.Read(t.Context()).Fingerprint
	if got := s.Folders(); !strings.Contains(strings.Join(got, "\n")+"\n", filepath.Join(root, "mono")+"\n") {
		t.Errorf("folders %q lack the folder in which the package will appear", got)
	}
	if err := os.Rename(pay+"-away", pay); err != nil {
		t.Fatal(err)
	}
	there := s.Read(t.Context()).Fingerprint
	if there == missing {
		t.Error("the package that came back changes nothing")
	}
	write(t, pay, "pay.go", "package pay\n\nconst Text = ")
	half := s.Read(t.Context()).Fingerprint
	write(t, pay, "pay.go", "package pay\n\nconst Text = \"")
	if again := s.Read(t.Context()).Fingerprint; half == there || again == half {
		t.Error("a file that does not parse is not read")
	}
	write(t, filepath.Join(root, "mono"), "go.mod", "modul mono\n")
	if _, _, err := s.Build(t.Context(), false); err == nil {
		t.Error("a broken go.mod builds")
	}
}

// goThat returns the folder of a go command that runs a shell script before each build.
func goThat(t *testing.T, script string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the go command of this test is a shell script")
	}
	real, err := exec.LookPath("go")
	if err != nil {
		t.Skip("there is no go command")
	}
	dir := t.TempDir()
	write(t, dir, "go", "#!/bin/sh\nif [ \"$1\" = build ]; then\n"+script+"\nfi\nexec "+real+" \"$@\"\n")
	if err := os.Chmod(filepath.Join(dir, "go"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A program whose sources are saved while it is built is of the sources that it is
// named for, also when they go there and back.
func TestSaveDuringBuild(t *testing.T) {
	root := repository(t)
	pay := filepath.Join(root, "mono", "pay", "pay.go")
	other := filepath.Join(t.TempDir(), "other")
	text := func(word string) string { return "package pay\n\nconst Text = \"" + word + " \"\n" }
	write(t, filepath.Dir(other), "other", text("b"))
	// The save comes after the host has read the sources and before the compiler does.
	t.Setenv("PATH", goThat(t, "[ -e "+other+" ] && mv "+other+" "+pay)+string(os.PathListSeparator)+os.Getenv("PATH"))
	s := sourcesOf(root)
	build := func() (said, fingerprint string) {
		t.Helper()
		program, fingerprint, err := s.Build(t.Context(), false)
		if err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(program).CombinedOutput()
		if err != nil {
			t.Fatal(err)
		}
		if now := s.Read(t.Context()).Fingerprint; now != fingerprint {
			t.Errorf("the program is of %s, the sources are %s", fingerprint, now)
		}
		return strings.Fields(string(out))[0], fingerprint
	}
	write(t, filepath.Dir(pay), "pay.go", text("a"))
	b, printB := build()
	write(t, filepath.Dir(pay), "pay.go", text("a"))
	a, printA := build()
	write(t, filepath.Dir(pay), "pay.go", text("b"))
	again, printAgain := build()
	if b != "b" || a != "a" || again != "b" || printA == printB || printAgain != printB {
		t.Errorf("saved b while a was built: %q runs; back at a: %q; back at b: %q", b, a, again)
	}
}

// Sources that change in every build are refused, and leave no program.
func TestNeverSettled(t *testing.T) {
	root := repository(t)
	pay := filepath.Join(root, "mono", "pay", "pay.go")
	t.Setenv("PATH", goThat(t, "echo '// again' >> "+pay)+string(os.PathListSeparator)+os.Getenv("PATH"))
	if _, _, err := sourcesOf(root).Build(t.Context(), false); err == nil || !strings.Contains(err.Error(), "the sources changed during each build") {
		t.Errorf("Build = %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(root, "mono/apps/orders/.redeliver/bin/*-*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// A build that is called off is not the program's fault, and its compiler ends.
func TestBuildCalledOff(t *testing.T) {
	root := repository(t)
	ctx, cancel := context.WithCancel(t.Context())
	fifo := filepath.Join(t.TempDir(), "building")
	if err := exec.Command("mkfifo", fifo).Run(); err != nil {
		t.Skip("there are no named pipes here")
	}
	t.Setenv("PATH", goThat(t, "echo now > "+fifo+"; exec sleep 600")+string(os.PathListSeparator)+os.Getenv("PATH"))
	failed := make(chan error, 1)
	go func() {
		_, _, err := sourcesOf(root).Build(ctx, false)
		failed <- err
	}()
	if _, err := os.ReadFile(fifo); err != nil { // waits for the build
		t.Fatal(err)
	}
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("Build = %v, want the context's error", err)
	}
}

// A program that is used, here or by somebody else, stays.
func TestPrune(t *testing.T) {
	t.Parallel()
	root := repository(t)
	s := sourcesOf(root)
	bin := filepath.Join(root, "mono/apps/orders/.redeliver/bin")
	if _, _, err := s.Build(t.Context(), true); !errors.Is(err, gobuild.ErrNotBuilt) {
		t.Errorf("Build of a program that must not be built = %v", err)
	}
	asked, _, err := s.Build(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"handler-old", "handler-used", "handler-new", "building-old", "other"} {
		write(t, bin, name, "")
	}
	long := time.Now().Add(-time.Hour)
	for _, name := range []string{"handler-old", "handler-used", "building-old", "other", filepath.Base(asked)} {
		if err := os.Chtimes(filepath.Join(bin, name), long, long); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := sourcesOf(root).Build(t.Context(), true); err != nil { // another process, which will start it
		t.Fatal(err)
	}
	s.Prune(filepath.Join(bin, "handler-used"))
	var left []string
	entries, err := os.ReadDir(bin)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if diff := cmp.Diff(left, []string{filepath.Base(asked), "handler-new", "handler-used", "other", "sources.json"}); diff != "" {
		t.Errorf("left (-got +want):\n%s", diff)
	}
}

// A copy of the program's folder, with the files that are around it, builds the same
// program: beside its module and its workspace, and in a module without a workspace.
func TestAround(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		alter func(t *testing.T, root string)
		want  []string
	}{
		{"workspace", func(*testing.T, string) {}, []string{
			"go.work", "mono/go.mod", "mono/pay/pay.go", "old/go.mod", "old/old.go", "shared/go.mod", "shared/shared.go",
		}},
		{"replace", func(t *testing.T, root string) {
			if err := os.Remove(filepath.Join(root, "go.work")); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(root, "mono"), "go.mod", "module mono\n\ngo 1.24\n\nrequire example.com/old v1.0.0\nrequire shared v1.0.0\n\n"+
				"replace example.com/old => ../old\n\nreplace shared => "+filepath.ToSlash(filepath.Join(root, "shared"))+"\n")
		}, []string{"mono/go.mod", "mono/pay/pay.go", "old/go.mod", "old/old.go"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			root, copied := repository(t), t.TempDir()
			test.alter(t, root)
			env := append(os.Environ(), "GOFLAGS=", "GOWORK=")
			dir := filepath.Join(root, "mono", "apps", "orders")
			var got []string
			for _, path := range gobuild.Around(t.Context(), dir, env) {
				rel, err := filepath.Rel(root, path)
				if err != nil {
					t.Fatal(err)
				}
				text, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, filepath.ToSlash(rel))
				if err := os.MkdirAll(filepath.Join(copied, filepath.Dir(rel)), 0o755); err != nil {
					t.Fatal(err)
				}
				write(t, copied, rel, string(text))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("files around the program (-want +got):\n%s", diff)
			}
			if err := os.CopyFS(filepath.Join(copied, "mono", "apps", "orders"), os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			program, _, err := sourcesOf(copied).Build(t.Context(), false)
			if err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command(program).CombinedOutput(); err != nil || string(out) != "pay old shared a" {
				t.Errorf("the copy prints %q, %v", out, err)
			}
		})
	}
}

// A program that needs nothing beside it, and a folder that is no program.
func TestAroundNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "go.mod", "module example.com/app\n\ngo 1.24\n")
	if got := gobuild.Around(t.Context(), dir, os.Environ()); got != nil {
		t.Errorf("around a folder without sources: %q", got)
	}
	write(t, dir, "main.go", "package main\n\nfunc main() {}\n")
	if got := gobuild.Around(t.Context(), dir, os.Environ()); got != nil {
		t.Errorf("around a whole module: %q", got)
	}
}
