package docs_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/app/hostjson"
	"github.com/redeliver/redeliver/host/kinds/served"
)

var update = flag.Bool("update", false, "write the parts of pages that are made from the program")

// holds compares the end of a page, from its mark on, with what the program says.
func holds(t *testing.T, file, mark, want string) {
	t.Helper()
	head, got, ok := strings.Cut(read(t, file), mark)
	if !ok {
		t.Fatalf("%s has no %q", file, mark)
	}
	want = strings.TrimPrefix(want, mark)
	if *update {
		if err := os.WriteFile(file, []byte(head+mark+want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s is not what the program says (go test ./docs -run TestReference -update writes it; -want +got):\n%s", file, diff)
	}
}

// option is what the schema of host.json says of a switch.
type option struct {
	Description string `json:"description"`
	Type        string `json:"type"`
	Enum        []any  `json:"enum"`
	Default     any    `json:"default"`
	Minimum     *int   `json:"minimum"`
	Maximum     *int   `json:"maximum"`
	Items       struct {
		Enum []string `json:"enum"`
	} `json:"items"`
}

// values are the values of a switch, the default first.
func (o option) values() string {
	quoted := func(v any) string { return fmt.Sprintf("`%v`", v) }
	switch {
	case o.Type == "array":
		return "`[]`"
	case o.Type == "boolean":
		return fmt.Sprintf("`%v`, `%v`", o.Default, o.Default != true)
	case len(o.Enum) > 0:
		var list []string
		if o.Default != nil {
			list = append(list, quoted(o.Default))
		}
		for _, v := range o.Enum {
			if v != o.Default {
				list = append(list, quoted(v))
			}
		}
		return strings.Join(list, ", ")
	case o.Maximum != nil:
		return fmt.Sprintf("%s, %d to %d", quoted(o.Default), *o.Minimum, *o.Maximum)
	default:
		return fmt.Sprintf("%s, any from %d", quoted(o.Default), *o.Minimum)
	}
}

// options are the switches of the schema of host.json.
func options(t *testing.T) map[string]option {
	t.Helper()
	var schema struct {
		Properties map[string]struct {
			Properties map[string]option `json:"properties"`
		} `json:"properties"`
	}
	if err := json.Unmarshal([]byte(read(t, "../schemas/host.json")), &schema); err != nil {
		t.Fatal(err)
	}
	return schema.Properties[hostjson.SwitchSection].Properties
}

// The table of switches: names from the program, values and texts from the schema of host.json.
func TestReferenceOfSwitches(t *testing.T) {
	t.Parallel()
	const mark = "\n| Name | Values, default first | Decides |\n"
	of := options(t)
	var b strings.Builder
	b.WriteString(mark + "| --- | --- | --- |\n")
	for _, name := range hostjson.SwitchNames() {
		o, ok := of[name]
		if !ok || o.Description == "" {
			t.Errorf("the schema of host.json has no text for the switch %s", name)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, o.values(), strings.TrimSuffix(o.Description, "."))
	}
	holds(t, "switches.md", mark, b.String())
}

// The defaults of the table are those of the program: an app that names them all has the
// switches of one that names none.
func TestDefaultsOfSwitches(t *testing.T) {
	t.Parallel()
	of := options(t)
	given, without := map[string]any{}, 0
	for _, name := range hostjson.SwitchNames() {
		if of[name].Default != nil {
			given[name] = of[name].Default
		} else {
			without++
		}
	}
	load := func(redeliver map[string]any) hostjson.Switches {
		text, err := json.Marshal(map[string]any{"version": "2.0", "redeliver": redeliver})
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "host.json"), text, 0o600); err != nil {
			t.Fatal(err)
		}
		a, err := app.Load(dir, &app.Options{Kinds: served.Facts()})
		if err != nil {
			t.Fatal(err)
		}
		s := a.Switches
		s.Explicit = nil
		return s
	}
	if diff := cmp.Diff(load(nil), load(given)); diff != "" || without != 2 {
		t.Errorf("%d switches without a default, want ignore and tableRowKey; the program's own and those of the schema (-program +schema):\n%s", without, diff)
	}
}

// The page of lints, from the program's list; and what it warns of and what the list has are the
// same, and each of them can be switched off.
func TestReferenceOfLints(t *testing.T) {
	t.Parallel()
	const mark = "\n## L-1\n"
	var b strings.Builder
	var listed []string
	for _, rule := range app.LintRules() {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", rule.ID, rule.Text)
		listed = append(listed, rule.ID)
	}
	holds(t, "lints.md", mark, b.String())

	said := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?:\(|\(b, |rowKeyLint = )"(L-\d+)"`).FindAllStringSubmatch(sources(t, "../host/app", "../host/kinds", "../triggers"), -1) {
		said[m[1]] = true
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(said)), slices.Sorted(slices.Values(listed))); diff != "" {
		t.Errorf("lints that the program finds, and those of its list (-found +listed):\n%s", diff)
	}
	ignore := options(t)["ignore"].Items
	for _, id := range listed {
		if !slices.Contains(ignore.Enum, id) {
			t.Errorf("redeliver.ignore does not take %s", id)
		}
	}
}
