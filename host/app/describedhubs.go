package app

import (
	"strings"

	"github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/host/app/document"
	"github.com/redeliver/redeliver/host/app/hostjson"
	"github.com/redeliver/redeliver/host/emulator/servicebus/config"
	"github.com/redeliver/redeliver/schemas"
)

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
