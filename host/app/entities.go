package app

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/host/app/document"
	"github.com/redeliver/redeliver/host/app/hostjson"
	"github.com/redeliver/redeliver/host/emulator/servicebus/config"
	"github.com/redeliver/redeliver/schemas"
)

// configFile is a file in the form of an official emulator that an app can name.
type configFile struct {
	setting string // of host.json
	flag    string // that replaces it
	what    string
}

var (
	entitiesFile = configFile{"redeliver.serviceBus.config", "--servicebus-config", "Service Bus entities"} // read only
	hubsFile     = configFile{"redeliver.eventHubs.config", "--eventhubs-config", "event hubs"}             // read only
)

// loadServiceBusEntities reads the file that describes the entities of the embedded
// Service Bus (spec messaging 3.12).
func (l *hostFile) loadServiceBusEntities(r document.Reader) {
	name, text, ok := l.readConfigFile(r, entitiesFile, l.opts.Entities.ServiceBus)
	if !ok {
		return
	}
	entities, faults := config.Parse(name, text)
	l.report(faults, entities.Warnings)
	l.app.ServiceBusEntities = entities
}

// readConfigFile returns the file that the flag or host.json names; ok is false when
// no file can be read.
func (l *hostFile) readConfigFile(r document.Reader, c configFile, flag string) (name string, text []byte, ok bool) {
	name = flag
	given := name != ""
	if !given {
		name = r.Text(c.setting, "")
	}
	if name == "" {
		return "", nil, false
	}
	path := filepath.FromSlash(name)
	if !filepath.IsAbs(path) {
		path = filepath.Join(l.app.Dir, path)
	}
	l.app.Config.WatchFiles = append(l.app.Config.WatchFiles, filepath.Base(path))
	text, err := l.readFile(path)
	if err != nil {
		f := &schemas.Fault{File: c.flag}
		if !given {
			f = r.Doc.Fault(c.setting, "", "", "")
		}
		f.Found, f.Allowed = schemas.Quote(name), "the path of a file, relative to the app folder"
		f.Reason = "the file of " + c.what + " cannot be read: " + document.Cause(err)
		if errors.Is(err, fs.ErrNotExist) {
			f.Reason = "the file of " + c.what + " does not exist"
		}
		l.fault(f)
		return "", nil, false
	}
	l.hash(strings.ToLower(c.what), text)
	return filepath.ToSlash(name), text, true
}

// report takes over what was found wrong with a file.
func (l *hostFile) report(faults, warnings []*schemas.Fault) {
	for _, f := range faults {
		l.fault(f)
	}
	for _, w := range warnings {
		l.warn(w)
	}
}

// loadHubs adds the hubs of the official emulator's file to the hubs of
// host.json. A name is one hub's, in any case; a queue or a topic may have it too
// (spec messaging 1.11).
func (l *hostFile) loadHubs(r document.Reader) {
	taken := map[string]string{} // by name in lower case: by what
	hubs, _ := r.Value(hostjson.HubsPath).([]any)
	for i := range hubs {
		at := schemas.IndexPath(hostjson.HubsPath, i)
		path := schemas.JoinPath(at, "name")
		name := r.Text(path, "")
		if name == "" {
			continue
		}
		taken[strings.ToLower(name)] = at + " of host.json"
	}
	name, text, ok := l.readConfigFile(r, hubsFile, l.opts.Entities.EventHubs)
	if !ok {
		return
	}
	described, faults := config.ParseHubs(name, text)
	l.report(faults, described.Warnings)
	for i := range described.List {
		hub := &described.List[i]
		if by, clash := taken[strings.ToLower(hub.Name)]; clash {
			l.fault(described.Clash(hub, by))
		}
		l.app.Config.EventHubs.Hubs = append(l.app.Config.EventHubs.Hubs, hostjson.EventHub{
			Name: hub.Name, PartitionCount: hub.PartitionCount, ConsumerGroups: hub.ConsumerGroups, Retention: eventhubs.DefaultRetention,
		})
	}
}
