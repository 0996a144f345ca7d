package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// composed is what the tests read of a compose file.
type composed struct {
	Services map[string]struct {
		Image       string
		Environment map[string]string
		Volumes     []string
		Ports       []string
		Healthcheck struct{ Test []string }
	}
}

// The compose files of the documents fit the image: its ports, its folders, its commands. No
// port is published to other machines.
func TestComposeFiles(t *testing.T) {
	t.Parallel()
	dir := packed(t)
	image := string(read(t, dir, "manifest.json")) // it was made
	if !strings.Contains(image, `"kind": "oci"`) {
		t.Fatal("the release has no image")
	}
	r := &release{}
	for _, page := range []string{"container.md", "instead.md"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "docs", page))
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, block := range strings.Split(string(text), "```yml\n")[1:] {
			block, _, _ = strings.Cut(block, "```")
			var file composed
			dec := yaml.NewDecoder(strings.NewReader(block))
			if err := dec.Decode(&file); err != nil {
				t.Errorf("%s: %v", page, err)
			}
			for name, s := range file.Services {
				found++
				for _, fault := range r.misfits(s.Image, s.Ports, s.Volumes, s.Healthcheck.Test) {
					t.Errorf("%s: service %s: %s", page, name, fault)
				}
				if s.Environment["REDELIVER_MASTER_KEY"] == "" {
					t.Errorf("%s: service %s has no key", page, name)
				}
			}
		}
		if found == 0 {
			t.Errorf("%s has no compose file", page)
		}
	}
	if got := r.misfits("nginx", []string{"8080:80"}, []string{"x:/var"}, []string{"CMD", "curl"}); len(got) != 5 {
		t.Errorf("misfits %q, want five", got)
	}
}

// misfits says what of a service does not fit the image.
func (r *release) misfits(image string, ports, volumes, check []string) (out []string) {
	if !strings.HasPrefix(image, "redeliver:") {
		out = append(out, "image "+image)
	}
	for _, port := range ports {
		fields := strings.Split(port, ":")
		if _, served := imagePorts[fields[len(fields)-1]+"/tcp"]; !served {
			out = append(out, "the image does not serve port "+port)
		}
		if fields[0] != "127.0.0.1" {
			out = append(out, "other machines reach port "+port)
		}
	}
	for _, volume := range volumes {
		_, at, _ := strings.Cut(volume, ":")
		if at != imageData && !strings.HasSuffix(at, "_Emulator/ConfigFiles/Config.json") {
			out = append(out, "nothing reads "+at)
		}
	}
	if !slices.Equal(check, []string{"CMD", "redeliver", "status"}) {
		out = append(out, fmt.Sprintf("health check %q", check))
	}
	return out
}

// The workflow of a release names commands that are there, and gives the right to publish to
// one job.
func TestReleaseWorkflow(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", ".github", "workflows", "release.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Jobs map[string]struct {
			Needs       any
			Permissions map[string]string
			Steps       []struct{ Run string }
		}
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	makefile, err := os.ReadFile(filepath.Join("..", "..", "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	for name, job := range file.Jobs {
		if _, ok := job.Permissions["id-token"]; ok != (name == "publish") {
			t.Errorf("job %s may publish: %v", name, ok)
		}
		for _, s := range job.Steps {
			words := strings.Fields(s.Run)
			if len(words) == 0 || words[0] != "make" {
				continue
			}
			target := words[1]
			if target == "-C" {
				target = words[3]
			}
			if !strings.Contains(string(makefile), "\n"+target+": ") {
				t.Errorf("job %s: make has no target %q", name, target)
			}
		}
	}
	if got := fmt.Sprint(file.Jobs["publish"].Needs); got != "[again install]" || len(file.Jobs) != 4 {
		t.Errorf("publish needs %s of %d jobs", got, len(file.Jobs))
	}
}
