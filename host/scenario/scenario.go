package scenario

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/redeliver/redeliver/host/internal/linked"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/schemas"
)

// A Scenario is one document of a scenario file, checked. It is not changed by runs.
type Scenario struct {
	// File is the path of the file, as it was given to Load.
	File string `json:"-"`
	// Line is the line of the file at which the scenario begins.
	Line int `json:"-"`

	Name      string              `json:"name"`
	Skip      string              `json:"skip"`
	App       string              `json:"app"`
	Apps      []string            `json:"apps"`
	Start     string              `json:"start"`
	Seed      uint64              `json:"seed"`
	OwnWorker bool                `json:"ownWorker"`
	Ports     bool                `json:"ports"`
	Host      json.RawMessage     `json:"host"`
	Settings  map[string]string   `json:"settings"`
	Entities  entities            `json:"entities"`
	Functions map[string]function `json:"functions"`
	When      []step              `json:"when"`
	Then      expect              `json:"then"`

	language *language

	doc    *schemas.Document
	of     string // the app that this is the part of; empty: it is whole
	played bool   // by scripts, those of other parts among them

	attached bool // a worker that somebody else has started runs what no script does
}

// A function is what a scenario says of one.
type function struct {
	Trigger   map[string]any   `json:"trigger"`
	Bindings  []map[string]any `json:"bindings"`
	Retry     json.RawMessage  `json:"retry"`
	Redeliver json.RawMessage  `json:"redeliver"`
	Handler   *script          `json:"handler"`
}

// Suffixes are the ends of the names of scenario files.
var Suffixes = []string{".scenario.yaml", ".scenario.yml", ".scenario.json"} // read only

// Find returns the scenario files below a folder, in the order of their paths. Folders
// whose names begin with a dot, and node_modules, are left out.
func Find(dir string) ([]string, error) {
	var files []string
	err := linked.Walk(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := e.Name()
		if e.IsDir() {
			if path != dir && (strings.HasPrefix(name, ".") || name == "node_modules") {
				return filepath.SkipDir
			}
			return nil
		}
		if IsFile(name) {
			files = append(files, path)
		} else if meant := misnamed(name); meant != "" {
			return fmt.Errorf("%s is not run: its name does not end in %s; did you mean %q?", path, Suffixes[0], meant)
		}
		return nil
	})
	return files, err
}

// IsFile reports whether a name is the name of a scenario file.
func IsFile(name string) bool {
	for _, suffix := range Suffixes {
		if strings.HasSuffix(strings.ToLower(name), suffix) {
			return true
		}
	}
	return false
}

// misnamed is the name that a file has by mistake not, such as orders.scenarios.yaml: no
// scenario of it would ever run. Empty: it is another file.
func misnamed(name string) string {
	rest, ext := strings.TrimSuffix(name, filepath.Ext(name)), filepath.Ext(name)
	word := filepath.Ext(rest)
	for _, suffix := range Suffixes {
		if schemas.Nearest(word+ext, []string{suffix}) != "" {
			return strings.TrimSuffix(rest, word) + suffix
		}
	}
	return ""
}

// Load reads the scenarios of a file: each YAML document is one. All faults are
// reported, with line and column.
func Load(file string) ([]*Scenario, []*schemas.Fault) {
	return load(own(), file)
}

// LoadWith is Load for scenarios of the services of a table.
func LoadWith(table ops.Table, file string) ([]*Scenario, []*schemas.Fault) {
	return load(languageOf(table), file)
}

func load(l *language, file string) ([]*Scenario, []*schemas.Fault) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, []*schemas.Fault{{File: file, Reason: "the file cannot be read: " + err.Error()}}
	}
	return parse(l, file, text)
}

// Parse is Load for a text that has been read.
func Parse(file string, text []byte) ([]*Scenario, []*schemas.Fault) { return parse(own(), file, text) }

func parse(l *language, file string, text []byte) ([]*Scenario, []*schemas.Fault) {
	docs, fault := schemas.ParseYAML(file, text)
	if fault != nil {
		return nil, []*schemas.Fault{fault}
	}
	if len(docs) == 0 {
		return nil, []*schemas.Fault{{File: file, Line: 1, Column: 1, Reason: "the file holds no scenario", Hint: "write at least what must hold: then"}}
	}
	var list []*Scenario
	var faults []*schemas.Fault
	for i, doc := range docs {
		s, wrong := read(l, doc)
		if len(wrong) > 0 {
			faults = append(faults, wrong...)
			continue
		}
		if s.Name == "" {
			s.Name = nameOf(file)
			if len(docs) > 1 {
				s.Name += fmt.Sprintf(" #%d", i+1)
			}
		}
		list = append(list, s)
	}
	return list, faults
}

// nameOf is the name of a scenario that gives none.
func nameOf(file string) string {
	name := filepath.Base(file)
	for _, suffix := range Suffixes {
		name = strings.TrimSuffix(name, suffix)
	}
	return name
}

func read(l *language, doc *schemas.Document) (*Scenario, []*schemas.Fault) {
	if faults := l.validate(doc); len(faults) > 0 {
		return nil, faults
	}
	if faults := l.spanFaults(doc, "", doc.Value(), nil); len(faults) > 0 {
		schemas.Sort(faults)
		return nil, faults
	}
	s := &Scenario{File: doc.File(), doc: doc, language: l}
	s.Line, _ = doc.Pos("")
	decoder := json.NewDecoder(bytes.NewReader(doc.JSON()))
	decoder.UseNumber()
	if err := decoder.Decode(s); err != nil {
		return nil, []*schemas.Fault{doc.Fault("", "", "", err.Error())} // of a value that no fault above has
	}
	faults := append(s.ofServices(), s.check()...)
	schemas.Sort(faults)
	return s, faults
}

// ofServices reads what the table of services says of the scenario: steps that are operations,
// the places of faults, and what entities are to hold.
func (s *Scenario) ofServices() (faults []*schemas.Fault) {
	var raw struct {
		When []map[string]json.RawMessage `json:"when"`
		Then json.RawMessage              `json:"then"`
	}
	wrong := func(err error) {
		if err != nil {
			faults = append(faults, s.doc.Fault("", "", "", err.Error())) // of a value that no fault above has
		}
	}
	wrong(json.Unmarshal(s.doc.JSON(), &raw))
	wrong(s.Then.hold(s.language.services, raw.Then))
	for i := range s.When {
		st, text := &s.When[i], raw.When[i]
		faults = append(faults, s.deeds(schemas.IndexPath("when", i), st, text)...)
		if st.Fault != nil {
			wrong(st.Fault.place(s.language.services, text["fault"]))
		}
		if st.Expect != nil {
			wrong(st.Expect.hold(s.language.services, text["expect"]))
		}
	}
	return faults
}

// scripted reports whether handlers of the scenario take the place of the app's.
func (s *Scenario) scripted() bool {
	for _, f := range s.Functions {
		if f.Handler != nil || f.Trigger != nil && !s.attached {
			return true
		}
	}
	return s.App == "" && len(s.Apps) == 0 && !s.attached || s.played
}
