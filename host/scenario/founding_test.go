package scenario_test

import (
	"bufio"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/scenario"
)

// elsewhere are founding rules that no scenario can show, and why.
var elsewhere = map[string]string{
	"F-15": "a declaration in the code of a handler",
	"F-26": "the context of another language",
	"F-27": "a sample in another language",
	"F-51": "advice to authors of handlers",
	"F-66": "administration of entities",
	"F-68": "operations of clients",
	"F-69": "what a command prints",
	"F-83": "a client that defers",
	"F-86": "transactions of clients",
}

// The founding requirements hold, as the scenarios below testdata say them, and each rule
// that a page of the specification marks as one has its own.
func TestFounding(t *testing.T) {
	t.Parallel()
	files, err := scenario.Find("../../testdata/scenarios")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	indexed, rules := index(t)
	marked := marks(t)
	for _, rule := range marked {
		switch tests := rules[rule]; {
		case len(tests) == 0:
			t.Errorf("founding rule %s has no row in testdata/rules.tsv", rule)
		case elsewhere[rule] == "" && !slices.ContainsFunc(tests, func(test string) bool { return strings.HasPrefix(test, scenarioTests) }):
			t.Errorf("founding rule %s has no scenario in testdata/rules.tsv", rule)
		}
	}
	for rule := range rules {
		if !slices.Contains(marked, rule) {
			t.Errorf("testdata/rules.tsv: %s is no founding rule of the specification", rule)
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

// scenarioTests begins the names of the tests that run a scenario each.
const scenarioTests = "host/scenario/TestFounding/all/"

// index are the scenarios that the index of rules names, and the tests of each founding
// rule.
func index(t *testing.T) (scenarios map[string]bool, rules map[string][]string) {
	t.Helper()
	file, err := os.Open("../../testdata/rules.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	scenarios, rules = map[string]bool{}, map[string][]string{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		columns := strings.Split(lines.Text(), "\t")
		test := columns[len(columns)-1]
		if name, ok := strings.CutPrefix(test, scenarioTests); ok {
			scenarios[name] = true
		}
		for _, rule := range foundingRule.FindAllString(columns[0], -1) {
			rules[rule] = append(rules[rule], test)
		}
	}
	return scenarios, rules
}

var (
	foundingRule = regexp.MustCompile(`\bF-\d+\b`)
	foundingMark = regexp.MustCompile(`\[2019([^]]*)\]`)
)

// marks are the founding rules that the pages of the specification mark, each once. A mark
// without a number would be a rule that nobody looks for.
func marks(t *testing.T) (rules []string) {
	t.Helper()
	pages, err := filepath.Glob("../../docs/spec/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for n, line := range strings.Split(string(text), "\n") {
			if strings.HasPrefix(line, "| [2019] |") || strings.Contains(line, "**[2019]**") {
				continue // what the mark means
			}
			for _, m := range foundingMark.FindAllStringSubmatch(line, -1) {
				rule := foundingRule.FindString(m[1])
				if rule == "" && page != filepath.Join("..", "..", "docs", "spec", "README.md") || slices.Contains(rules, rule) {
					t.Errorf("%s:%d: %s: want a number of its own", page, n+1, m[0])
				}
				if rule != "" {
					rules = append(rules, rule)
				}
			}
		}
	}
	return rules
}

// One scenario holds for the sample apps in every language, as it is.
func TestSamples(t *testing.T) {
	t.Parallel()
	list, faults := scenario.Load("../../testdata/scenarios/order.scenario.yaml")
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	for sample, needs := range map[string]string{"orders": "go", "node-classic": "node", "python-v1": "python3", "python-v2": "python3", "custom": "perl"} {
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
