package main

import "strings"

// The marks of the block that is made from names.json.
const (
	namesBegin = "<!-- names: written by go -C cmd/release test -update -->\n"
	namesEnd   = "<!-- /names -->\n"
)

// installBlock says how to install the program. As long as names are not owned the commands
// take files: with a name they might run somebody else's package.
func (n Names) installBlock() string {
	if !n.NpmCommand.Owned || !n.PypiCommand.Owned || !n.Tap.Owned || !n.Repository.Owned {
		return "Nothing is published yet. A clone writes the packages, with Go and git alone; take the line that suits you ([all ways](docs/install.md)):\n\n" +
			"<!-- no run: the release's own tests install each file -->\n```console\n" +
			"$ make build                                   # bin/redeliver, or from here on packages:\n" +
			"$ make release SNAPSHOT=1 PLATFORMS=linux/amd64\n" +
			"$ npm install -D ./dist/npm/redeliver-cli-*.tgz  # then npx redeliver, in that project\n" +
			"$ pip install ./dist/pypi/" + strings.ReplaceAll(n.PypiCommand.Name, "-", "_") + "-*.whl\n" +
			"$ tar -xzf dist/redeliver_*_linux_amd64.tar.gz redeliver\n```\n"
	}
	return "One of these ([all ways](docs/install.md)):\n\n<!-- no run: the release's own tests install each file -->\n```console\n" +
		"$ npm install -D " + n.NpmCommand.Name + "   # then npx redeliver, in that project\n" +
		"$ pip install " + n.PypiCommand.Name + "\n" +
		"$ brew install " + n.Tap.Name + "/redeliver\n```\n\n" +
		"or an archive of [the releases](https://" + n.Repository.Name + "/releases).\n"
}

// withInstallBlock puts the block into a page, in the place of the one that is there.
func (n Names) withInstallBlock(page string) (string, bool) {
	before, rest, ok := strings.Cut(page, namesBegin)
	_, after, closed := strings.Cut(rest, namesEnd)
	return before + namesBegin + n.installBlock() + namesEnd + after, ok && closed
}

// outsideBlock is a page without that block.
func outsideBlock(page string) string {
	before, rest, _ := strings.Cut(page, namesBegin)
	_, after, _ := strings.Cut(rest, namesEnd)
	return before + after
}
