package dotnet_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
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

// A change of a source changes the fingerprint, wherever the source is; what is written
// by builds, by the app and for the host alone does not.
func TestRead(t *testing.T) {
	t.Parallel()
	dir := solution(t)
	project := filepath.Join(dir, "App", "App.csproj")
	before := dotnet.Read(project)
	want := []string{filepath.Join(dir, "Library"), filepath.Join(dir, "Library", "Sub")}
	if diff := cmp.Diff(want, before.Folders); diff != "" {
		t.Errorf("folders (-want +got):\n%s", diff)
	}
	for name, counts := range map[string]bool{
		"App/Orders.cs": true, "App/host.json": true, "App/New.cs": true, "Library/Sub/Rules.fs": true, "Directory.Build.props": true, "App/output/worker.config.json": true,
		"App/obj/Made.cs": false, "App/bin/Debug/Made.json": false, "App/.vs/a.json": false, "App/data.db": false, "App/local.settings.json": false, "Other/Other.cs": false,
	} {
		before := dotnet.Read(project).Fingerprint
		write(t, filepath.Join(dir, name), "changed: "+name)
		if got := dotnet.Read(project).Fingerprint != before; got != counts {
			t.Errorf("a change of %s changes the fingerprint: %v, want %v", name, got, counts)
		}
	}
}

// options build the app of a solution with the program of the tests.
func options(dir string) dotnet.Options {
	project := filepath.Join(dir, "App", "App.csproj")
	return dotnet.Options{
		Program: os.Args[0], Project: project, Fingerprint: dotnet.Read(project).Fingerprint, Folder: filepath.Join(dir, "outputs"),
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

// Each state of the sources has a folder of its own, and is built once (spec
// workers-dotnet-java 1.13).
func TestBuild(t *testing.T) {
	t.Parallel()
	dir := solution(t)
	ctx := context.Background()
	only := options(dir)
	only.Only = true
	if _, err := dotnet.Build(ctx, only); !errors.Is(err, dotnet.ErrNotBuilt) {
		t.Errorf("without a build: %v, want ErrNotBuilt", err)
	}
	first, err := dotnet.Build(ctx, options(dir))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(first, "App.dll")); string(text) != "// one\n" {
		t.Errorf("the assembly is %q, %v", text, err)
	}
	if again, err := dotnet.Build(ctx, only); again != first || err != nil || builds(t, dir) != 1 {
		t.Errorf("again: %q, %v, %d builds; want %q, built once", again, err, builds(t, dir), first)
	}
	write(t, filepath.Join(dir, "App", "Orders.cs"), "// two\n")
	second, err := dotnet.Build(ctx, options(dir))
	if err != nil || second == first || builds(t, dir) != 2 {
		t.Errorf("after a change: %q, %v, %d builds", second, err, builds(t, dir))
	}
	// An output whose assembly is gone is built anew.
	if err := os.Remove(filepath.Join(second, "App.dll")); err != nil {
		t.Fatal(err)
	}
	if _, err := dotnet.Build(ctx, options(dir)); err != nil || builds(t, dir) != 3 {
		t.Errorf("without its assembly: %v, %d builds", err, builds(t, dir))
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
