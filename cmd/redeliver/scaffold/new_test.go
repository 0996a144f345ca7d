package scaffold

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A setting is added where a reader of the file finds it, and nowhere else.
func TestNewSetting(t *testing.T) {
	t.Parallel()
	const added = "\n    \"S\": \"v\""
	for text, want := range map[string]string{
		`{"Values": {"a": "b"}}`:                          `{"Values": {+,"a": "b"}}`,
		`{"values" : { }}`:                                "{\"values\" : {+\n  }}",
		`{"Host": {"Values": {}}, "Values": {"a": "b"}}`:  `{"Host": {"Values": {}}, "Values": {+,"a": "b"}}`,
		"// \"Values\": {\n" + `{"Values": {"a": "b"}}`:   "// \"Values\": {\n" + `{"Values": {+,"a": "b"}}`,
		`{"Host": {"a": "\"Values\": {"}, "Values": {} }`: "{\"Host\": {\"a\": \"\\\"Values\\\": {\"}, \"Values\": {+\n  } }",
		`{"Host": {"Values": {}}}`:                        "",
		`{"Values": []}`:                                  "",
		`{"Values": {`:                                    "",
	} {
		got, ok := withEntries([]byte(text), added, []string{"S"}, []string{"v"})
		if want = strings.Replace(want, "+", added, 1); got != want || ok != (want != "") {
			t.Errorf("%s\ngot  %s, %v\nwant %s", text, got, ok, want)
		}
	}
}

// The import of logging stands among the imports.
func TestNewPythonImport(t *testing.T) {
	t.Parallel()
	for module, want := range map[string]string{
		"import azure.functions as func\n":                                                         "+import azure.functions as func\n",
		"import os\nimport logging\n":                                                              "import os\nimport logging\n",
		"\"\"\"It does.\n\nimport logging\nimport sys\n\"\"\"\nimport os\n":                        "\"\"\"It does.\n\nimport logging\nimport sys\n\"\"\"\n+import os\n",
		"# -*- coding: utf-8 -*-\n'''import x'''\nfrom __future__ import annotations\nimport os\n": "# -*- coding: utf-8 -*-\n'''import x'''\nfrom __future__ import annotations\n+import os\n",
		"# import logging\nfrom azure import functions\n":                                          "# import logging\n+from azure import functions\n",
	} {
		if want = strings.Replace(want, "+", "import logging\n", 1); withImport(module, "logging", pythonLogging) != want {
			t.Errorf("%q\ngot  %q\nwant %q", module, withImport(module, "logging", pythonLogging), want)
		}
	}
}

// A file that is changed keeps its line ends.
func TestNewLineEnds(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "f")
	for before, want := range map[string]string{"a\r\nb\r\n": "a\r\nc\r\n", "a\nb\n": "a\r\nc\n", "a\r\nb\n": "a\r\nc\n", "": "a\r\nc\n"} {
		if err := os.WriteFile(file, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := writeWhole(file, change{text: "a\r\nc\n"}); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != want {
			t.Errorf("%q: got %q, %v, want %q", before, got, err, want)
		}
	}
}
