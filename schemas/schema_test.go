package schemas_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/schemas"
)

// samples returns the texts below testdata/samples by "schema/file".
func samples(tb testing.TB) map[string]string {
	tb.Helper()
	paths, err := filepath.Glob("testdata/samples/*/*.json")
	if err != nil || len(paths) == 0 {
		tb.Fatalf("no samples: %v", err)
	}
	out := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			tb.Fatal(err)
		}
		out[filepath.Base(filepath.Dir(path))+"/"+filepath.Base(path)] = string(text)
	}
	return out
}

// TestSamples: the sample documents, which use every feature, have no fault, and
// every schema has some.
func TestSamples(t *testing.T) {
	t.Parallel()
	seen := map[schemas.Name]bool{}
	for file, text := range samples(t) {
		name := schemas.Name(strings.SplitN(file, "/", 2)[0])
		seen[name] = true
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			check(t, parse(t, file, text), name)
		})
	}
	for _, name := range schemas.Names() {
		if !seen[name] {
			t.Errorf("schema %s has no sample", name)
		}
	}
}

// TestPropertiesOfSpec: every property that the specification's tables name is
// in the schema, with a description.
func TestPropertiesOfSpec(t *testing.T) {
	t.Parallel()
	list, err := os.ReadFile("testdata/properties.tsv")
	if err != nil {
		t.Fatal(err)
	}
	roots := map[string]map[string]any{}
	for _, name := range schemas.Names() {
		var root map[string]any
		if err := json.Unmarshal(schemas.Schema(name), &root); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		roots[string(name)] = root
	}
	for line := range strings.Lines(string(list)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if len(fields) != 3 {
			t.Fatalf("bad line %q", line)
		}
		file, path, section := fields[0], fields[1], fields[2]
		schema := follow(roots[file], path)
		if schema == nil {
			t.Errorf("%s: %s of %s is not in the schema", file, path, section)
		} else if schema["description"] == nil && schema["enum"] == nil {
			t.Errorf("%s: %s of %s has no description", file, path, section)
		}
	}
}

// follow finds the schema of a property: "a.b", "list[].c", "map.*.d", or, below
// a binding type, "queueTrigger.queueName".
func follow(root map[string]any, path string) map[string]any {
	at := root
	for i, key := range strings.Split(path, ".") {
		name, isList := strings.CutSuffix(key, "[]")
		next, _ := at["properties"].(map[string]any)
		sub, _ := next[name].(map[string]any)
		if name == "*" {
			sub, _ = at["additionalProperties"].(map[string]any)
		}
		if sub == nil && i == 0 {
			definitions, _ := root["definitions"].(map[string]any)
			sub, _ = definitions[name].(map[string]any)
		}
		if ref, ok := sub["$ref"].(string); ok {
			definitions, _ := root["definitions"].(map[string]any)
			sub, _ = definitions[strings.TrimPrefix(ref, "#/definitions/")].(map[string]any)
		}
		if isList {
			sub, _ = sub["items"].(map[string]any)
		}
		if sub == nil {
			return nil
		}
		at = sub
	}
	return at
}

// TestSchemaNames: every name has a text, nothing else has.
func TestSchemaNames(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.json")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(schemas.Names()) {
		t.Errorf("%d schema files, %d names", len(files), len(schemas.Names()))
	}
	for _, name := range schemas.Names() {
		if !json.Valid(schemas.Schema(name)) {
			t.Errorf("Schema(%s) is not JSON", name)
		}
	}
	if got := schemas.Schema("other.json"); got != nil {
		t.Errorf("Schema of an unknown name = %s, want nil", got)
	}
}
