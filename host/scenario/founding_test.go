package scenario_test

import (
	"bufio"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/scenario"
)

// foundingRules are the rows of the specification that restate the founding requirements
// on retries, by page. Each has its scenario.
var foundingRules = map[string][]string{
	"host-and-retry": {
		"0.1 D-1", "0.1 D-5", "0.1 D-6", "0.1 D-7", "0.1 D-9", "0.1 D-14",
		"1.5", "1.7", "2.2", "2.3", "2.4", "2.6", "4.1", "4.2", "14.1", "14.2",
	},
	"messaging": {"1.4", "1.7", "4"},
}

// The founding requirements hold, as the scenarios below testdata say them, and each of
// their rules has one.
func TestFounding(t *testing.T) {
	t.Parallel()
	files, err := scenario.Find("../../testdata/scenarios")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	indexed, rules := index(t)
	for page, list := range foundingRules {
		for _, rule := range list {
			if !rules[page+" "+rule] {
				t.Errorf("rule %q of %s has no scenario in testdata/rules.tsv", rule, page)
			}
		}
	}
	var virtual time.Duration
	begin := time.Now()
	t.Run("all", func(t *testing.T) {
		for _, file := range files {
			list, faults := scenario.Load(file)
			for _, f := range faults {
				t.Error(f)
			}
			for _, s := range list {
				name := strings.ReplaceAll(s.Name, " ", "_")
				if !indexed[name] && filepath.Base(file) != "order.scenario.yaml" {
					t.Errorf("%s: scenario %q stands in no row of testdata/rules.tsv", file, s.Name)
				}
				t.Run(name, func(t *testing.T) {
					res := scenario.Run(context.Background(), s, nil)
					for _, f := range res.Failures {
						t.Error(f.String())
					}
					virtual += res.Virtual
				})
			}
		}
	})
	t.Logf("%v of virtual time in %v", virtual, time.Since(begin))
}

// index are the scenarios that the index of rules names, and the rules with scenarios.
func index(t *testing.T) (scenarios, rules map[string]bool) {
	t.Helper()
	file, err := os.Open("../../testdata/rules.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	scenarios, rules = map[string]bool{}, map[string]bool{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		columns := strings.Split(lines.Text(), "\t")
		if name, ok := strings.CutPrefix(columns[len(columns)-1], "host/scenario/TestFounding/all/"); ok {
			scenarios[name] = true
			for page, list := range foundingRules {
				for _, rule := range list {
					if rule = page + " " + rule; columns[0] == rule || strings.HasPrefix(columns[0], rule+" ") {
						rules[rule] = true
					}
				}
			}
		}
	}
	return scenarios, rules
}

// One scenario holds for the sample apps in every language, as it is.
func TestSamples(t *testing.T) {
	t.Parallel()
	list, faults := scenario.Load("../../testdata/scenarios/order.scenario.yaml")
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	for sample, needs := range map[string]string{"orders": "go", "node-classic": "node", "python-v1": "python3", "python-v2": "python3", "custom": "python3"} {
		t.Run(sample, func(t *testing.T) {
			t.Parallel()
			if needs == "python3" && runtime.GOOS == "windows" {
				t.Skip("the interpreter has another name on Windows")
			}
			if found(needs) == "" {
				t.Skipf("%s is not on this machine", needs)
			}
			res := scenario.Run(context.Background(), list[0], &scenario.Options{App: "../../functions/samples/" + sample})
			for _, f := range res.Failures {
				t.Error(f.String())
			}
		})
	}
}

func found(program string) string {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if info, err := os.Stat(filepath.Join(dir, program)); err == nil && !info.IsDir() {
			return dir
		}
	}
	return ""
}
