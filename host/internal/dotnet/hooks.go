package dotnet

import (
	"archive/zip"
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// MSBuild is asked for its inputs by two files that every project of a build imports, the
// project's own and those that it refers to, because variables of the environment name them:
// Microsoft.Common.props and Microsoft.Common.CurrentVersion.targets look for these. A project in a folder of
// its own for what is made on the way never meets the build of an editor, and what it is
// built of comes in lines "WHAT|PATH". The imports come from MSBuild's binary log, which
// keeps them in an archive.

const propsHook = `<Project>
  <PropertyGroup Condition="'$(MSBuildProjectName)' != 'WorkerExtensions'">
    <BaseIntermediateOutputPath>$(RedeliverBuildFolder)obj/$(MSBuildProjectName)-$([MSBuild]::StableStringHash($(MSBuildProjectFullPath)).ToString("x"))/</BaseIntermediateOutputPath>
    <MSBuildProjectExtensionsPath>$(BaseIntermediateOutputPath)</MSBuildProjectExtensionsPath>
    <DefaultItemExcludes>$(DefaultItemExcludes);bin/**;obj/**</DefaultItemExcludes>
  </PropertyGroup>
</Project>
`

const targetsHook = `<Project>
  <Target Name="RedeliverInputs" AfterTargets="CoreBuild">
    <ItemGroup>
      <RedeliverLine Include="folder|$(NuGetPackageRoot);folder|$(NetCoreRoot);folder|$(MSBuildExtensionsPath);folder|$(NetCoreTargetingPackRoot)" />
      <RedeliverLine Include="project|$(MSBuildProjectFullPath)" />
      <RedeliverFile Include="$(AssemblyOriginatorKeyFile);$(ApplicationIcon);$(ApplicationManifest);$(CodeAnalysisRuleSet);$(Win32Resource);$(UserRuntimeConfig);$(NuGetLockFilePath)" />
%s      <RedeliverFile Include="@(None)" Condition="'%%(None.CopyToOutputDirectory)' != '' and '%%(None.CopyToOutputDirectory)' != 'Never'" />
      <RedeliverLine Include="@(RedeliverFile->'input|%%(FullPath)')" />
    </ItemGroup>
    <WriteLinesToFile File="$(RedeliverBuildFolder)inputs/$(MSBuildProjectName)-$([MSBuild]::StableStringHash($(MSBuildProjectFullPath)).ToString('x'))-$(TargetFramework).txt" Lines="@(RedeliverLine)" Overwrite="true" />
  </Target>
</Project>
`

// itemNames are the items that compilers and generators take as input. Those that a project
// names beside them are asked for too.
var itemNames = []string{ // read only
	"AdditionalFiles", "Analyzer", "Compile", "Content", "CustomAdditionalCompileInputs", "EditorConfigFiles", "EmbeddedResource", "GlobalAnalyzerConfigFiles",
	"LinkResource", "NativeReference", "Protobuf", "RazorComponent", "RazorGenerate", "ReferencePath", "Resource", "UpToDateCheckInput", "Watch",
	"NoneWithTargetPath", "ContentWithTargetPath", "EmbeddedResourceWithTargetPath", "_SourceItemsToCopyToOutputDirectory", "_SourceItemsToCopyToOutputDirectoryAlways",
}

// noFiles are items that name no files.
var noFiles = []string{ // read only
	"None", "PackageReference", "PackageVersion", "ProjectReference", "FrameworkReference", "Using", "Folder", "AssemblyAttribute", "InternalsVisibleTo", "PackageDownload",
	"GlobalPackageReference", "ProjectCapability", "KnownFrameworkReference", "RuntimeHostConfigurationOption", "TrimmerRootAssembly", "SupportedPlatform", "DotNetCliToolReference",
}

// item matches an element of a project file that adds or changes items.
var item = regexp.MustCompile(`<([A-Za-z_][A-Za-z0-9_]*)\s[^<>]*\b(?:Include|Update)\s*=`)

// namesIn are the items that project files name, beside those that are always asked for.
func namesIn(texts []string) []string {
	var names []string
	for _, text := range texts {
		for _, found := range item.FindAllStringSubmatch(text, -1) {
			if !slices.Contains(itemNames, found[1]) && !slices.Contains(noFiles, found[1]) {
				names = append(names, found[1])
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// The files and folders of a build below Options.Folder.
const (
	hooksFolder  = "hooks"
	objFolder    = "obj"
	inputsFolder = "inputs"
)

// writeHooks writes the two files for a build, and returns its variables and arguments.
func writeHooks(folder string, names []string) (variables, arguments []string, err error) {
	hooks, inputs := filepath.Join(folder, hooksFolder), filepath.Join(folder, inputsFolder)
	if err = os.RemoveAll(inputs); err != nil {
		return nil, nil, err
	}
	for _, dir := range []string{hooks, inputs} {
		if err = os.MkdirAll(dir, 0o700); err != nil {
			return nil, nil, err
		}
	}
	var asked strings.Builder
	for _, name := range slices.Concat(itemNames, names) {
		fmt.Fprintf(&asked, "      <RedeliverFile Include=\"@(%s)\" />\n", name)
	}
	props, targets := filepath.Join(hooks, "redeliver.props"), filepath.Join(hooks, "redeliver.targets")
	for path, text := range map[string]string{props: propsHook, targets: fmt.Sprintf(targetsHook, asked.String())} {
		if old, _ := os.ReadFile(path); string(old) == text {
			continue // its time is an input of some targets
		}
		if err = os.WriteFile(path, []byte(text), 0o600); err != nil {
			return nil, nil, err
		}
	}
	return []string{
			"RedeliverBuildFolder=" + folder + string(filepath.Separator),
			"CustomAfterDirectoryBuildProps=" + props, "CustomAfterMicrosoftCommonTargets=" + targets,
		}, []string{
			"-bl:LogFile=" + filepath.Join(inputs, "build.binlog") + ";ProjectImports=ZipFile",
		}, nil
}

// told is what a build has told of itself.
type told struct {
	inputs, projects, imports []string
	folders                   []string // of the SDK and of packages: theirs do not change
}

// readHooks reads what a build has told.
func readHooks(folder string) (t told) {
	inputs := filepath.Join(folder, inputsFolder)
	entries, _ := os.ReadDir(inputs) // an old SDK tells nothing
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".txt" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(inputs, e.Name()))
		if err != nil {
			continue
		}
		for lines := bufio.NewScanner(strings.NewReader(string(text))); lines.Scan(); {
			switch what, path, _ := strings.Cut(strings.TrimPrefix(lines.Text(), "\ufeff"), "|"); {
			case path == "" || !filepath.IsAbs(path):
			case what == "input":
				t.inputs = append(t.inputs, filepath.Clean(path))
			case what == "project":
				t.projects = append(t.projects, filepath.Clean(path))
			case what == "folder" && filepath.Clean(path) != string(filepath.Separator):
				t.folders = append(t.folders, filepath.Clean(path))
			}
		}
	}
	t.imports = importsIn(filepath.Join(inputs, "build.ProjectImports.zip"))
	_ = os.Remove(filepath.Join(inputs, "build.binlog")) // half a megabyte, which nobody reads
	t.folders = append(t.folders, folder)
	own := func(list []string) []string {
		list = slices.DeleteFunc(list, func(path string) bool {
			return slices.ContainsFunc(t.folders, func(folder string) bool { return below(path, folder) })
		})
		slices.Sort(list)
		return slices.Compact(list)
	}
	t.inputs, t.projects, t.imports = own(t.inputs), own(t.projects), own(t.imports)
	return t
}

// importsIn are the files in the archive of a binary log: their names are paths without a
// root, with backslashes.
func importsIn(archive string) (paths []string) {
	r, err := zip.OpenReader(archive)
	if err != nil {
		return nil
	}
	defer r.Close()
	for _, f := range r.File {
		name := f.Name
		if runtime.GOOS == "windows" {
			if len(name) > 1 && name[1] == '\\' {
				name = name[:1] + ":" + name[1:]
			}
		} else if name = strings.ReplaceAll(name, `\`, "/"); !strings.HasPrefix(name, "/") {
			name = "/" + name
		}
		paths = append(paths, filepath.Clean(name))
	}
	return paths
}

// below reports whether a path is below a folder.
func below(path, folder string) bool {
	return strings.HasPrefix(path, strings.TrimSuffix(folder, string(filepath.Separator))+string(filepath.Separator))
}
