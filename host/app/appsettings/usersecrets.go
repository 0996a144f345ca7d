package appsettings

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
func withSecrets(plain *Settings, dir string, env map[string]string) (merged *Settings, warnings []*schemas.Fault) {
	file := secretsFile(dir, env)
	if file == "" {
		return plain, nil
	}
	s := *plain
	s.plain, s.secrets, s.byName = plain, file, maps.Clone(plain.byName)
	text, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &s, warnings
	case err != nil:
		warnings = append(warnings, &schemas.Fault{File: secretsFileName, Reason: "the user secrets cannot be read and count as empty: " + document.Cause(err)})
		return &s, warnings
	}
	doc, fault := schemas.Parse(secretsFileName, text)
	if fault != nil {
		fault.Reason += "; the user secrets count as empty"
		warnings = append(warnings, fault)
		return &s, warnings
	}
	root, ok := doc.Value().(map[string]any)
	if !ok {
		f := doc.Fault("", doc.Found(""), "an object", "the file must hold a JSON object; the user secrets count as empty")
		f.Kind = schemas.KindJSON
		warnings = append(warnings, f)
		return &s, warnings
	}
	flatten("", root, func(name, value string) {
		s.add(Setting{Name: name, Value: value, Local: true, Secret: true})
	})
	return &s, warnings
}

// secretsFile is the file of the project's user secrets; empty when the app has none.
func secretsFile(dir string, env map[string]string) string {
	projects := dotnet.Find(dir)
	i := slices.IndexFunc(projects, func(p dotnet.Project) bool { return p.Model == dotnet.Isolated })
	if i < 0 {
		return ""
	}
	return dotnet.SecretsFile(projects[i].Path, func(name string) string { return env[name] })
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
func (s *Settings) Source(name string) string { return s.Named(name).File() }

// File is where a setting stands, for people.
func (v Setting) File() string {
	switch {
	case v.Secret:
		return secretsFileName
	case v.Local:
		return document.LocalFile
	}
	return document.EnvironmentFile
}
