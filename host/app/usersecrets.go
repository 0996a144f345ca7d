package app

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/redeliver/redeliver/host/app/document"
	"github.com/redeliver/redeliver/host/internal/dotnet"
	"github.com/redeliver/redeliver/schemas"
)

// secretsFileName is the name of the file that "dotnet user-secrets" writes.
const secretsFileName = "secrets.json"

// withSecrets lays the user secrets of the app's project over settings: they rank above the
// environment and local.settings.json, as the last source that the platform's tool adds. They
// are read again at each load.
//
// Source: azure-functions-core-tools: UserSecretsConfigurationBuilder.cs;
// azure-functions-host: WebScriptHostBuilderExtension.cs (ConfigureRegisteredBuilders).
func (l *loader) withSecrets(plain *Settings) *Settings {
	file := l.secretsFile()
	if file == "" {
		return plain
	}
	s := *plain
	s.plain, s.secrets, s.byName = plain, file, maps.Clone(plain.byName)
	text, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &s
	case err != nil:
		l.warn(&schemas.Fault{File: secretsFileName, Reason: "the user secrets cannot be read and count as empty: " + document.Cause(err)})
		return &s
	}
	doc, fault := schemas.Parse(secretsFileName, text)
	if fault != nil {
		fault.Reason += "; the user secrets count as empty"
		l.warn(fault)
		return &s
	}
	root, ok := doc.Value().(map[string]any)
	if !ok {
		f := doc.Fault("", doc.Found(""), "an object", "the file must hold a JSON object; the user secrets count as empty")
		f.Kind = schemas.KindJSON
		l.warn(f)
		return &s
	}
	flatten("", root, func(name, value string) {
		s.add(setting{name: name, value: value, local: true, secret: true})
	})
	return &s
}

// secretsFile is the file of the project's user secrets; empty when the app has none.
func (l *loader) secretsFile() string {
	projects := dotnet.Find(l.app.Dir)
	i := slices.IndexFunc(projects, func(p dotnet.Project) bool { return p.Model == dotnet.Isolated })
	if i < 0 {
		return ""
	}
	return dotnet.SecretsFile(projects[i].Path, func(name string) string { return l.opts.Env[name] })
}

// flatten gives each scalar below v with its path, as the configuration of .NET has it: keys
// and places in a list with colons between.
func flatten(path string, v any, give func(name, value string)) {
	below := func(key string) string {
		if path == "" {
			return key
		}
		return path + ":" + key
	}
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			flatten(below(key), v[key], give)
		}
	case []any:
		for i, item := range v {
			flatten(below(fmt.Sprint(i)), item, give)
		}
	case bool:
		give(path, document.ConfigText(v))
	case nil:
		give(path, "")
	default:
		give(path, document.ScalarText(v))
	}
}

// SecretsFile is the path of the user secrets that belong to the settings, whether they are
// there or not; empty when the app has no user secrets.
func (s *Settings) SecretsFile() string {
	if s == nil {
		return ""
	}
	return s.secrets
}

// Source says where the setting of that name stands: local.settings.json, secrets.json or
// the environment.
func (s *Settings) Source(name string) string { return s.named(name).file() }

// file is where a setting stands, for people.
func (v setting) file() string {
	switch {
	case v.secret:
		return secretsFileName
	case v.local:
		return document.LocalFile
	}
	return document.EnvironmentFile
}
