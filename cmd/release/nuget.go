package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// nuget is a package of NuGet: a zip with a description.
type nuget struct {
	id, about string
	depends   []nugetDependency // of every framework
	files     []entry
}

// nugetDependency is a package that another one needs, of a version or a later one.
type nugetDependency struct{ id, version string }

// addNuget packs a package. Its parts beside the files are those that the open packaging
// conventions want; package managers read the description.
func (r *release) addNuget(d *dist, order int, n nuget) error {
	entries := append([]entry{
		{name: n.id + ".nuspec", mode: 0o644, data: r.nuspec(n)},
		{name: "[Content_Types].xml", mode: 0o644, data: []byte(nugetTypes)},
		{name: "_rels/.rels", mode: 0o644, data: fmt.Appendf(nil, nugetRelations, n.id)},
		{name: "LICENSE", mode: 0o644, data: r.license},
		{name: "README.md", mode: 0o644, data: r.readme},
	}, n.files...)
	data, err := zipped(entries, r.date)
	if err != nil {
		return err
	}
	return d.add("nuget/"+n.id+"."+r.version+".nupkg", "nuget", data, &publication{n.id, order})
}

const nugetTypes = `<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
  <Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml" />
  <Default Extension="nuspec" ContentType="application/octet" />
  <Default Extension="dll" ContentType="application/octet" />
  <Default Extension="xml" ContentType="application/octet" />
  <Default Extension="md" ContentType="application/octet" />
  <Default Extension="targets" ContentType="application/octet" />
  <Default Extension="exe" ContentType="application/octet" />
  <Override PartName="/LICENSE" ContentType="application/octet" />
  <Override PartName="/tools/linux-x64/redeliver" ContentType="application/octet" />
  <Override PartName="/tools/linux-arm64/redeliver" ContentType="application/octet" />
  <Override PartName="/tools/osx-x64/redeliver" ContentType="application/octet" />
  <Override PartName="/tools/osx-arm64/redeliver" ContentType="application/octet" />
</Types>
`

const nugetRelations = `<?xml version="1.0" encoding="utf-8"?>
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
  <Relationship Type="http://schemas.microsoft.com/packaging/2010/07/manifest" Target="/%s.nuspec" Id="R1" />
</Relationships>
`

func (r *release) nuspec(n nuget) []byte {
	var b strings.Builder
	home := "https://" + r.names.Repository.Name
	fmt.Fprintf(&b, `<?xml version="1.0" encoding="utf-8"?>
<package xmlns="http://schemas.microsoft.com/packaging/2013/05/nuspec.xsd">
  <metadata>
    <id>%s</id>
    <version>%s</version>
    <authors>The authors of Redeliver</authors>
    <description>%s</description>
    <license type="expression">Apache-2.0</license>
    <readme>README.md</readme>
    <projectUrl>%s</projectUrl>
    <repository type="git" url="%[4]s.git" commit="%[5]s" />
    <tags>azure-functions testing retry queue servicebus</tags>
    <developmentDependency>%[6]v</developmentDependency>
    <dependencies>
`, n.id, r.version, n.about, home, r.commit, len(n.depends) == 0)
	for _, framework := range nugetFrameworks {
		fmt.Fprintf(&b, "      <group targetFramework=%q>\n", framework)
		for _, on := range n.depends {
			fmt.Fprintf(&b, "        <dependency id=%q version=%q />\n", on.id, on.version)
		}
		b.WriteString("      </group>\n")
	}
	b.WriteString("    </dependencies>\n  </metadata>\n</package>\n")
	return []byte(b.String())
}

// nugetFrameworks are those that the kit in C# is built for.
var nugetFrameworks = []string{"net8.0", "net10.0"} // read only

// nugetProgram packs the programs of all platforms. A test project gets the one of its machine
// as a file beside the tests, and no other: the folder for native libraries of a package would
// be copied whole.
func (r *release) nugetProgram(d *dist, programs map[string]string) error {
	n := nuget{id: r.names.NugetProgram.Name, about: tagline}
	for _, folder := range []string{"build/", "buildTransitive/"} {
		n.files = append(n.files, entry{name: folder + n.id + ".targets", mode: 0o644, data: []byte(nugetTargets)})
	}
	for _, p := range r.platforms {
		program, err := os.ReadFile(programs[p.String()])
		if err != nil {
			return err
		}
		n.files = append(n.files, entry{name: "tools/" + p.dotnet() + "/" + p.program(), mode: 0o755, data: program})
	}
	return r.addNuget(d, orderCommands, n)
}

const nugetTargets = `<Project>
  <!-- Copies the program of this machine, one file, beside the tests. -->
  <PropertyGroup>
    <RedeliverSystem>linux</RedeliverSystem>
    <RedeliverSystem Condition="$([MSBuild]::IsOSPlatform('OSX'))">osx</RedeliverSystem>
    <RedeliverSystem Condition="$([MSBuild]::IsOSPlatform('Windows'))">win</RedeliverSystem>
    <RedeliverFile>redeliver</RedeliverFile>
    <RedeliverFile Condition="'$(RedeliverSystem)' == 'win'">redeliver.exe</RedeliverFile>
    <RedeliverProgram>$(MSBuildThisFileDirectory)../tools/$(RedeliverSystem)-$([System.Runtime.InteropServices.RuntimeInformation]::OSArchitecture.ToString().ToLowerInvariant())/$(RedeliverFile)</RedeliverProgram>
  </PropertyGroup>
  <ItemGroup Condition="Exists('$(RedeliverProgram)')">
    <None Include="$(RedeliverProgram)" Link="$(RedeliverFile)" CopyToOutputDirectory="PreserveNewest" Visible="false" />
  </ItemGroup>
</Project>
`

// dotnet is what .NET calls the platform.
func (p platform) dotnet() string {
	system := map[string]string{"linux": "linux", "darwin": "osx", "windows": "win"}[p.os]
	return system + "-" + map[string]string{"amd64": "x64", "arm64": "arm64"}[p.arch]
}

// nugetKit builds the kit in C# with the .NET SDK of the machine, and packs it, in two packages.
func (r *release) nugetKit(d *dist, sources []entry) error {
	sdk, err := exec.LookPath("dotnet")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "nuget")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, s := range sources {
		file := filepath.Join(dir, filepath.FromSlash(s.name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, s.data, 0o644); err != nil {
			return err
		}
	}
	kit, worker := r.names.NugetKit.Name, r.names.NugetKit.Name+".Worker"
	// Neither the folder nor the machine is in the bytes.
	if _, err := output(dir, sdk, "build", "src/"+worker, "-c", "Release", "-nodeReuse:false", "-p:UseSharedCompilation=false", "-p:Version="+r.version,
		"-p:ContinuousIntegrationBuild=true", "-p:PathMap="+dir+"=/redeliver"); err != nil {
		return err
	}
	for _, n := range []nuget{
		{kit, kitAbout, []nugetDependency{{r.names.NugetProgram.Name, r.version}}, nil},
		{worker, "Runs an isolated app in the process of its tests, for " + kit, []nugetDependency{{kit, r.version}, {"Microsoft.Extensions.Hosting.Abstractions", "8.0.1"}}, nil},
	} {
		for _, framework := range nugetFrameworks {
			for _, ending := range []string{".dll", ".xml"} {
				data, err := os.ReadFile(filepath.Join(dir, "src", n.id, "bin", "Release", framework, n.id+ending))
				if err != nil {
					return err
				}
				n.files = append(n.files, entry{name: "lib/" + framework + "/" + n.id + ending, mode: 0o644, data: data})
			}
		}
		for _, s := range sources {
			if name, ok := strings.CutPrefix(s.name, "src/"+n.id+"/buildTransitive/"); ok {
				n.files = append(n.files, entry{name: "build/" + name, mode: 0o644, data: s.data}, entry{name: "buildTransitive/" + name, mode: 0o644, data: s.data})
			}
		}
		if err := r.addNuget(d, orderKits, n); err != nil {
			return err
		}
	}
	return nil
}
