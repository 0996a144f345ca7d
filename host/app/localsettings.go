package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/app/document"
	"github.com/redeliver/redeliver/schemas"
)

// loadSettings builds App.Settings from the environment, local.settings.json and the user
// secrets (spec host-and-retry 6.4; cli: AppSettingsFile.cs, StartHostAction.cs).
func (l *loader) loadSettings() {
	l.plainSettings()
	l.app.Settings = l.withSecrets(l.app.Settings)
}

// plainSettings are the settings without user secrets.
func (l *loader) plainSettings() {
	if l.opts.Settings != nil {
		l.app.Settings = l.opts.Settings
		if plain := l.opts.Settings.plain; plain != nil {
			l.app.Settings = plain
		}
		l.app.Local = l.opts.Settings.host
		for _, f := range l.opts.Settings.faults {
			again := *f
			l.fault(&again)
		}
		for _, w := range l.opts.Settings.warnings {
			again := *w
			l.warn(&again)
		}
		return
	}
	l.app.Settings = NewSettings(l.opts.Env)
	defer func() { l.app.Settings.warnings = slices.Clone(l.app.Warnings) }() // nothing else has warned yet
	text, err := os.ReadFile(filepath.Join(l.app.Dir, document.LocalFile))
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		l.warn(&schemas.Fault{File: document.LocalFile, Reason: "the file cannot be read and counts as empty: " + document.Cause(err)})
		return
	}
	l.app.Settings.text = text
	doc, fault := schemas.Parse(document.LocalFile, text)
	if fault != nil {
		fault.Reason += "; the file counts as empty"
		l.warn(fault)
		return
	}
	root, ok := doc.Value().(map[string]any)
	if !ok {
		f := doc.Fault("", doc.Found(""), "an object", "the file must hold a JSON object; it counts as empty")
		f.Kind = schemas.KindJSON
		l.warn(f)
		return
	}
	s := localFile{loader: l, doc: doc, root: root}
	if faults := s.malformed(); len(faults) > 0 {
		for _, f := range faults {
			f.Reason += "; the file counts as empty"
			l.warn(f)
		}
		return
	}
	if !s.decrypted() {
		return
	}
	s.values()
	s.connectionStrings()
	s.hostSection()
	l.app.Settings.host = l.app.Local
}

type localFile struct {
	*loader
	doc  *schemas.Document
	root map[string]any
}

// object returns a section ignoring case, with its path.
func (s *localFile) object(name string) (path string, m map[string]any, v any) {
	path, v, _ = document.Member(s.root, name)
	m, _ = v.(map[string]any)
	return path, m, v
}

// malformed finds what makes the platform's tool give up on the whole file: a
// value that does not convert to its type.
func (s *localFile) malformed() (faults []*schemas.Fault) {
	bad := func(path, allowed, reason string) {
		f := s.doc.Fault(path, s.doc.Found(path), allowed, reason)
		f.Kind = schemas.KindJSON
		faults = append(faults, f)
	}
	for _, name := range []string{"Values", "ConnectionStrings", "Host"} {
		path, m, v := s.object(name)
		if v != nil && m == nil {
			bad(path, "an object", name+" must be an object")
		}
	}
	path, values, _ := s.object("Values")
	for key, v := range values {
		switch v.(type) {
		case map[string]any, []any:
			bad(schemas.JoinPath(path, key), "a text", "a setting must be a text")
		}
	}
	path, connections, _ := s.object("ConnectionStrings")
	for key, v := range connections {
		sub := schemas.JoinPath(path, key)
		switch v := v.(type) {
		case []any:
			bad(sub, "a text, or an object with ConnectionString and ProviderName", "a connection string must be a text or an object")
		case map[string]any:
			if name, text, _ := document.Member(v, "ConnectionString"); text != nil && document.ScalarText(text) == "" && text != "" {
				bad(schemas.JoinPath(sub, name), "a text", "a connection string must be a text")
			}
		}
	}
	path, host, _ := s.object("Host")
	if name, v, _ := document.Member(host, "LocalHttpPort"); v != nil {
		if n, ok := document.WholeNumber(v); !ok || n < 1 || n > 65535 {
			bad(schemas.JoinPath(path, name), "1 to 65535", "this is not a port")
		}
	}
	if name, v, _ := document.Member(host, "CORSCredentials"); v != nil {
		if text := strings.ToLower(document.ScalarText(v)); text != "true" && text != "false" {
			bad(schemas.JoinPath(path, name), "true or false", "CORSCredentials must be true or false")
		}
	}
	schemas.Sort(faults)
	return faults
}

// decrypted reports whether the values are plain. A missing IsEncrypted means
// true on the platform, whose decryption then fails on plain text.
func (s *localFile) decrypted() bool {
	path, v, ok := document.Member(s.root, "IsEncrypted")
	if ok && strings.EqualFold(strings.TrimSpace(document.ScalarText(v)), "false") {
		return true
	}
	f := s.doc.Fault("IsEncrypted", "", "false", "IsEncrypted is missing, which means true: the settings would have to be decrypted")
	if ok {
		f = s.doc.Fault(path, s.doc.Found(path), "false", "encrypted settings cannot be read")
	}
	f.Kind = schemas.KindInvalidOperation
	f.Hint = `write "IsEncrypted": false and plain values`
	s.app.Settings.faults = append(s.app.Settings.faults, f)
	s.fault(f)
	return false
}

func (s *localFile) values() {
	path, values, _ := s.object("Values")
	for _, key := range document.InFileOrder(s.doc, path, values) {
		at := schemas.JoinPath(path, key)
		s.export(key, at, values[key])
	}
}

// export adds one setting, unless the environment has it already.
func (s *localFile) export(name, path string, value any) {
	warn := func(found, reason, hint string) {
		f := s.doc.Fault(path, found, "", reason)
		f.Hint = hint
		s.warn(f)
	}
	if strings.TrimSpace(name) == "" {
		warn(schemas.Quote(name), "a setting with an empty name is skipped", "")
		return
	}
	if value == nil {
		warn("null", fmt.Sprintf("the setting %q is null and is skipped", name), `write "" for an empty setting`)
		return
	}
	if old, exists := s.app.Settings.entry(name); exists && !old.local {
		warn("", fmt.Sprintf("the setting %q is skipped: the environment already has a value for it", name), "unset the environment variable "+old.name+" to use the file's value")
		return
	}
	line, column := s.doc.Pos(path)
	s.app.Settings.add(setting{name: name, value: document.ScalarText(value), local: true, line: line, column: column})
}

func (s *localFile) connectionStrings() {
	path, connections, _ := s.object("ConnectionStrings")
	for _, key := range document.InFileOrder(s.doc, path, connections) {
		value, at := connections[key], schemas.JoinPath(path, key)
		if object, ok := value.(map[string]any); ok {
			name, text, _ := document.Member(object, "ConnectionString")
			value, at = text, schemas.JoinPath(at, name)
		}
		if strings.TrimSpace(key) == "" {
			s.export("", at, value)
			continue
		}
		s.export("ConnectionStrings:"+key, at, value)
	}
}

func (s *localFile) hostSection() {
	path, host, _ := s.object("Host")
	if _, v, _ := document.Member(host, "LocalHttpPort"); v != nil {
		s.app.Local.Port, _ = document.WholeNumber(v)
	}
	if _, v, _ := document.Member(host, "LocalHttpAddress"); v != nil {
		s.app.Local.Address = document.ScalarText(v)
	}
	if name, v, _ := document.Member(host, "CORS"); v != nil {
		text := document.ScalarText(v)
		if strings.ContainsAny(text, " \t") {
			at := schemas.JoinPath(path, name)
			f := s.doc.Fault(at, s.doc.Found(at), "origins separated by commas, without spaces", "the list of origins has spaces in it, which are removed")
			s.warn(f)
		}
		for _, origin := range strings.Split(text, ",") {
			if origin = strings.TrimSpace(origin); origin != "" {
				s.app.Local.CORS = append(s.app.Local.CORS, origin)
			}
		}
	}
	if _, v, _ := document.Member(host, "CORSCredentials"); v != nil {
		s.app.Local.CORSCredentials = strings.EqualFold(document.ScalarText(v), "true")
	}
}
