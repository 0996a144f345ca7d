package app

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/redeliver/redeliver/host/app/document"
	"github.com/redeliver/redeliver/host/app/hostjson"
	"github.com/redeliver/redeliver/schemas"
)

// override is one value that was laid over host.json.
type override struct {
	file    string // environmentFile, localFileName or setFile
	setting string // the name of the variable; for --set the switch
	path    string // the JSON path that it replaces, as written in the name
	line    int    // in local.settings.json
	column  int
}

const overridePrefix = "AzureFunctionsJobHost:"

// hostFile reads host.json, with what settings and options lay over it, and the files that
// it names.
type hostFile struct {
	*reading
	unreadable    bool // it could not be parsed
	earlierBundle bool // it names an extension bundle before 4
}

// loadHostFile reads host.json and lays the overrides over it. The result is never nil: a file that is missing or
// cannot be read counts as an empty object, so that everything else can still be
// looked at.
func (l *hostFile) loadHostFile() *schemas.Document {
	text, err := l.readFile(filepath.Join(l.app.Dir, document.HostFile))
	empty := mustParse(document.HostFile, "{}")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		l.app.MissingHostJSON = true
		return l.overlay(empty)
	case err != nil:
		l.fault(&schemas.Fault{File: document.HostFile, Kind: schemas.KindFormat, Reason: "the file cannot be read: " + document.Cause(err)})
		return l.overlay(empty)
	}
	l.hash("host.json", text)
	doc, fault := schemas.Parse(document.HostFile, text)
	if fault != nil {
		fault.Kind = schemas.KindFormat
		l.unreadable = true
		l.faultAt(hostReading, fault)
		return l.overlay(empty)
	}
	root, ok := doc.Value().(map[string]any)
	switch {
	case !ok:
		l.unreadable = true
		f := doc.Fault("", doc.Found(""), "an object", "host.json must hold a JSON object")
		f.Kind = schemas.KindFormat
		l.fault(f)
		return l.overlay(empty)
	case len(root) == 0:
		l.app.MissingHostJSON, l.app.emptyHostJSON = true, true
	}
	for _, warning := range doc.Fold(schemas.HostJSON) {
		l.warn(warning)
	}
	return l.overlay(doc)
}

// overlay lays settings and --set over the document, in rising order
// (spec host-and-retry 0.2, 6.3).
func (l *hostFile) overlay(doc *schemas.Document) *schemas.Document {
	for _, s := range l.app.Settings.Sorted() {
		folded := strings.ReplaceAll(s.Name, "__", ":")
		if !document.HasPrefixFold(folded, overridePrefix) {
			continue
		}
		segments := strings.Split(folded[len(overridePrefix):], ":")
		path := ""
		for _, key := range segments {
			path = schemas.JoinPath(path, key)
		}
		o := override{file: s.File(), setting: s.Name, path: path, line: s.Line, column: s.Column}
		l.app.overrides = append(l.app.overrides, o)
		doc.Override(segments, s.Value, o.file)
	}
	for i, name := range l.opts.Functions {
		o := override{file: "--functions", setting: "--functions", path: fmt.Sprintf("functions[%d]", i)}
		l.app.overrides = append(l.app.overrides, o)
		doc.Override([]string{"functions", fmt.Sprint(i)}, name, o.file)
	}
	for _, assignment := range l.opts.Set {
		l.overlaySwitch(doc, assignment)
	}
	return doc
}

// overlaySwitch handles one --set name=value.
func (l *hostFile) overlaySwitch(doc *schemas.Document, assignment string) {
	name, value, ok := strings.Cut(assignment, "=")
	name = strings.TrimSpace(name)
	known, exists := hostjson.FindSwitch(name)
	switch {
	case !ok:
		l.fault(&schemas.Fault{File: document.SetFile, Found: schemas.Quote(assignment), Allowed: "NAME=VALUE", Reason: "a switch is set as NAME=VALUE", Hint: "for instance --set retryCounting=documented"})
	case !exists:
		unknown := &schemas.Fault{File: document.SetFile, Path: schemas.JoinPath(hostjson.SwitchSection, name), Found: schemas.Quote(name), Allowed: strings.Join(hostjson.SwitchNames(), ", "), Reason: "there is no switch of this name"}
		if near := schemas.Nearest(name, hostjson.SwitchNames()); near != "" {
			unknown.Hint = "did you mean " + schemas.Quote(near) + "?"
		}
		l.fault(unknown)
	default:
		l.app.overrides = append(l.app.overrides, override{file: document.SetFile, setting: known, path: schemas.JoinPath(hostjson.SwitchSection, known)})
		doc.Override([]string{hostjson.SwitchSection, known}, strings.TrimSpace(value), document.SetFile)
	}
}

// findOverride returns the override that gave the value at path: its own, or one
// above or below it.
func (l *reading) findOverride(path, file string) *override {
	for i := len(l.app.overrides) - 1; i >= 0; i-- {
		o := &l.app.overrides[i]
		if o.file == file && (strings.EqualFold(o.path, path) || document.HasPrefixFold(o.path, path+".") ||
			document.HasPrefixFold(path, o.path+".") || document.HasPrefixFold(path, o.path+"[")) {
			return o
		}
	}
	return nil
}

// explain completes faults whose value came from an override: place and hint.
func (l *reading) explain(f *schemas.Fault) {
	if f.File == document.HostFile || f.Line != 0 {
		return
	}
	o := l.findOverride(f.Path, f.File)
	if o == nil {
		return
	}
	f.Line, f.Column = o.line, o.column
	if f.Hint == "" && o.file != document.SetFile && o.file != "--functions" {
		f.Hint = "the value comes from the setting " + o.setting
	}
}

// DefaultHostJSON returns the host.json that the platform writes into an app
// that has none, or an empty object (then without the extension bundle), and nil
// for any other app (spec host-and-retry 6.1).
func (a *App) DefaultHostJSON() []byte {
	if !a.MissingHostJSON {
		return nil
	}
	var b bytes.Buffer
	b.WriteString("{\n  \"version\": \"2.0\",\n  \"isDefaultHostConfig\": true")
	if !a.emptyHostJSON {
		b.WriteString(",\n  \"extensionBundle\": {\n    \"id\": \"Microsoft.Azure.Functions.ExtensionBundle\",\n    \"version\": \"[4.*, 5.0.0)\"\n  }")
	}
	b.WriteString("\n}\n")
	return b.Bytes()
}

// mustParse parses text that is part of this package.
func mustParse(file, text string) *schemas.Document {
	doc, fault := schemas.Parse(file, []byte(text))
	if fault != nil {
		panic("app: " + fault.Error())
	}
	return doc
}

// readConfig fills App.Config.
func (l *hostFile) readConfig(r document.Reader) {
	around := hostjson.Around{
		Processors: l.processors(), Consumption: strings.EqualFold(l.app.Settings.Get("WEBSITE_SKU"), "Dynamic"), NoBundle: l.withoutBundle,
		Fault: l.fault, PolicyFault: func(f *schemas.Fault) { l.faultAt(hostPolicy, f) }, Warn: l.warn,
	}
	l.app.Config, l.earlierBundle = hostjson.ReadConfig(r, around)
	l.checkPrefix(r)
}
