package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/redeliver/redeliver/host/emulator/servicebus/config"
	"github.com/redeliver/redeliver/schemas"
)

const (
	entitiesSetting = "redeliver.serviceBus.config"
	hubsSetting     = "redeliver.eventHubs.hubs"
	entitiesFile    = "--servicebus-config"
)

// loadServiceBusEntities reads the file that describes the entities of the embedded
// Service Bus (servicebus 3.12).
func (l *loader) loadServiceBusEntities(r reader) {
	name := l.opts.ServiceBusConfig
	given := name != ""
	if !given {
		name = r.text(entitiesSetting, "")
	}
	if name == "" {
		return
	}
	path := filepath.FromSlash(name)
	if !filepath.IsAbs(path) {
		path = filepath.Join(l.app.Dir, path)
	}
	l.app.Config.WatchFiles = append(l.app.Config.WatchFiles, filepath.Base(path))
	text, err := os.ReadFile(path)
	if err != nil {
		f := &schemas.Fault{File: entitiesFile}
		if !given {
			f = r.doc.Fault(entitiesSetting, "", "", "")
		}
		f.Found, f.Allowed = schemas.Quote(name), "the path of a file, relative to the app folder"
		f.Reason = "the file of Service Bus entities cannot be read: " + cause(err)
		if errors.Is(err, fs.ErrNotExist) {
			f.Reason = "the file of Service Bus entities does not exist"
		}
		l.fault(f)
		return
	}
	l.hash("service bus entities", text)
	entities, faults := config.Parse(filepath.ToSlash(name), text)
	for _, f := range faults {
		l.fault(f)
	}
	for _, w := range entities.Warnings {
		l.warn(w)
	}
	l.app.ServiceBusEntities = entities
	l.hubNames(r, name)
}

// hubNames: a name is a queue, a topic or an event hub (servicebus 1.11).
func (l *loader) hubNames(r reader, file string) {
	hubs, _ := r.value(hubsSetting).([]any)
	for i := range hubs {
		path := schemas.JoinPath(schemas.IndexPath(hubsSetting, i), "name")
		name := r.text(path, "")
		at, clash := l.app.ServiceBusEntities.Has(name)
		if name == "" || !clash {
			continue
		}
		f := r.doc.Fault(path, r.doc.Found(path), "a name that is not in use", fmt.Sprintf("the name is taken by %s of %s", at, filepath.ToSlash(file)))
		f.Hint = "queues, topics and event hubs share one name space, in which case does not count: rename one of them"
		l.fault(f)
	}
}
