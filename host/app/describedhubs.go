package app

import (
	"fmt"
	"strings"

	"github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/host/emulator/servicebus/config"
	"github.com/redeliver/redeliver/schemas"
)

const hubsSetting = "redeliver.eventHubs.hubs"

// loadHubs adds the hubs of the official emulator's file to the hubs of
// host.json. A name is a queue, a topic or an event hub, and no two of them
// (spec messaging 1.11).
func (l *loader) loadHubs(r reader) {
	taken := map[string]string{} // by name in lower case: by what
	hubs, _ := r.value(hubsSetting).([]any)
	for i := range hubs {
		at := schemas.IndexPath(hubsSetting, i)
		path := schemas.JoinPath(at, "name")
		name := r.text(path, "")
		if name == "" {
			continue
		}
		taken[strings.ToLower(name)] = at + " of host.json"
		if by, clash := l.entityOf(name); clash {
			f := r.doc.Fault(path, r.doc.Found(path), "a name that is not in use", "the name is taken by "+by)
			f.Hint = "queues, topics and event hubs share one name space, in which case does not count: rename one of them"
			l.fault(f)
		}
	}
	name, text, ok := l.readConfigFile(r, hubsFile, l.opts.Entities.EventHubs)
	if !ok {
		return
	}
	described, faults := config.ParseHubs(name, text)
	l.report(faults, described.Warnings)
	for i := range described.List {
		hub := &described.List[i]
		if by, clash := l.entityOf(hub.Name); clash {
			l.fault(described.Clash(hub, by))
		} else if by, clash := taken[strings.ToLower(hub.Name)]; clash {
			l.fault(described.Clash(hub, by))
		}
		l.app.Config.EventHubs.Hubs = append(l.app.Config.EventHubs.Hubs, EventHub{
			Name: hub.Name, PartitionCount: hub.PartitionCount, ConsumerGroups: hub.ConsumerGroups, Retention: eventhubs.DefaultRetention,
		})
	}
}

// entityOf says which queue or topic of the file of entities has a name.
func (l *loader) entityOf(name string) (by string, ok bool) {
	at, ok := l.app.ServiceBusEntities.Has(name)
	return fmt.Sprintf("%s of %s", at, l.entitiesName), ok
}
