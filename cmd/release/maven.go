package main

import (
	"fmt"
	"strings"
)

// mavenBinary is the artefact with the programs, one jar for each platform, by classifier.
const mavenBinary = "redeliver-binary"

// mavenFolder is where the files of an artefact are in a repository.
func (r *release) mavenFolder(artefact string) string {
	return "maven/" + strings.ReplaceAll(r.names.MavenGroup.Name, ".", "/") + "/" + artefact + "/" + r.version + "/" + artefact + "-" + r.version
}

// mavenAdd adds a file of a repository with its checksum.
func (r *release) mavenAdd(d *dist, name string, data []byte) error {
	publish := &publication{r.names.MavenGroup.Name + ":" + mavenBinary, orderCommands}
	if err := d.add(name, "maven", data, publish); err != nil {
		return err
	}
	return d.add(name+".sha256", "maven", []byte(sum(data)), publish)
}

// mavenPom describes the artefact, which has no jar of its own.
func (r *release) mavenPom(d *dist) error {
	home := "https://" + r.names.Repository.Name
	pom := fmt.Sprintf(`<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>%s</groupId>
  <artifactId>%s</artifactId>
  <version>%s</version>
  <packaging>pom</packaging>
  <name>Redeliver, the program</name>
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
      <url>%[5]s</url>
    </developer>
  </developers>
  <scm>
    <url>%[5]s</url>
    <connection>scm:git:%[5]s.git</connection>
    <tag>v%[3]s</tag>
  </scm>
</project>
`, r.names.MavenGroup.Name, mavenBinary, r.version, tagline, home)
	return r.mavenAdd(d, r.mavenFolder(mavenBinary)+".pom", []byte(pom))
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
	return r.mavenAdd(d, r.mavenFolder(mavenBinary)+"-"+p.maven+".jar", data)
}
