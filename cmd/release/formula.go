package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

// downloads is where the archives of a release are.
func (r *release) downloads() string {
	return "https://" + r.names.Repository.Name + "/releases/download/v" + r.version + "/"
}

// homebrew writes the formula, for the archives that this release has.
func (r *release) homebrew(d *dist) error {
	systems := map[string]string{"darwin": "macos", "linux": "linux"}
	cpus := map[string]string{"amd64": "intel", "arm64": "arm"}
	var b strings.Builder
	for _, system := range []string{"darwin", "linux"} {
		var inner strings.Builder
		for _, p := range r.platforms {
			if p.os == system {
				name := r.archiveName(p)
				fmt.Fprintf(&inner, "    on_%s do\n      url %q\n      sha256 %q\n    end\n", cpus[p.arch], r.downloads()+name, d.hashOf(name))
			}
		}
		if inner.Len() > 0 {
			fmt.Fprintf(&b, "  on_%s do\n%s  end\n\n", systems[system], inner.String())
		}
	}
	if b.Len() == 0 {
		return nil
	}
	text := fmt.Sprintf(`class Redeliver < Formula
  desc %q
  homepage "https://%s"
  version %q
  license "Apache-2.0"

%s  def install
    bin.install "redeliver"
    bash_completion.install "completions/redeliver.bash" => "redeliver"
    zsh_completion.install "completions/_redeliver"
    fish_completion.install "completions/redeliver.fish"
    man1.install Dir["man/*.1"]
  end

  test do
    assert_match "redeliver #{version} (", shell_output("#{bin}/redeliver version")
  end
end
`, strings.TrimSuffix(tagline, "."), r.names.Repository.Name, r.version, b.String())
	return d.add("homebrew/redeliver.rb", "formula", []byte(text), &publication{r.names.Tap.Name, orderFormula})
}

// scoop writes the same for Windows.
func (r *release) scoop(d *dist) error {
	type download struct {
		URL  string `json:"url"`
		Hash string `json:"hash"`
	}
	of := map[string]download{}
	for _, p := range r.platforms {
		if name := r.archiveName(p); p.os == "windows" {
			of[map[string]string{"amd64": "64bit", "arm64": "arm64"}[p.arch]] = download{r.downloads() + name, d.hashOf(name)}
		}
	}
	if len(of) == 0 {
		return nil
	}
	text, err := json.MarshalIndent(struct {
		Version      string              `json:"version"`
		Description  string              `json:"description"`
		Homepage     string              `json:"homepage"`
		License      string              `json:"license"`
		Architecture map[string]download `json:"architecture"`
		Bin          string              `json:"bin"`
	}{r.version, tagline, "https://" + r.names.Repository.Name, "Apache-2.0", of, "redeliver.exe"}, "", "  ")
	if err != nil {
		return err
	}
	return d.add("scoop/redeliver.json", "formula", append(text, '\n'), &publication{r.names.Tap.Name, orderFormula})
}
