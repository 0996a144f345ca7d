package app

import (
	"fmt"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/schemas"
)

// outputNames checks, as queueOutput does, the names of what a function writes to in
// the other services: that there is one, and that its expressions can be read.
func (l *loader) outputNames(f *Function, b *Binding) {
	var keys []string
	switch {
	case b.Is("eventHub") && !l.namesEntity(b):
		keys = []string{"eventHubName"}
	case b.Is("cosmosDB"):
		keys = []string{"databaseName", "containerName"}
	case b.Is("eventGrid"):
		l.topicSetting(f, b)
	}
	for _, key := range keys {
		text, path := b.String(key), b.PathOf(key)
		if f.faultIn(path) {
			continue
		}
		reason := "is empty"
		if text != "" {
			_, err := bindings.ParseTemplate(text)
			if err == nil {
				continue
			}
			reason = strings.TrimSuffix(err.Error(), ".")
		}
		f.fault(indexing, path, schemas.KindArgument, schemas.Quote(text), "a name, also with {expressions}", reason)
	}
}

// namesEntity reports whether the connection string of a binding names a hub, which
// goes before the binding's own name.
func (l *loader) namesEntity(b *Binding) bool {
	name := b.Connection
	if name == "" {
		name = "EventHub"
	}
	conn, _ := l.app.Settings.Connection(name)
	return strings.Contains(strings.ToLower(conn.Value), "entitypath=")
}

// topicSetting checks that an output says which topic it is for: by the name of a
// setting with its endpoint, or of a connection that holds one.
func (l *loader) topicSetting(f *Function, b *Binding) {
	const key = "topicEndpointUri"
	if l.app.Settings.unreadable() || f.faultIn(b.PathOf(key)) || f.faultIn(b.PathOf("connection")) {
		return
	}
	setting, found := b.String(key), b.Connection
	switch {
	case setting != "":
		if l.app.Settings.Get(setting) == "" {
			fault := f.fault(indexing, b.PathOf(key), schemas.KindInvalidOperation, schemas.Quote(setting), "the name of a setting",
				fmt.Sprintf("output binding %q: setting %q with the topic's endpoint is missing", b.Name, setting))
			fault.Hint = fmt.Sprintf("set %s in the environment or under Values in %s", setting, localFileName)
		}
	case found == "":
		f.fault(indexing, b.PathOf(key), schemas.KindInvalidOperation, "", "topicEndpointUri or connection",
			fmt.Sprintf("output binding %q: the name of the setting with the topic's endpoint is needed", b.Name))
	default:
		if _, ok := l.app.Settings.Connection(found); !ok {
			f.fault(indexing, b.PathOf("connection"), schemas.KindInvalidOperation, schemas.Quote(found), "the name of a setting",
				fmt.Sprintf("output binding %q: connection %q with the topic's endpoint is missing", b.Name, found))
		}
	}
}
