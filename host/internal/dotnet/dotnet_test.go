package dotnet_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/internal/dotnet"
	"github.com/redeliver/redeliver/host/worker/dotnettest"
)

// roleVariable makes the test binary the program dotnet.
const roleVariable = "REDELIVER_DOTNET_TEST_ROLE"

func TestMain(m *testing.M) {
	if os.Getenv(roleVariable) != "" {
		dotnettest.Main()
		return
	}
	os.Exit(m.Run())
}

const isolated = `<Project Sdk="Microsoft.NET.Sdk"><ItemGroup>
  <PackageReference Include="Microsoft.Azure.Functions.Worker.Sdk" Version="2.0.0" />
  <ProjectReference Include="..\Library\Library.fsproj" />
</ItemGroup></Project>`

// solution writes an app and a library that it refers to, and returns their folder.
func solution(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"Directory.Build.props": "<Project />", "App/App.csproj": isolated, "App/Orders.cs": "// one\n", "App/host.json": "{}",
		"App/local.settings.json": "{}", "App/obj/Made.cs": "", "App/bin/Debug/Made.json": "", "App/.vs/a.json": "", "App/data.db": "",
		"App/output/worker.config.json": "{}", "Library/Library.fsproj": `<Project Sdk="Microsoft.NET.Sdk" />`, "Library/Sub/Rules.fs": "", "Other/Other.cs": "",
	} {
		write(t, filepath.Join(dir, name), text)
	}
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Projects are known by what they refer to (spec workers-dotnet-java 1.1).
func TestFind(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]dotnet.Model{
		isolated: dotnet.Isolated,
		`<Project Sdk="Azure.Functions.Sdk/0.1.0" />`:                                                              dotnet.Isolated,
		`<PackageReference include="microsoft.net.sdk.functions" />`:                                               dotnet.InProcess,
		`<PackageReference Include="Microsoft.NET.Sdk.Functions" /><P I="Microsoft.Azure.Functions.Worker.Sdk" />`: dotnet.Isolated,
		`<PackageReference Include="Microsoft.NET.Test.Sdk" /><P I="Microsoft.Azure.Functions.Worker.Sdk" />`:      dotnet.Test,
		`<PackageReference Include="Microsoft.Azure.Functions.Worker" />`:                                          dotnet.Other,
		"": dotnet.Other,
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "App.fsproj"), text)
		write(t, filepath.Join(dir, "App.vbproj"), isolated)
		list := dotnet.Find(dir)
		if len(list) != 1 || list[0].Model != want || list[0].Name() != "App.fsproj" {
			t.Errorf("%s: got %+v, want model %d", text, list, want)
		}
	}
}

// Before the first build every file of the projects may be a source; the host's own files and
// what builds write are none. Files above the projects count before they are there.
func TestRead(t *testing.T) {
	t.Parallel()
	dir := solution(t)
	project, outputs := filepath.Join(dir, "App", "App.csproj"), filepath.Join(dir, "outputs")
	before := dotnet.Read(project, outputs)
	for _, folder := range []string{dir, filepath.Dir(dir), filepath.Join(dir, "Library"), filepath.Join(dir, "Library", "Sub")} {
		if !slices.Contains(before.Folders, folder) {
			t.Errorf("folder %s is not among %q", folder, before.Folders)
		}
	}
	for name, counts := range map[string]bool{
		"App/Orders.cs": true, "App/New.cs": true, "App/query.sql": true, "Library/Sub/Rules.fs": true, "Directory.Build.props": true, "Directory.Packages.props": true, "App/output/worker.config.json": true,
		"App/obj/Made.cs": false, "App/bin/Debug/Made.json": false, "App/.vs/a.json": false, "App/host.json": false, "App/local.settings.json": false, "Other/Other.cs": false,
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if got := dotnet.Read(project, outputs).Reads(path, false); got != counts {
			t.Errorf("a change of %s is one of the sources: %v, want %v", name, got, counts)
		}
		before := dotnet.Read(project, outputs).Fingerprint
		write(t, path, "changed: "+name)
		if got := dotnet.Read(project, outputs).Fingerprint != before; got != counts {
			t.Errorf("a change of %s changes the fingerprint: %v, want %v", name, got, counts)
		}
	}
}

// A copy of an app needs what its project refers to, and what stands above it.
func TestAround(t *testing.T) {
	t.Parallel()
	dir := solution(t)
	want := []string{filepath.Join(dir, "Directory.Build.props"), filepath.Join(dir, "Library", "Library.fsproj"), filepath.Join(dir, "Library", "Sub", "Rules.fs")}
	write(t, want[2], "module Rules")
	got := dotnet.Around(filepath.Join(dir, "App", "App.csproj"), filepath.Join(dir, "outputs"))
	got = slices.DeleteFunc(got, func(path string) bool { return !strings.HasPrefix(path, dir) })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("around (-want +got):\n%s", diff)
	}
}

// options build the app of a solution with the program of the tests.
func options(dir string) dotnet.Options {
	return dotnet.Options{
		Program: os.Args[0], Project: filepath.Join(dir, "App", "App.csproj"), Folder: filepath.Join(dir, "outputs"),
		Env: append(os.Environ(), roleVariable+"=yes", "GORACE=atexit_sleep_ms=0"),
	}
}

// builds is how often the program was asked to build.
func builds(t *testing.T, dir string) int {
	t.Helper()
	log, err := os.ReadFile(filepath.Join(dir, "App", "obj", "builds.log"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(log), "--output")
}

// Each state of the sources is built once, into a folder of its own, and what the build says
// it has read decides what is a source (spec workers-dotnet-java 1.13).
func TestBuild(t *testing.T) {
	t.Parallel()
	dir := solution(t)
	write(t, filepath.Join(dir, "App", "notes.txt"), "one")
	var whys []string
	build := func(change func(*dotnet.Options)) (*dotnet.Built, error) {
		opts := options(dir)
		opts.Tell.Begins = func(why string) { whys = append(whys, why) }
		if change != nil {
			change(&opts)
		}
		return dotnet.Build(context.Background(), opts)
	}
	only := func(o *dotnet.Options) { o.Only = true }
	if _, err := build(only); !errors.Is(err, dotnet.ErrNotBuilt) {
		t.Errorf("without a build: %v, want ErrNotBuilt", err)
	}
	first, err := build(nil)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(first.Root, "App.dll")); string(text) != "// one\n" {
		t.Errorf("the assembly is %q, %v", text, err)
	}
	now := dotnet.Read(filepath.Join(dir, "App", "App.csproj"), filepath.Join(dir, "outputs"))
	if now.Fingerprint != first.Fingerprint {
		t.Errorf("the sources are %q after a build of %q", now.Fingerprint, first.Fingerprint)
	}
	for name, counts := range map[string]bool{"App/notes.txt": false, "App/Orders.cs": true, "App/host.json": false, "Directory.Build.targets": true, "App/New.cs": true, "App/data.db": false} {
		if got := now.Reads(filepath.Join(dir, filepath.FromSlash(name)), false); got != counts {
			t.Errorf("after the build a change of %s is one of the sources: %v, want %v", name, got, counts)
		}
	}
	write(t, filepath.Join(dir, "App", "notes.txt"), "two")
	write(t, filepath.Join(dir, "App", "host.json"), `{"version": "2.0"}`)
	if again, err := build(only); err != nil || *again != *first || builds(t, dir) != 1 {
		t.Errorf("again: %v, %v, %d builds; want %v, built once", again, err, builds(t, dir), first)
	}
	if text, err := os.ReadFile(filepath.Join(first.Root, "host.json")); string(text) != `{"version": "2.0"}` {
		t.Errorf("the copy of host.json is %q, %v: want that of the app, without a build", text, err)
	}
	write(t, filepath.Join(dir, "App", "Orders.cs"), "// two\n")
	second, err := build(nil)
	if err != nil || second.Root == first.Root || second.Fingerprint == first.Fingerprint || builds(t, dir) != 2 {
		t.Errorf("after a change: %v, %v, %d builds", second, err, builds(t, dir))
	}
	// What is built of other sources to the same end is the same.
	write(t, filepath.Join(dir, "App", "Empty.cs"), "")
	if same, err := build(nil); err != nil || *same != *second || builds(t, dir) != 3 {
		t.Errorf("with a source that changes nothing: %v, %v, %d builds; want %v", same, err, builds(t, dir), second)
	}
	// The environment and an output whose assembly is gone.
	if _, err := build(func(o *dotnet.Options) { o.Env = append(o.Env, "Configuration=Release") }); err != nil || builds(t, dir) != 4 {
		t.Errorf("with another configuration: %v, %d builds", err, builds(t, dir))
	}
	if err := os.Remove(filepath.Join(second.Root, "App.dll")); err != nil {
		t.Fatal(err)
	}
	if _, err := build(nil); err != nil || builds(t, dir) != 5 {
		t.Errorf("without its assembly: %v, %d builds", err, builds(t, dir))
	}
	want := []string{"for the first time", "Orders.cs has changed", "Empty.cs has changed", "its environment or the .NET SDK has changed", "Empty.cs and 1 more have changed"}
	if diff := cmp.Diff(want, whys); diff != "" {
		t.Errorf("why (-want +got):\n%s", diff)
	}
}

// What a build itself writes among the sources is built too, and no reason for another build.
func TestBuildWritesSources(t *testing.T) {
	t.Parallel()
	dir := solution(t)
	write(t, filepath.Join(dir, "App", "Generate.in"), "// made\n")
	for range 2 {
		built, err := dotnet.Build(context.Background(), options(dir))
		if err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(filepath.Join(built.Root, "App.dll")); string(text) != "// made\n// one\n" {
			t.Errorf("the assembly is %q, %v", text, err)
		}
		if n := builds(t, dir); n != 2 {
			t.Errorf("%d builds, want 2", n)
		}
	}
}

// One build of a project is at work at a time: the others wait, and take what it has built.
func TestBuildsTogether(t *testing.T) {
	t.Parallel()
	dir := solution(t)
	var together sync.WaitGroup
	results := make([]*dotnet.Built, 8)
	for i := range results {
		together.Go(func() {
			built, err := dotnet.Build(context.Background(), options(dir))
			if err != nil {
				t.Error(err)
			}
			results[i] = built
		})
	}
	together.Wait()
	for _, r := range results {
		if r == nil || *r != *results[0] {
			t.Errorf("one has %v, and another %v", r, results[0])
		}
	}
	if n := builds(t, dir); n != 1 {
		t.Errorf("%d builds, want 1", n)
	}
}

// The lines of the compiler come once each, with the command and short paths.
func TestBuildFails(t *testing.T) {
	t.Parallel()
	dir := solution(t)
	write(t, filepath.Join(dir, "App", "Orders.cs"), "// one\n#error not finished\n")
	_, err := dotnet.Build(context.Background(), options(dir))
	want := "dotnet build App.csproj:\nOrders.cs(2,8): error CS1029: #error: 'not finished'"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := dotnet.Build(ctx, options(dir)); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of its context: %v", err)
	}
	gone := options(dir)
	gone.Program = filepath.Join(dir, "dotnet")
	if _, err := dotnet.Build(context.Background(), gone); err == nil || !strings.HasPrefix(err.Error(), "dotnet build App.csproj: ") {
		t.Errorf("without the program: %v", err)
	}
}

// Old outputs go, but for those in use, the two newest, and those that were used lately.
func TestPrune(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	now := time.Now()
	for name, age := range map[string]time.Duration{"new": time.Hour, "newer": time.Minute, "old": 2 * time.Hour, "inuse": 3 * time.Hour, "older": 4 * time.Hour} {
		write(t, filepath.Join(dir, name, "App.dll"), "")
		if err := os.Chtimes(filepath.Join(dir, name), now, now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	dotnet.Prune(dir, filepath.Join(dir, "inuse"))
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if diff := cmp.Diff([]string{"inuse", "new", "newer"}, got); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
}
