package appsettings

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/app/document"
	"github.com/redeliver/redeliver/schemas"
)

// Settings are the app settings: the environment and the values of
// local.settings.json, names ignoring case. The zero value is empty. Settings
// are not changed after loading and may be shared.
type Settings struct {
	byName map[string]Setting // by folded name
	Host   LocalHost
	faults []*schemas.Fault // of the file; they stop the app

	warnings []*schemas.Fault // of the file; they stop nothing
	text     []byte           // of the file

	plain   *Settings // without the user secrets; nil: there is no file of them
	secrets string    // their file
}

// LocalFile is the text of local.settings.json that the settings were read from; empty
// when there was none.
func (s *Settings) LocalFile() []byte { return s.text }

// A Setting is one of [Settings], and where it comes from.
type Setting struct {
	Name  string // as written
	Value string

	// Where it stands, for a value of local.settings.json, or of the user secrets.
	Local        bool
	Secret       bool
	Line, Column int
}

// LocalHost is the Host section of local.settings.json: defaults for flags.
type LocalHost struct {
	Port            int    // 0 when not given
	Address         string // LocalHttpAddress
	CORS            []string
	CORSCredentials bool
}

// NewSettings returns settings that hold exactly env.
func NewSettings(env map[string]string) *Settings {
	s := &Settings{}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		s.add(Setting{Name: name, Value: env[name]})
	}
	return s
}

func (s *Settings) add(v Setting) {
	if s.byName == nil {
		s.byName = make(map[string]Setting)
	}
	s.byName[settingKey(v.Name)] = v
}

// settingKey folds a name. "__" and ":" are the same separator, as in the
// platform's configuration.
func settingKey(name string) string {
	return strings.ToUpper(strings.ReplaceAll(name, "__", ":"))
}

// Lookup returns the setting of that name, ignoring case.
func (s *Settings) Lookup(name string) (value string, ok bool) {
	if s == nil {
		return "", false
	}
	v, ok := s.byName[settingKey(name)]
	return v.Value, ok
}

// Unreadable reports whether a source of settings could not be read: then no setting
// counts as missing.
func (s *Settings) Unreadable() bool { return s != nil && len(s.faults) > 0 }

// Entry is Lookup for who wants to know where the setting stands.
func (s *Settings) Entry(name string) (Setting, bool) {
	v, ok := s.byName[settingKey(name)]
	return v, ok
}

// Named returns the setting of that name, or the zero value.
func (s *Settings) Named(name string) Setting {
	v, _ := s.Entry(name)
	return v
}

// Get returns the setting of that name, or "".
func (s *Settings) Get(name string) string {
	v, _ := s.Lookup(name)
	return v
}

// All returns the settings by name as written. A child process gets them on top
// of its environment.
func (s *Settings) All() map[string]string {
	all := make(map[string]string)
	if s != nil {
		for _, v := range s.byName {
			all[v.Name] = v.Value
		}
	}
	return all
}

// Local returns only what local.settings.json and the user secrets add to the environment.
func (s *Settings) Local() map[string]string {
	all := make(map[string]string)
	if s != nil {
		for _, v := range s.byName {
			if v.Local {
				all[v.Name] = v.Value
			}
		}
	}
	return all
}

// Sorted returns the settings ordered by their folded name.
func (s *Settings) Sorted() []Setting {
	if s == nil {
		return nil
	}
	var all []Setting
	for _, k := range slices.Sorted(maps.Keys(s.byName)) {
		all = append(all, s.byName[k])
	}
	return all
}

// Connection is a resolved connection.
type Connection struct {
	// Setting is the name under which it was found.
	Setting string
	// Value is the connection string; empty for identity-based connections.
	Value string
	// Section holds the parts of an identity-based connection
	// ("queueServiceUri", "accountName", ...), names as written.
	Section map[string]string
}

// Connection resolves the connection of that name ("" for none is the caller's
// to replace by its service's default). It looks for the names
// ConnectionStrings:AzureWebJobsN, AzureWebJobsN, ConnectionStrings:N and N, in
// this order, first for a text, then for a section N__part (spec storage 13).
// A setting that is present but empty counts as missing.
func (s *Settings) Connection(name string) (c Connection, ok bool) {
	candidates := connectionNames(name)
	for _, n := range candidates {
		if v, found := s.Lookup(n); found && v != "" {
			return Connection{Setting: n, Value: v}, true
		}
	}
	for _, n := range candidates {
		prefix := settingKey(n) + ":"
		for _, v := range s.Sorted() {
			key := settingKey(v.Name)
			if part, cut := strings.CutPrefix(key, prefix); cut && part != "" && v.Value != "" {
				if c.Section == nil {
					c.Section = make(map[string]string)
				}
				written := strings.ReplaceAll(v.Name, "__", ":")
				c.Section[written[len(prefix):]] = v.Value
			}
		}
		if c.Section != nil {
			c.Setting = n
			return c, true
		}
	}
	return Connection{}, false
}

const (
	// ConnectionPrefix may stand before the name of a connection.
	ConnectionPrefix = "AzureWebJobs"

	// HostStorage is the setting of the storage that the host itself needs.
	HostStorage = ConnectionPrefix + "Storage"
)

func connectionNames(name string) []string {
	prefixed := name
	if !document.HasPrefixFold(name, ConnectionPrefix) {
		prefixed = ConnectionPrefix + name
	}
	names := []string{"ConnectionStrings:" + prefixed, prefixed}
	if prefixed != name {
		names = append(names, "ConnectionStrings:"+name, name)
	}
	return names
}

// MissingConnection is the error for a connection of that name that
// [Settings.Connection] does not find. The text is the platform's, and
// always shows the prefixed name (spec storage 13).
func MissingConnection(name string) error {
	if !document.HasPrefixFold(name, ConnectionPrefix) {
		name = ConnectionPrefix + name
	}
	//lint:ignore ST1005 the platform's text
	return fmt.Errorf("Storage account connection string '%s' does not exist. Make sure that it is a defined App Setting.", name)
}

// SwitchedOff is the function that a setting of this name switches off, as
// AzureWebJobs.NAME.Disabled does; not ok: it is another setting.
func SwitchedOff(setting string) (function string, ok bool) {
	if function, ok = cutFold(setting, "AzureWebJobs.", ".Disabled"); !ok {
		function, ok = cutFold(setting, "AzureWebJobs_", "_Disabled")
	}
	return function, ok
}

// HostSetting is the part of host.json that a setting writes, with the path as names between
// "__"; not ok: it writes none.
func HostSetting(setting, value string) (*schemas.Document, bool) {
	const prefix = "azurefunctionsjobhost__"
	if !strings.HasPrefix(strings.ToLower(setting), prefix) {
		return nil, false
	}
	var content any = value
	for _, key := range slices.Backward(strings.Split(setting[len(prefix):], "__")) {
		content = map[string]any{key: content}
	}
	text, err := json.Marshal(content)
	if err != nil {
		return nil, false
	}
	doc, fault := schemas.Parse("host.json", text)
	return doc, fault == nil
}

// cutFold is what stands between a beginning and an end.
func cutFold(text, begin, end string) (string, bool) {
	if n := len(text) - len(end); n > len(begin) && strings.EqualFold(text[:len(begin)], begin) && strings.EqualFold(text[n:], end) {
		return text[len(begin):n], true
	}
	return "", false
}
