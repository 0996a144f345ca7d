package main

import (
	"fmt"
	"slices"
	"strings"
)

// platform is an operating system with an architecture, and what each package manager calls
// them.
type platform struct {
	os, arch string
	node     string   // process.platform and process.arch of Node.js, with a dash
	wheels   []string // tags of PEP 425, in the order of the file's name
	maven    string   // the classifier, as os-maven-plugin and protoc have it
}

// platforms are those that releases have.
var platforms = []platform{ // read only
	{"linux", "amd64", "linux-x64", []string{"manylinux_2_17_x86_64", "manylinux2014_x86_64", "musllinux_1_1_x86_64"}, "linux-x86_64"},
	{"linux", "arm64", "linux-arm64", []string{"manylinux_2_17_aarch64", "manylinux2014_aarch64", "musllinux_1_1_aarch64"}, "linux-aarch_64"},
	{"darwin", "amd64", "darwin-x64", []string{"macosx_12_0_x86_64"}, "osx-x86_64"},
	{"darwin", "arm64", "darwin-arm64", []string{"macosx_12_0_arm64"}, "osx-aarch_64"},
	{"windows", "amd64", "win32-x64", []string{"win_amd64"}, "windows-x86_64"},
	{"windows", "arm64", "win32-arm64", []string{"win_arm64"}, "windows-aarch_64"},
}

func (p platform) String() string { return p.os + "/" + p.arch }

// program is the name of the program's file.
func (p platform) program() string {
	if p.os == "windows" {
		return "redeliver.exe"
	}
	return "redeliver"
}

// parsePlatforms reads a list such as "linux/amd64 darwin/arm64"; empty means all.
func parsePlatforms(text string) (out []platform, err error) {
	words := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' })
	if len(words) == 0 {
		return platforms, nil
	}
	for _, p := range platforms { // always in this order
		if slices.Contains(words, p.String()) {
			out = append(out, p)
		}
	}
	for _, word := range words {
		if !slices.ContainsFunc(platforms, func(p platform) bool { return p.String() == word }) {
			return nil, fmt.Errorf("no platform %q: want some of %v", word, platforms)
		}
	}
	return out, nil
}
