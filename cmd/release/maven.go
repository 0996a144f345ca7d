package main

import (
	"fmt"
	"slices"
	"strings"
)

const (
	mavenBinary = "redeliver-binary"  // the artefact with the programs, one jar for each platform, by classifier
	mavenKit    = "redeliver-testing" // the artefact with the test kit
)

// mavenFolder is where the files of an artefact are in a repository.
func (r *release) mavenFolder(artefact string) string {
	return "maven/" + strings.ReplaceAll(r.names.MavenGroup.Name, ".", "/") + "/" + artefact + "/" + r.version + "/" + artefact + "-" + r.version
}

// mavenAdd adds a file of an artefact with its checksum: "-sources.jar" say.
func (r *release) mavenAdd(d *dist, artefact, end string, order int, data []byte) error {
	name, publish := r.mavenFolder(artefact)+end, &publication{r.names.MavenGroup.Name + ":" + artefact, order}
	if err := d.add(name, "maven", data, publish); err != nil {
		return err
	}
	return d.add(name+".sha256", "maven", []byte(sum(data)), publish)
}

// mavenAbout is what a repository is told of an artefact.
type mavenAbout struct {
	artefact, packaging, name, description string
	more                                   string // members after the others
}

// mavenPom describes an artefact.
func (r *release) mavenPom(d *dist, a mavenAbout, order int) error {
	home := "https://" + r.names.Repository.Name
	pom := fmt.Sprintf(`<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>%s</groupId>
  <artifactId>%s</artifactId>
  <version>%s</version>
  <packaging>%s</packaging>
  <name>%s</name>
  <description>%s</description>
  <url>%s</url>
  <licenses>
    <license>
      <name>Apache-2.0</name>
      <url>https://www.apache.org/licenses/LICENSE-2.0.txt</url>
    </license>
  </licenses>
  <developers>
    <developer>
      <name>The authors of Redeliver</name>
      <url>%[7]s</url>
    </developer>
  </developers>
  <scm>
    <url>%[7]s</url>
    <connection>scm:git:%[7]s.git</connection>
    <tag>v%[3]s</tag>
  </scm>
%[8]s</project>
`, r.names.MavenGroup.Name, a.artefact, r.version, a.packaging, a.name, a.description, home, a.more)
	return r.mavenAdd(d, a.artefact, ".pom", order, []byte(pom))
}

// mavenCommand describes the programs, which have no jar without a classifier.
func (r *release) mavenCommand(d *dist) error {
	return r.mavenPom(d, mavenAbout{artefact: mavenBinary, packaging: "pom", name: "Redeliver, the program", description: tagline}, orderCommands)
}

// javaKit packs the test kit, whose files are sources, classes and pages.
func (r *release) javaKit(d *dist, files []entry) error {
	begin := []entry{
		{name: "META-INF/", mode: 0o755},
		{name: "META-INF/MANIFEST.MF", mode: 0o644, data: []byte("Manifest-Version: 1.0\r\nAutomatic-Module-Name: io.github.redeliver.testing\r\n\r\n")},
		{name: "META-INF/LICENSE", mode: 0o644, data: r.license},
	}
	for _, of := range []struct{ folder, end string }{{"classes/", ".jar"}, {"sources/", "-sources.jar"}, {"javadoc/", "-javadoc.jar"}} {
		list := slices.Clone(begin)
		for _, f := range files {
			if name, ok := strings.CutPrefix(f.name, of.folder); ok {
				list = append(list, entry{name: name, mode: 0o644, data: f.data})
			}
		}
		data, err := zipped(list, r.date)
		if err == nil {
			err = r.mavenAdd(d, mavenKit, of.end, orderKits, data)
		}
		if err != nil {
			return err
		}
	}
	return r.mavenPom(d, mavenAbout{mavenKit, "jar", "Redeliver, the test kit", kitAbout, r.mavenProgram()}, orderKits)
}

// mavenProgram is the dependency on the program of the system that Maven runs on, and what says
// which that is.
func (r *release) mavenProgram() string {
	var out strings.Builder
	fmt.Fprintf(&out, `  <dependencies>
    <dependency>
      <groupId>%s</groupId>
      <artifactId>%s</artifactId>
      <version>%s</version>
      <classifier>${redeliver.platform}</classifier>
      <scope>runtime</scope>
    </dependency>
  </dependencies>
  <profiles>
`, r.names.MavenGroup.Name, mavenBinary, r.version)
	for _, p := range platforms {
		names := map[string]string{"linux": "<name>Linux</name>", "darwin": "<family>mac</family>", "windows": "<family>windows</family>"}
		arch := map[string]string{"amd64": "amd64", "arm64": "aarch64"}[p.arch]
		if p.os == "darwin" && p.arch == "amd64" {
			arch = "x86_64"
		}
		fmt.Fprintf(&out, `    <profile>
      <id>%s</id>
      <activation>
        <os>%s<arch>%s</arch></os>
      </activation>
      <properties>
        <redeliver.platform>%[1]s</redeliver.platform>
      </properties>
    </profile>
`, p.maven, names[p.os], arch)
	}
	out.WriteString("  </profiles>\n")
	return out.String()
}

// mavenJar packs the program of a platform as a resource.
func (r *release) mavenJar(d *dist, p platform, program []byte) error {
	data, err := zipped([]entry{
		{name: "META-INF/", mode: 0o755},
		{name: "META-INF/MANIFEST.MF", mode: 0o644, data: []byte("Manifest-Version: 1.0\r\n\r\n")},
		{name: "META-INF/LICENSE", mode: 0o644, data: r.license},
		{name: "META-INF/redeliver/", mode: 0o755},
		{name: "META-INF/redeliver/" + p.program(), mode: 0o755, data: program},
	}, r.date)
	if err != nil {
		return err
	}
	return r.mavenAdd(d, mavenBinary, "-"+p.maven+".jar", orderCommands, data)
}
