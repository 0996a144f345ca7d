package app_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/app"
)

var update = flag.Bool("update", false, "rewrite the golden files of testdata/broken")

const brokenApps = "../../testdata/broken"

// brokenCase is the check.json of a broken app: what it shows, and the
// environment and flags that it needs to show it.
type brokenCase struct {
	About     string            `json:"about"`
	Env       map[string]string `json:"env"`
	Set       []string          `json:"set"`
	Functions []string          `json:"functions"`
}

// TestBroken checks every app of testdata/broken against its golden report: all
// faults in one go, with file, line, column and JSON path.
func TestBroken(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir(brokenApps)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		t.Run(entry.Name(), func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(brokenApps, entry.Name())
			text, err := os.ReadFile(filepath.Join(dir, "check.json"))
			if err != nil {
				t.Fatal(err)
			}
			var c brokenCase
			if err := json.Unmarshal(text, &c); err != nil {
				t.Fatalf("check.json: %v", err)
			}
			a := loadDir(t, dir, &app.Options{Env: c.Env, Set: c.Set, Functions: c.Functions})
			report := app.Check(a)
			var got bytes.Buffer
			got.WriteString("# " + c.About + "\n\n")
			if err := report.Write(&got); err != nil {
				t.Fatal(err)
			}
			if len(report.Errors)+len(report.Warnings)+len(report.Lints) == 0 {
				t.Errorf("nothing is wrong with this app")
			}
			golden := filepath.Join(dir, "expected.golden")
			if *update {
				if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatalf("%v (run the test with -update to write it)", err)
			}
			want = bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n"))
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); diff != "" {
				t.Errorf("report of %s (-want +got):\n%s", entry.Name(), diff)
			}
		})
	}
}

// TestBrokenIsolation: apart from the apps whose host.json or settings are bad,
// a function that is in error leaves the function "Good" alone.
func TestBrokenIsolation(t *testing.T) {
	t.Parallel()
	goods, err := filepath.Glob(filepath.Join(brokenApps, "*", "Good", "function.json"))
	if err != nil || len(goods) < 40 {
		t.Fatalf("found %d apps with a good function (%v), want 40 or more", len(goods), err)
	}
	for _, path := range goods {
		dir := filepath.Dir(filepath.Dir(path))
		a := loadDir(t, dir, nil)
		if good := function(t, a, "Good"); good.InError() {
			t.Errorf("%s: the good function is in error: %v", filepath.Base(dir), good.Faults)
		}
	}
}
