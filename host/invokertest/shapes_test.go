package invokertest_test

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/bindings/table"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
)

// shapePrefix begins the names of the functions that tell what they are given.
const shapePrefix = "Shape"

// A shapeRow is a line of testdata/shapes.tsv: a binding with what is left out, what is
// sent to it, and the value that a handler has in each language.
type shapeRow struct {
	name    string
	binding map[string]any
	sent    string
	want    map[string]string // by the name of the model
}

// shapeRows reads the table. In a cell of Python and Java stands the type of the parameter
// first.
func shapeRows(t *testing.T) (rows []shapeRow) {
	t.Helper()
	file, err := os.Open("testdata/shapes.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var columns []string
	for lines := bufio.NewScanner(file); lines.Scan(); {
		cells := strings.Split(lines.Text(), "\t")
		switch {
		case columns == nil:
			columns = cells
			continue
		case strings.HasPrefix(cells[0], "#"):
			continue
		case len(cells) != len(columns):
			t.Fatalf("%q has %d cells, want %d", cells[0], len(cells), len(columns))
		}
		row := shapeRow{name: shapePrefix + cells[0], sent: cells[2], want: map[string]string{}}
		if err := json.Unmarshal([]byte(cells[1]), &row.binding); err != nil {
			t.Fatalf("%s: %v", cells[0], err)
		}
		for i, cell := range cells[3:] {
			for model := range strings.SplitSeq(columns[i+3], ", ") {
				row.want[model] = strings.ReplaceAll(cell, `\x00`, "\x00")
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// place is where the row's messages go: a queue, a container, a hub and so on.
func (r shapeRow) place() string { return strings.ToLower(r.name) }

// bindings are those of the row's function: what it tells about, what it runs on if that is
// no trigger, and what it writes instead of telling.
func (r shapeRow) bindings() (item, on, out map[string]any) {
	item = maps.Clone(r.binding)
	trigger := map[string]any{"type": "queueTrigger", "queueName": r.place(), "connection": ""}
	switch kind := item["type"]; {
	case kind == "blob":
		item["path"], on = r.place()+"/x", trigger
	case kind == "cosmosDB":
		item["databaseName"], item["containerName"], on = "shapes", r.place(), trigger
	case kind == "table" && item["direction"] == "out":
		item["tableName"] = r.place()
		item, out = trigger, item
	case kind == "table":
		item["tableName"], on = r.place(), trigger
	case kind == "blobTrigger":
		item["path"] = r.place() + "/{name}"
	case kind == "eventHubTrigger":
		item["eventHubName"] = r.place()
	case kind == "cosmosDBTrigger":
		item["databaseName"] = "shapes"
		for _, name := range []string{"containerName", "collectionName"} {
			if item[name] == "" {
				item[name] = r.place()
			}
		}
	case kind == "queueTrigger", kind == "serviceBusTrigger" && item["topicName"] == nil:
		item["queueName"] = r.place()
	case kind == "serviceBusTrigger":
		item["topicName"] = r.place()
	}
	return item, on, out
}

// parameter is the type of the handler's parameter, where a language has one, and what the
// handler is to tell.
func (r shapeRow) parameter(m model) (parameter, want string) {
	want = r.want[m.name]
	if m.runtime == "python" || m.runtime == "java" {
		parameter, want, _ = strings.Cut(want, ": ")
	}
	return parameter, want
}

// shapeApp makes the app of the table in a model.
func (m model) shapeApp(t *testing.T, rows []shapeRow) (dir string, env []string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "app")
	files := map[string]string{}
	hostFile := map[string]any{"version": "2.0"}
	if m.name == "custom" {
		if err := json.Unmarshal([]byte(m.hostFile()), &hostFile); err != nil {
			t.Fatal(err)
		}
		env = append(env, roleVariable+"=custom", "GORACE=atexit_sleep_ms=0")
	} else {
		m.sources(t, dir, "shapes/"+m.name)
	}
	var topics []any
	var declared []any
	for _, r := range rows {
		item, on, out := r.bindings()
		parameter, _ := r.parameter(m)
		delete(out, "direction")
		declared = append(declared, map[string]any{"name": r.name, "item": item, "on": on, "out": out, "annotation": parameter})
		if item["type"] == "eventGridTrigger" {
			topics = append(topics, map[string]any{"name": r.place(), "subscriptions": []any{map[string]any{"name": "s", "function": r.name}}})
		}
		if !m.inCode() {
			files[r.name+"/function.json"] = m.shapeFile(parameter, item, on, out)
		}
	}
	hostFile["redeliver"] = map[string]any{"eventGrid": map[string]any{"topics": topics}}
	files["host.json"] = jsonOf(hostFile)
	if m.inCode() {
		files["shapes.json"] = jsonOf(declared)
	}
	write(t, dir, files)
	m.libraries(t, dir)
	return dir, env
}

// shapeFile is the function.json of a row.
func (m model) shapeFile(parameter string, item, on, out map[string]any) string {
	list := []any{binding("item", "in", item)}
	entry := "tell" + parameter
	if out != nil {
		list, entry = append(list, binding("row", "out", out)), "write"
		if parameter == "Rows" {
			entry += parameter
		}
	}
	if on != nil {
		list = append(list, binding("on", "in", on))
		if parameter != "" {
			entry = "read" + parameter
		}
	}
	file := map[string]any{"bindings": list}
	if m.runtime != "custom" {
		file["scriptFile"], file["entryPoint"] = "../"+m.script(), m.entry(entry)
	}
	return jsonOf(file)
}

func binding(name, direction string, properties map[string]any) map[string]any {
	b := maps.Clone(properties)
	b["name"], b["direction"] = name, direction
	return b
}

func jsonOf(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// body is what is sent: text, or bytes behind "hex ".
func (r shapeRow) body() string {
	if digits, ok := strings.CutPrefix(r.sent, "hex "); ok {
		bytes, err := hex.DecodeString(digits)
		if err != nil {
			panic(err)
		}
		return string(bytes)
	}
	return r.sent
}

// send has the row's function run.
func (r shapeRow) send(h *hosttest.Host) {
	switch item, _, _ := r.bindings(); item["type"] {
	case "blob":
		h.Upload(r.place()+"/x", r.body())
		h.Send(r.place(), "go")
	case "cosmosDB":
		h.CreateCosmos("shapes", r.place())
		h.WriteCosmos("shapes", r.place(), r.body())
		h.Send(r.place(), "go")
	case "table":
		h.WriteEntities(r.place(), r.body())
		h.Send(r.place(), "go")
	case "blobTrigger":
		h.Upload(r.place()+"/x", r.body())
	case "queueTrigger":
		h.Send(r.place(), r.body())
	case "eventHubTrigger":
		h.SendEvents(r.place(), "", r.body())
	case "serviceBusTrigger":
		m := &servicebus.Message{Body: []byte(r.body())}
		if item["isSessionsEnabled"] == true {
			session := "s"
			m.SessionID = &session
		}
		h.SendServiceBus(r.place(), m)
	case "cosmosDBTrigger":
		h.WriteCosmos("shapes", r.place(), r.body())
	case "eventGridTrigger":
		h.PublishEvents(r.place(), r.body())
	case "httpTrigger":
		h.Request("POST", "/api/"+r.name, r.body())
	}
}

// TestShapes: the value that a handler is given when a property of its binding is left out,
// and when it is not, in each language and model. Sources of testdata/shapes.tsv: webjobs
// sdk, TriggerAdapterBindingProvider.cs and BindingFactoryHelpers.cs (the type that a
// dataType and a cardinality ask for), host: ScriptInvocationContextExtensions.cs and
// RpcMessageConversionExtensions.cs (the form of a value in a message), and what the workers
// make of it (NW: src/converters/fromRpcTypedData.ts; PW: bindings/meta.py;
// JW: BindingDataStore.java). The properties are those of the platform's templates for
// function.json, and of its samples for the packages.
func TestShapes(t *testing.T) {
	t.Parallel()
	all := shapeRows(t)
	for _, m := range models() {
		t.Run(m.title(), func(t *testing.T) {
			t.Parallel()
			env := m.need(t)
			rows := slices.DeleteFunc(slices.Clone(all), func(r shapeRow) bool { return r.want[m.name] == "-" })
			dir, more := m.shapeApp(t, rows)
			h := m.hostOf(t, dir, append(env, more...))
			for _, r := range rows {
				_, want := r.parameter(m)
				r.prepare(t, h)
				r.send(h)
				if len(h.Attempts(r.name)) == 0 {
					h.Await(func(e *journal.Record) bool { return e.Kind == journal.AttemptEnded && e.Function == r.name })
				}
				ended := h.Attempts(r.name)[0]
				got := ""
				if ended.Error != "" {
					got = "fails"
				}
				for _, said := range h.Select(func(e *journal.Record) bool { return e.Kind == journal.HandlerLog && e.Function == r.name }) {
					if text, ok := strings.CutPrefix(said.Message, "shape: "); ok {
						got = text
					}
				}
				if r.binding["direction"] == "out" && got == "" {
					got = entities(h, r.place())
				}
				if begin, cut := strings.CutSuffix(want, "…"); got != want && !(cut && strings.HasPrefix(got, begin)) {
					t.Errorf("%s: got %q, want %q; %s", r.name, got, want, ended.Error)
				}
			}
		})
	}
}

// entities are those of a table, as its service writes them, without their Timestamp.
func entities(h *hosttest.Host, name string) string {
	var list []string
	for _, e := range h.Entities(name) {
		list = append(list, string((&table.Form{Level: table.Types}).Append(nil, e, "")))
	}
	return strings.Join(list, " ")
}

// prepare makes what a client would have made before.
func (r shapeRow) prepare(t *testing.T, h *hosttest.Host) {
	t.Helper()
	switch r.binding["type"] {
	case "cosmosDBTrigger":
		h.CreateCosmos("shapes", r.place())
	case "timerTrigger":
		if ran := len(h.Attempts(r.name)) > 0; ran != (r.binding["runOnStartup"] == true) {
			t.Errorf("%s: it ran at the start: %v", r.name, ran)
		}
		h.Advance(time.Minute)
	}
}
