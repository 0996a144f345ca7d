package appsettings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/redeliver/redeliver/host/app/document"
	"github.com/redeliver/redeliver/schemas"
)

// Read makes the settings of the app in dir of the environment, local.settings.json and the
// user secrets (spec host-and-retry 6.4; cli: AppSettingsFile.cs, StartHostAction.cs), and
// says what is wrong in them. Of earlier settings only the secrets are read again.
func Read(dir string, env map[string]string, earlier *Settings) (s *Settings, faults, warnings []*schemas.Fault) {
	s = earlier
	switch {
	case earlier == nil:
		s = plain(dir, env)
	case earlier.plain != nil:
		s = earlier.plain
	}
	for _, f := range s.faults {
		again := *f
		faults = append(faults, &again)
	}
	for _, w := range s.warnings {
		again := *w
		warnings = append(warnings, &again)
	}
	s, more := withSecrets(s, dir, env)
	return s, faults, append(warnings, more...)
}

// plain are the settings without user secrets.
func plain(dir string, env map[string]string) *Settings {
	l := localFile{settings: NewSettings(env)}
	l.read(dir)
	return l.settings
}

func (l *localFile) read(dir string) {
	text, err := os.ReadFile(filepath.Join(dir, document.LocalFile))
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		l.warn(&schemas.Fault{File: document.LocalFile, Reason: "the file cannot be read and counts as empty: " + document.Cause(err)})
		return
	}
	l.settings.text = text
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
	l.doc, l.root = doc, root
	if faults := l.malformed(); len(faults) > 0 {
		for _, f := range faults {
			f.Reason += "; the file counts as empty"
			l.warn(f)
		}
		return
	}
	if !l.decrypted() {
		return
	}
	l.values()
	l.connectionStrings()
	l.hostSection()
}

type localFile struct {
	settings *Settings
	doc      *schemas.Document
	root     map[string]any
}

// warn takes note of what is wrong and stops nothing.
func (l *localFile) warn(f *schemas.Fault) {
	f.First = false
	l.settings.warnings = append(l.settings.warnings, f)
}

// object returns a section ignoring case, with its path.
func (l *localFile) object(name string) (path string, m map[string]any, v any) {
	path, v, _ = document.Member(l.root, name)
	m, _ = v.(map[string]any)
	return path, m, v
}

// malformed finds what makes the platform's tool give up on the whole file: a
// value that does not convert to its type.
func (l *localFile) malformed() (faults []*schemas.Fault) {
	bad := func(path, allowed, reason string) {
		f := l.doc.Fault(path, l.doc.Found(path), allowed, reason)
		f.Kind = schemas.KindJSON
		faults = append(faults, f)
	}
	for _, name := range []string{"Values", "ConnectionStrings", "Host"} {
		path, m, v := l.object(name)
		if v != nil && m == nil {
			bad(path, "an object", name+" must be an object")
		}
	}
	path, values, _ := l.object("Values")
	for key, v := range values {
		switch v.(type) {
		case map[string]any, []any:
			bad(schemas.JoinPath(path, key), "a text", "a setting must be a text")
		}
	}
	path, connections, _ := l.object("ConnectionStrings")
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
	path, host, _ := l.object("Host")
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
func (l *localFile) decrypted() bool {
	path, v, ok := document.Member(l.root, "IsEncrypted")
	if ok && strings.EqualFold(strings.TrimSpace(document.ScalarText(v)), "false") {
		return true
	}
	f := l.doc.Fault("IsEncrypted", "", "false", "IsEncrypted is missing, which means true: the settings would have to be decrypted")
	if ok {
		f = l.doc.Fault(path, l.doc.Found(path), "false", "encrypted settings cannot be read")
	}
	f.Kind = schemas.KindInvalidOperation
	f.Hint = `write "IsEncrypted": false and plain values`
	l.settings.faults = append(l.settings.faults, f)
	return false
}

func (l *localFile) values() {
	path, values, _ := l.object("Values")
	for _, key := range document.InFileOrder(l.doc, path, values) {
		at := schemas.JoinPath(path, key)
		l.export(key, at, values[key])
	}
}

// export adds one setting, unless the environment has it already.
func (l *localFile) export(name, path string, value any) {
	warn := func(found, reason, hint string) {
		f := l.doc.Fault(path, found, "", reason)
		f.Hint = hint
		l.warn(f)
	}
	if strings.TrimSpace(name) == "" {
		warn(schemas.Quote(name), "a setting with an empty name is skipped", "")
		return
	}
	if value == nil {
		warn("null", fmt.Sprintf("the setting %q is null and is skipped", name), `write "" for an empty setting`)
		return
	}
	if old, exists := l.settings.Entry(name); exists && !old.Local {
		warn("", fmt.Sprintf("the setting %q is skipped: the environment already has a value for it", name), "unset the environment variable "+old.Name+" to use the file's value")
		return
	}
	line, column := l.doc.Pos(path)
	l.settings.add(Setting{Name: name, Value: document.ScalarText(value), Local: true, Line: line, Column: column})
}

func (l *localFile) connectionStrings() {
	path, connections, _ := l.object("ConnectionStrings")
	for _, key := range document.InFileOrder(l.doc, path, connections) {
		value, at := connections[key], schemas.JoinPath(path, key)
		if object, ok := value.(map[string]any); ok {
			name, text, _ := document.Member(object, "ConnectionString")
			value, at = text, schemas.JoinPath(at, name)
		}
		if strings.TrimSpace(key) == "" {
			l.export("", at, value)
			continue
		}
		l.export("ConnectionStrings:"+key, at, value)
	}
}

func (l *localFile) hostSection() {
	path, host, _ := l.object("Host")
	if _, v, _ := document.Member(host, "LocalHttpPort"); v != nil {
		l.settings.Host.Port, _ = document.WholeNumber(v)
	}
	if _, v, _ := document.Member(host, "LocalHttpAddress"); v != nil {
		l.settings.Host.Address = document.ScalarText(v)
	}
	if name, v, _ := document.Member(host, "CORS"); v != nil {
		text := document.ScalarText(v)
		if strings.ContainsAny(text, " \t") {
			at := schemas.JoinPath(path, name)
			f := l.doc.Fault(at, l.doc.Found(at), "origins separated by commas, without spaces", "the list of origins has spaces in it, which are removed")
			l.warn(f)
		}
		for _, origin := range strings.Split(text, ",") {
			if origin = strings.TrimSpace(origin); origin != "" {
				l.settings.Host.CORS = append(l.settings.Host.CORS, origin)
			}
		}
	}
	if _, v, _ := document.Member(host, "CORSCredentials"); v != nil {
		l.settings.Host.CORSCredentials = strings.EqualFold(document.ScalarText(v), "true")
	}
}
