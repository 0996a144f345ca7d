package run

import (
	"bytes"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/emulator/rest"
	"github.com/redeliver/redeliver/host/listen"
	"github.com/redeliver/redeliver/host/services"
)

// storageWanted reports whether the embedded storage is to be served: a flag asks
// for it, or the app may use it. An app with its own storage elsewhere, and without
// a setting for an emulator here, takes no ports for it.
func (s *session) storageWanted(a *app.App) bool {
	f := s.flags
	if f.queuePort == noPort && f.blobPort == noPort && f.tablePort == noPort {
		return false
	}
	if _, named := a.Settings.Connection("Storage"); f.storageGiven || f.servicesOnly || !named {
		return true
	}
	for name, value := range a.Settings.All() {
		named, _ := services.IdentityConnection(name, value, accountNames(s.accounts))
		if named || services.EmulatorStorage(value, int(f.queuePort), int(f.blobPort)) {
			return true
		}
	}
	s.otherStorage = true
	return false
}

// warnUnserved warns of an account that the app uses and no client reaches: the
// account of UseDevelopmentStorage=true, when the list of accounts does not name
// it.
func (s *session) warnUnserved(a *app.App) {
	if slices.Contains(accountNames(s.accounts), services.FirstAccount) {
		return
	}
	why := ""
	if _, named := a.Settings.Connection("Storage"); !named {
		why = "without AzureWebJobsStorage the commands use it"
	}
	settings := a.Settings.All()
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if services.EmulatorStorage(settings[name]) {
			why = name + " means it (UseDevelopmentStorage=true)"
			break
		}
	}
	if why == "" {
		return
	}
	s.out.Warn(fmt.Sprintf("%s does not name %s, so that no client reaches it, but %s", rest.AccountsVariable, services.FirstAccount, why))
	s.out.Hint(fmt.Sprintf("add %s:KEY to %s, or set AzureWebJobsStorage to the connection string of an account in it", services.FirstAccount, rest.AccountsVariable))
}

// busWanted reports whether Service Bus and Event Hubs are to be served: a port or a
// file of entities or hubs was named, the app has a connection to an emulator that
// clients look for here, or it describes entities or hubs and no setting leads to a
// namespace elsewhere. An app with storage only takes no ports for it.
func (s *session) busWanted(a *app.App) bool {
	if s.flags.servicesOnly || s.flags.bus.given || s.flags.bus.files != (app.EntityFiles{}) {
		return true
	}
	settings := a.Settings.All()
	for name, value := range settings {
		if _, named := services.IdentityConnection(name, value, nil); named || services.EmulatorConnection(value) {
			return true
		}
	}
	if a.ServiceBusEntities == nil && len(a.Config.EventHubs.Hubs) == 0 {
		return false
	}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if services.NamespaceConnection(name, settings[name]) {
			s.otherBus = name
			return false
		}
	}
	return true
}

// gridWanted reports whether Event Grid is to be served: the port was named,
// host.json describes topics, others are there since an earlier run, or a setting
// says that publishers look for them here.
func (s *session) gridWanted(a *app.App) bool {
	switch topics := bytes.TrimSpace(a.Config.EventGrid.Topics); {
	case s.flags.grid.port == noPort:
		return false
	case s.flags.servicesOnly, s.flags.grid.given, len(topics) > 0 && !bytes.Equal(topics, []byte("[]")):
		return true
	}
	for _, value := range a.Settings.All() {
		if usualGrid(value) {
			return true
		}
	}
	return s.host != nil && slices.ContainsFunc(s.host.Services().EventGrid().Topics(), publishable)
}

// usualGrid reports whether a setting's value is the endpoint of a topic at the usual
// port of this machine.
func usualGrid(value string) bool {
	u, err := url.Parse(value)
	if err != nil || u.Port() != strconv.Itoa(defaultGridPort) || u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	return listen.Loopback(u.Hostname())
}

// publishable reports whether clients publish to a topic; they do not publish to
// the topic of a storage account.
func publishable(t eventgrid.TopicInfo) bool {
	return !strings.Contains(t.Resource, "/providers/Microsoft.Storage/")
}
