package conventions_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// specDir holds the specification; its README.md says how it is cited.
const specDir = "docs/spec"

// specIndex holds the names that a citation can have.
type specIndex struct {
	// sections has "file number" of every heading.
	sections map[string]bool
	// rows has the rules with a number of their own: D-1, S-3, E-2, L-7.
	rows map[string]bool
}

var (
	headingLine = regexp.MustCompile(`^#{2,3} (\d+(?:\.\d+[a-z]?)?)\.? `)
	ruleLine    = regexp.MustCompile(`^\| \*{0,2}([DSEL]-\d+)\*{0,2} \|`)
	// changeLine is a row of drift-2026.md. It is cited with its file, as a section is.
	changeLine = regexp.MustCompile(`^\| (C-\d+) \|`)

	specName = `(host-and-retry|storage|messaging|workers-dotnet-java|workers|tables|durable|drift-2026)`
	number   = `(?:\d+(?:\.\d+[a-z]?)?|C-\d+)`
	// A citation may list sections: "spec messaging 3.2, 3.3 and 6".
	citation = regexp.MustCompile(`\bspec ` + specName + ` (` + number + `(?:(?:, | and | to )` + number + `\b)*)`)
	section  = regexp.MustCompile(number)
	ruleName = regexp.MustCompile(`\b[DSEL]-\d+\b`)
	// loose is a file of the specification with a section, without the word that
	// makes a citation of it.
	loose = regexp.MustCompile(`(?:^|[^\w/.-])(?:(?:host-and-retry|messaging|workers-dotnet-java|workers)(?:\.md)? \d|storage\.md \d|drift-2026(?:\.md)? (?:\d|C-))`)
)

func readSpec(t *testing.T) specIndex {
	t.Helper()
	index := specIndex{sections: map[string]bool{}, rows: map[string]bool{}}
	files, err := filepath.Glob(specDir + "/*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("no specification in %s: %v", specDir, err)
	}
	for _, name := range files {
		base := strings.TrimSuffix(filepath.Base(name), ".md")
		for _, line := range lines(t, name) {
			if m := headingLine.FindStringSubmatch(line); m != nil {
				index.sections[base+" "+m[1]] = true
			}
			if m := changeLine.FindStringSubmatch(line); m != nil {
				index.sections[base+" "+m[1]] = true
			}
			if m := ruleLine.FindStringSubmatch(line); m != nil {
				index.rows[m[1]] = true
			}
		}
	}
	return index
}

func lines(t *testing.T, name string) []string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(data), "\n")
}

// faults are the citations of a text that name nothing.
func (s specIndex) faults(text string) []string {
	var faults []string
	for _, m := range citation.FindAllStringSubmatch(text, -1) {
		for _, n := range section.FindAllString(m[2], -1) {
			if !s.sections[m[1]+" "+n] {
				faults = append(faults, "spec "+m[1]+" "+n+" is no section")
			}
		}
	}
	if m := loose.FindString(citation.ReplaceAllString(text, "")); m != "" {
		faults = append(faults, strings.TrimSpace(m)+"... is cited without the word spec")
	}
	return faults
}

// Every citation of the specification names a section that is there, in code,
// tests and documents, and so does every row of the indexes.
func TestCitations(t *testing.T) {
	t.Parallel()
	spec := readSpec(t)
	for _, name := range cited(t) {
		text := unwrapped(t, name)
		for _, fault := range spec.faults(text) {
			t.Errorf("%s: %s", name, fault)
		}
		for _, rule := range ruleName.FindAllString(text, -1) {
			if !spec.rows[rule] && rule != noLint {
				t.Errorf("%s: %s is no rule of the specification", name, rule)
			}
		}
	}
	for _, index := range []struct {
		name   string
		column int
	}{{rulesFile, 0}, {"schemas/testdata/properties.tsv", 2}} {
		file, err := os.Open(index.name)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		scanner := bufio.NewScanner(file)
		for scanner.Scan() {
			columns := strings.Split(scanner.Text(), "\t")
			if strings.HasPrefix(columns[0], "#") || len(columns) <= index.column {
				continue
			}
			words := strings.Fields(columns[index.column])
			if len(words) < 2 || !spec.sections[words[0]+" "+strings.TrimSuffix(words[1], ",")] {
				t.Errorf("%s: %q is no section", index.name, columns[index.column])
			}
		}
	}
}

// noLint stands in a test for a lint that does not exist.
const noLint = "L-99"

// cited are the files that may cite the specification.
func cited(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("git", "ls-files", "*.go", "*.md", "*.proto", "*.json", "*.txtar", "Makefile").Output()
	if err != nil {
		t.Skipf("not a git checkout: %v", err)
	}
	var names []string
	for _, name := range strings.Fields(string(out)) {
		if name != "conventions/citations_test.go" && !strings.HasPrefix(name, specDir+"/") {
			names = append(names, name)
		}
	}
	return names
}

var commentBreak = regexp.MustCompile(`\n\s*// ?`)

// unwrapped is a file with the lines of each comment joined.
func unwrapped(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if os.IsNotExist(err) {
		return "" // removed, not committed yet
	}
	if err != nil {
		t.Fatal(err)
	}
	return commentBreak.ReplaceAllString(string(data), " ")
}

// The test itself can fail.
func TestCitationsAreLookedUp(t *testing.T) {
	t.Parallel()
	spec := specIndex{sections: map[string]bool{"storage 4.1": true, "storage 9": true, "messaging 3.6a": true,
		"drift-2026 C-3": true, "drift-2026 C-12": true, "drift-2026 7": true}}
	for text, want := range map[string]string{
		"Rules: spec storage 4.1 and 9.":  "",
		"(spec messaging 3.6a)":           "",
		"(spec storage 4.1, 9.9)":         "spec storage 9.9 is no section",
		"as host-and-retry 0.2 has it":    "host-and-retry 0... is cited without the word spec",
		"storage 100000 messages are put": "",
		"spec drift-2026 C-3, C-12 and 7": "",
		"(spec drift-2026 C-31)":          "spec drift-2026 C-31 is no section",
		"the row drift-2026 C-3":          "drift-2026 C-... is cited without the word spec",
	} {
		if got := strings.Join(spec.faults(text), "; "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
