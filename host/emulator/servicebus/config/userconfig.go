package config

import (
	"slices"
	"strings"

	"github.com/redeliver/redeliver/schemas"
)

// A file is of one of two official emulators, which call things by different names.
type officialFile struct {
	what   string // "the Config.json of the ... emulator"
	with   string // what it has and the other has not
	flag   string // who reads it
	within string // the setting of host.json that names it
}

var (
	serviceBusFile = officialFile{"the Config.json of the Service Bus emulator", "Namespaces", "--servicebus-config", "redeliver.serviceBus.config"}   // read only
	eventHubsFile  = officialFile{"the Config.json of the Event Hubs emulator", "NamespaceConfig", "--eventhubs-config", "redeliver.eventHubs.config"} // read only
)

// otherService refuses a file that is the other emulator's, and says who reads it.
func (r *reader) otherService(path string, wanted, is officialFile) {
	f := r.fault(path, wanted.what+", with "+wanted.with, "this is "+is.what)
	f.Found = ""
	f.Hint = "name it with " + is.flag + ", or in " + is.within + " of host.json"
}

// userConfig returns the object that both files consist of; allowed says what it
// holds.
func (r *reader) userConfig(allowed string) (*section, bool) {
	root := r.section("", r.doc.Value(), "$schema", "UserConfig")
	user := root.within("UserConfig", "Namespaces", "Logging", "NamespaceConfig", "LoggingConfig")
	if _, _, ok := root.get("UserConfig"); !ok {
		root.need("UserConfig", allowed)
		return nil, false
	}
	return user, true
}

// logging checks how the official emulator is to log.
func (s *section) logging(key string) {
	in := s.within(key, "Type")
	if text, ok := in.text("Type"); ok && !slices.Contains([]string{"File", "Console", "File,Console", "Console,File"}, text) {
		path, _, _ := in.get("Type")
		in.fault(path, `"File", "Console" or "File,Console"`, "not one of the allowed values")
	}
}

// only returns the one namespace that is listed under a key.
func (s *section) only(key string) (path string, ns any, ok bool) {
	const allowed = "a list of one namespace"
	at, list, ok := s.get(key)
	if !ok {
		s.need(key, allowed)
		return "", nil, false
	}
	namespaces, isList := list.([]any)
	if !isList || len(namespaces) != 1 {
		s.fault(at, allowed, "there is exactly one namespace")
	}
	if len(namespaces) == 0 {
		return "", nil, false
	}
	return schemas.IndexPath(at, 0), namespaces[0], true
}

// fixed checks a text that has one value only, in any letter case; otherwise is why
// another is refused.
func (s *section) fixed(key, value, otherwise string) {
	switch text, ok := s.text(key); {
	case ok && !strings.EqualFold(text, value):
		at, _, _ := s.get(key)
		s.fault(at, schemas.Quote(value), otherwise)
	case !ok && s != nil && !s.given(key):
		s.need(key, schemas.Quote(value))
	}
}

// given reports whether a key has a value, of any type.
func (s *section) given(key string) bool {
	_, _, ok := s.get(key)
	return ok
}

// name reads the name of an entity, whose kind is what; taken holds the names that
// are in use.
func (r *reader) name(s *section, what string, check func(string) error, taken map[string]string) string {
	name, ok := s.text("Name")
	if !ok {
		if !s.given("Name") {
			s.need("Name", "a name")
		}
		return ""
	}
	path, _, _ := s.get("Name")
	if err := check(name); err != nil {
		_, allowed, ok := strings.Cut(err.Error(), ": want ")
		if !ok {
			allowed = "a name"
		}
		r.fault(path, allowed, "not the name of a "+what)
		return name
	}
	key := strings.ToLower(name)
	if other, clash := taken[key]; clash {
		f := r.fault(path, "a name that is not in use", "the name is taken by "+other)
		f.Hint = "case does not count: rename one of them"
		if what == entityWord {
			f.Hint = "queues and topics share one name space, in which case does not count: rename one of them"
		}
		return name
	}
	taken[key] = s.path
	return name
}
