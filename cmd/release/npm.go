package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
)

//go:embed npm/redeliver.js
var npmLauncher string // read only

// npmManifest is a package.json, with its members in the order in which people write them.
type npmManifest struct {
	Name                 string             `json:"name"`
	Version              string             `json:"version"`
	Description          string             `json:"description"`
	Homepage             string             `json:"homepage"`
	Repository           npmRepository      `json:"repository"`
	License              string             `json:"license"`
	OS                   []string           `json:"os,omitempty"`
	CPU                  []string           `json:"cpu,omitempty"`
	PreferUnplugged      bool               `json:"preferUnplugged,omitempty"` // Yarn's Plug'n'Play cannot run a program inside of a zip
	Main                 string             `json:"main,omitempty"`
	Bin                  map[string]string  `json:"bin,omitempty"`
	Type                 string             `json:"type,omitempty"`
	Types                string             `json:"types,omitempty"`
	Exports              json.RawMessage    `json:"exports,omitempty"`
	Files                []string           `json:"files,omitempty"` // none: all
	Engines              map[string]string  `json:"engines,omitempty"`
	OptionalDependencies map[string]string  `json:"optionalDependencies,omitempty"`
	PeerDependencies     map[string]string  `json:"peerDependencies,omitempty"`
	PeerDependenciesMeta map[string]npmPeer `json:"peerDependenciesMeta,omitempty"`
}

type npmPeer struct {
	Optional bool `json:"optional"`
}

type npmRepository struct {
	Type string `json:"type"`
	URL  string `json:"url"`
}

func (r *release) npmManifest(name, about string) npmManifest {
	home := "https://" + r.names.Repository.Name
	return npmManifest{Name: name, Version: r.version, Description: about, Homepage: home, Repository: npmRepository{"git", "git+" + home + ".git"}, License: "Apache-2.0"}
}

// npmFile is the file of a package, as npm pack names it.
func npmFile(name, version string) string {
	return "npm/" + strings.NewReplacer("@", "", "/", "-").Replace(name) + "-" + version + ".tgz"
}

// npmPackage packs files with a package.json.
func (r *release) npmPackage(d *dist, m npmManifest, order int, files ...entry) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	entries := []entry{{name: "package/package.json", mode: 0o644, data: append(text, '\n')}, {name: "package/LICENSE", mode: 0o644, data: r.license}}
	for _, f := range files {
		f.name = "package/" + f.name
		entries = append(entries, f)
	}
	data, err := tarGz(entries, r.date)
	if err != nil {
		return err
	}
	return d.add(npmFile(m.Name, m.Version), "npm", data, &publication{m.Name, order})
}

// npmPlatform packs the program of a platform. It has no libc field: the program is static.
func (r *release) npmPlatform(d *dist, p platform, program []byte) error {
	system, cpu, _ := strings.Cut(p.node, "-")
	m := r.npmManifest(r.names.NpmPlatforms.Name+p.node, "The program of "+r.names.NpmCommand.Name+" for "+p.node)
	m.OS, m.CPU, m.PreferUnplugged, m.Files = []string{system}, []string{cpu}, true, []string{"bin"}
	return r.npmPackage(d, m, orderPlatforms, entry{name: "bin/" + p.program(), mode: 0o755, data: program})
}

// npmCommand packs the launcher, which depends on the packages of all platforms: npm
// installs the one that fits. It has no install script: package managers ask before they run
// one, or do not.
func (r *release) npmCommand(d *dist) error {
	m := r.npmManifest(r.names.NpmCommand.Name, tagline)
	m.Main, m.Bin = "bin/redeliver.js", map[string]string{"redeliver": "bin/redeliver.js"}
	m.Files, m.Engines = []string{"bin"}, map[string]string{"node": ">=18"}
	m.OptionalDependencies = map[string]string{}
	for _, p := range platforms {
		m.OptionalDependencies[r.names.NpmPlatforms.Name+p.node] = r.version
	}
	launcher := strings.NewReplacer("@PLATFORMS@", r.names.NpmPlatforms.Name, "@COMMAND@", r.names.NpmCommand.Name, "@VERSION@", r.version).Replace(npmLauncher)
	if strings.Contains(launcher, "PLATFORMS@") {
		return fmt.Errorf("the launcher keeps a name that was not filled in")
	}
	return r.npmPackage(d, m, orderCommands,
		entry{name: "README.md", mode: 0o644, data: r.readme},
		entry{name: "bin/redeliver.js", mode: 0o755, data: []byte(launcher)})
}
