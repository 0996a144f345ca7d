package dotnet_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/host/internal/dotnet"
	"github.com/redeliver/redeliver/host/worker/dotnettest"
)

// msbuild is a solution with inputs of every kind that needs no package but those of the SDK.
var msbuild = map[string]string{ // read only
	"App/App.csproj": `<Project Sdk="Microsoft.NET.Sdk">
  <Import Project="../Imported/common.props" />
  <Import Project="../SharedProject/Shared.projitems" Label="Shared" />
  <PropertyGroup><TargetFramework>FRAMEWORK</TargetFramework><OutputType>Exe</OutputType></PropertyGroup>
  <ItemGroup>
    <Compile Include="../Linked/*.cs" LinkBase="Linked" />
    <EmbeddedResource Include="query.sql" LogicalName="query" />
    <None Update="page.html" CopyToOutputDirectory="PreserveNewest" />
    <Content Include="../Content/*.txt" CopyToOutputDirectory="Always" Link="%(Filename)%(Extension)" />
    <AdditionalFiles Include="rules.xyz" />
    <Schema Include="order.avsc" />
    <Protobuf Include="../Protos/*.proto" GrpcServices="None" />
    <ProjectReference Include="..\Library\Library.csproj" />
  </ItemGroup>
</Project>`,
	"App/Program.cs": `System.Console.WriteLine(Linked.Text + Shared.Text + Library.Text + new System.IO.StreamReader(typeof(Linked).Assembly.GetManifestResourceStream("query")!).ReadToEnd());`,
	"App/query.sql":  "select 1", "App/page.html": "<p>", "App/rules.xyz": "x", "App/order.avsc": "{}", "App/README.txt": "x", "App/host.json": "{}",
	"App/Texts.resx":        `<root><resheader name="resmimetype"><value>text/microsoft-resx</value></resheader><resheader name="version"><value>2.0</value></resheader><resheader name="reader"><value>System.Resources.ResXResourceReader</value></resheader><resheader name="writer"><value>System.Resources.ResXResourceWriter</value></resheader></root>`,
	"Imported/common.props": "<Project><Import Project=\"nested.targets\" /></Project>", "Imported/nested.targets": "<Project />",
	"SharedProject/Shared.projitems": `<Project><ItemGroup><Compile Include="$(MSBuildThisFileDirectory)Shared.cs" /></ItemGroup></Project>`,
	"SharedProject/Shared.cs":        `class Shared { public const string Text = "shared "; }`,
	"Linked/Linked.cs":               `class Linked { public const string Text = "linked "; }`,
	"Content/data.txt":               "data",
	"Library/Library.csproj":         `<Project Sdk="Microsoft.NET.Sdk.Razor"><PropertyGroup><TargetFramework>FRAMEWORK</TargetFramework><RootNamespace>Pages</RootNamespace></PropertyGroup><ItemGroup><FrameworkReference Include="Microsoft.AspNetCore.App" /></ItemGroup></Project>`,
	"Library/Page.razor":             "<p>page</p>",
	"Library/Views/Mail.cshtml":      "<p>mail</p>",
	"Protos/order.proto":             `syntax = "proto3"; message Order {}`,
	"Library/Sub/Library.cs":         `public class Library { public const string Text = "library "; }`,
	"Directory.Build.props":          "<Project />",
}

// A real MSBuild says what it takes as input, whatever way that has come into the project: a
// change of it is built, one of any other file is not, and the build leaves nothing in the
// folders of the projects, where an editor builds.
func TestMSBuild(t *testing.T) {
	t.Parallel()
	sdk, err := dotnettest.SDK()
	if err != nil && dotnettest.Required() {
		t.Fatal(err)
	}
	if err != nil {
		t.Skip(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	version, err := exec.Command(sdk, "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	major, _, _ := strings.Cut(string(version), ".")
	for name, text := range msbuild {
		write(t, filepath.Join(dir, filepath.FromSlash(name)), strings.ReplaceAll(text, "FRAMEWORK", "net"+major+".0"))
	}
	opts := dotnet.Options{Program: sdk, Project: filepath.Join(dir, "App", "App.csproj"), Folder: filepath.Join(dir, "App", ".redeliver", "dotnet"), Env: os.Environ()}
	build := func() *dotnet.Built {
		t.Helper()
		built, err := dotnet.Build(context.Background(), opts)
		if err != nil {
			t.Fatal(err)
		}
		return built
	}
	first := build()
	read := func() dotnet.Sources { return dotnet.Read(opts.Project, opts.Folder) }
	for _, name := range []string{"App/obj", "App/bin", "Library/obj", "Library/bin"} {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); err == nil {
			t.Errorf("the build has made %s", name)
		}
	}
	for name := range msbuild {
		path := filepath.Join(dir, filepath.FromSlash(name))
		counts := name != "App/README.txt" && name != "App/host.json"
		if got := read().Reads(path, false); got != counts {
			t.Errorf("%s is an input: %v, want %v", name, got, counts)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		write(t, path, string(text)+" ")
		if got := read().Fingerprint != first.Fingerprint; got != counts {
			t.Errorf("a change of %s is one of the sources: %v, want %v", name, got, counts)
		}
		write(t, path, string(text))
	}
	for _, name := range []string{"Directory.Build.targets", "Directory.Packages.props", "Library/New.cs", "Linked/New.cs", "Content/new.txt", "App/Sub/New.cs", "Library/New.razor", "Protos/new.proto"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		write(t, path, "")
		if read().Fingerprint == first.Fingerprint {
			t.Errorf("%s has come, and changes nothing", name)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	if now := read().Fingerprint; now != first.Fingerprint {
		t.Errorf("undone, the sources are %q, want %q", now, first.Fingerprint)
	}

	// An editor has built in the folders of the projects, and all texts are others.
	editor := exec.Command(sdk, "build", opts.Project)
	editor.Env = append(os.Environ(), "MSBUILDDISABLENODEREUSE=1")
	if out, err := editor.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if now := read().Fingerprint; now != first.Fingerprint {
		t.Errorf("after the build of an editor the sources are %q, want %q", now, first.Fingerprint)
	}
	for _, name := range []string{"App/page.html", "App/query.sql", "Linked/Linked.cs", "SharedProject/Shared.cs", "Library/Sub/Library.cs", "Content/data.txt"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		write(t, path, strings.NewReplacer(`red "`, `red2 "`, `ed "`, `ed2 "`, `ry "`, `ry2 "`, "select 1", "select 2", "<p>", "<p>2", "data", "data2").Replace(string(text)))
	}
	second := build()
	out, err := exec.Command(sdk, filepath.Join(second.Root, "App.dll")).CombinedOutput()
	if want := "linked2 shared2 library2 select 2"; strings.TrimSpace(string(out)) != want || err != nil {
		t.Errorf("the program says %q, %v, want %q", out, err, want)
	}
	for name, want := range map[string]string{"page.html": "<p>2", "data.txt": "data2"} {
		if text, err := os.ReadFile(filepath.Join(second.Root, name)); string(text) != want {
			t.Errorf("%s holds %q, %v, want %q", name, text, err, want)
		}
	}

	// An editor that builds while the host does has files of its own: no warning of files in
	// use, and no failure.
	write(t, filepath.Join(dir, "Linked", "Linked.cs"), `class Linked { public const string Text = "linked3 "; }`)
	editor = exec.Command(sdk, "build", "--no-incremental", opts.Project)
	editor.Env = append(os.Environ(), "MSBUILDDISABLENODEREUSE=1")
	var said strings.Builder
	editor.Stdout, editor.Stderr = &said, &said
	if err := editor.Start(); err != nil {
		t.Fatal(err)
	}
	third := build()
	if err := editor.Wait(); err != nil {
		t.Errorf("the build of an editor beside the host's: %v\n%s", err, said.String())
	}
	for line := range strings.Lines(said.String()) {
		if strings.Contains(line, ": warning ") && !strings.Contains(line, "RAZORSDK1004") { // which is of the project
			t.Errorf("the build of an editor beside the host's: %s", line)
		}
	}
	out, err = exec.Command(sdk, filepath.Join(third.Root, "App.dll")).CombinedOutput()
	if want := "linked3 shared2 library2 select 2"; strings.TrimSpace(string(out)) != want || err != nil {
		t.Errorf("the program says %q, %v, want %q", out, err, want)
	}
}
