package main

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the blocks that are made from names.json")

// The README says how to install what is there, with the names of names.json.
func TestInstallBlock(t *testing.T) {
	t.Parallel()
	names, err := readNames()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("..", "..", "README.md")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want, ok := names.withInstallBlock(string(text))
	if !ok {
		t.Fatal("README.md has no block of names")
	}
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(text) != want {
		t.Error("the block of names in README.md is not what names.json says: go -C cmd/release test -update writes it")
	}
}

// published are commands that take what somebody has published under a name.
var published = regexp.MustCompile(`\b(?:npx|npm (?:i|install|add)|pnpm (?:add|dlx)|yarn (?:add|dlx)|uvx|uv tool install|uv add|pip3? install|pipx (?:run|install)|brew install|scoop install|docker (?:run|pull)|skopeo copy)((?: +[^ \n|&;` + "`" + `]+)+)`) // read only

// foreign returns the commands of a page that would fetch a package with a name that is not
// this project's.
func (n Names) foreign(page string) (out []string) {
	names := map[string]bool{}
	for _, name := range n.all() {
		if !name.Owned {
			names[name.Name] = true
		}
	}
	for _, m := range published.FindAllStringSubmatch(page, -1) {
		for _, word := range strings.Fields(m[1]) {
			word, _, _ = strings.Cut(strings.TrimPrefix(word, "docker://"), "@latest")
			if names[word] || names[strings.TrimSuffix(word, "/redeliver")] {
				out = append(out, strings.TrimSpace(m[0]))
			}
		}
	}
	return out
}

// No page prints a command that would run somebody else's package.
func TestPagesPrintNoForeignName(t *testing.T) {
	t.Parallel()
	names, err := readNames()
	if err != nil {
		t.Fatal(err)
	}
	var pages []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "functions/samples/*/*.md"} {
		found, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	if len(pages) < 15 {
		t.Errorf("%d pages", len(pages))
	}
	for _, file := range pages {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, command := range names.foreign(outsideBlock(string(text))) {
			t.Errorf("%s prints %q, and the name is not owned", file, command)
		}
	}
	for command, want := range map[string]int{
		"npm install -D @redeliver/cli": 1, "uvx --from redeliver-cli redeliver start": 1, "brew install redeliver/tap/redeliver": 1, "pip install redeliver-testing pytest": 1, "docker run ghcr.io/redeliver/redeliver": 1,
		"npm install -D dist/npm/redeliver-cli-*.tgz": 0, "npx redeliver start": 0, "pip install dist/pypi/redeliver_cli-*.whl": 0,
	} {
		if got := names.foreign(command); len(got) != want {
			t.Errorf("%q: %q, want %d", command, got, want)
		}
	}
}
