package run

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/app/appsettings"
	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/emulator/rest"
)

// The embedded storage is served when the app may use it, or when a flag asks for
// it.
func TestStorageWanted(t *testing.T) {
	t.Parallel()
	const cloud = "DefaultEndpointsProtocol=https;AccountName=shop;AccountKey=MTIzNA==;EndpointSuffix=core.windows.net"
	for _, row := range []struct {
		name     string
		settings map[string]string
		edit     func(*startFlags)
		want     bool
	}{
		{name: "no settings", want: true},
		{name: "no storage named", settings: map[string]string{"OTHER": cloud}, want: true},
		{name: "development storage", settings: map[string]string{"AzureWebJobsStorage": "usedevelopmentstorage=true"}, want: true},
		{name: "cloud", settings: map[string]string{"AzureWebJobsStorage": cloud}},
		{name: "identity in the cloud", settings: map[string]string{"AzureWebJobsStorage__accountName": "shop"}},
		{name: "another host", settings: map[string]string{"AzureWebJobsStorage": "AccountName=a;AccountKey=MTIzNA==;QueueEndpoint=http://127.0.0.1:40001/a"}},
		{name: "an emulator's ports", settings: map[string]string{"AzureWebJobsStorage": "AccountName=a;AccountKey=MTIzNA==;QueueEndpoint=http://localhost:10001/a"}, want: true},
		{name: "identity at an emulator's port", settings: map[string]string{"AzureWebJobsStorage__queueServiceUri": "https://127.0.0.1:10001/devstoreaccount1"}, want: true},
		{name: "identity, and the account of emulators", settings: map[string]string{"AzureWebJobsStorage__accountName": "devstoreaccount1"}, want: true},
		{name: "cloud, and a second one here", settings: map[string]string{"AzureWebJobsStorage": cloud, "OTHER": "UseDevelopmentStorage=true;"}, want: true},
		{name: "cloud, and asked for", settings: map[string]string{"AzureWebJobsStorage": cloud}, edit: func(f *startFlags) { f.storageGiven = true }, want: true},
		{name: "both off", edit: func(f *startFlags) {
			f.blobPort, f.queuePort, f.tablePort, f.storageGiven = noPort, noPort, noPort, true
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			f := startFlags{blobPort: rest.DefaultBlobPort, queuePort: rest.DefaultQueuePort}
			if row.edit != nil {
				row.edit(&f)
			}
			s := session{common: &common{flags: &f, embeddedStorage: embeddedStorage{accounts: []rest.Account{{Name: rest.DevAccount}}}}}
			if got := s.storageWanted(&app.App{Settings: appsettings.NewSettings(row.settings)}); got != row.want {
				t.Errorf("storageWanted = %v, want %v", got, row.want)
			}
		})
	}
}

// Service Bus is served where an app needs it; one with storage only takes no ports.
func TestBusWanted(t *testing.T) {
	t.Parallel()
	const emulator = "Endpoint=sb://localhost;SharedAccessKeyName=k;SharedAccessKey=s;UseDevelopmentEmulator=true;"
	for _, tt := range []struct {
		name  string
		local string // value of a setting
		hosts string // more of host.json
		env   []string
		flags busFlags
		want  bool
	}{
		{name: "storage only"},
		{name: "in local.settings.json", local: emulator, want: true},
		{name: "in the environment", env: []string{"AzureWebJobsServiceBus=" + emulator}, want: true},
		{name: "at the usual port", local: "Endpoint=sb://127.0.0.1:5672;UseDevelopmentEmulator=true", want: true},
		{name: "an identity on this machine", env: []string{"Orders__fullyQualifiedNamespace=localhost"}, want: true},
		{name: "an identity in the cloud", env: []string{"Orders__fullyQualifiedNamespace=acme.servicebus.windows.net"}},
		{name: "an emulator elsewhere", local: "Endpoint=sb://localhost:5999;UseDevelopmentEmulator=true"},
		{name: "the cloud", local: "Endpoint=sb://acme.servicebus.windows.net;SharedAccessKeyName=k;SharedAccessKey=s"},
		{name: "a port was named", flags: busFlags{given: true}, want: true},
		{name: "described entities", hosts: `, "redeliver": {"serviceBus": {"config": "Config.json"}}`, want: true},
		{name: "described entities, and the cloud", hosts: `, "redeliver": {"serviceBus": {"config": "Config.json"}}`, local: "Endpoint=sb://acme.servicebus.windows.net;SharedAccessKeyName=k;SharedAccessKey=s"},
		{name: "described entities, and another host", hosts: `, "redeliver": {"serviceBus": {"config": "Config.json"}}`, local: "Endpoint=sb://localhost:5999;UseDevelopmentEmulator=true"},
		{name: "described entities, and an identity", hosts: `, "redeliver": {"serviceBus": {"config": "Config.json"}}`, env: []string{"Orders__fullyQualifiedNamespace=acme.servicebus.windows.net"}},
		{name: "described entities, another host and this one", hosts: `, "redeliver": {"serviceBus": {"config": "Config.json"}}`, local: "Endpoint=sb://localhost:5999;UseDevelopmentEmulator=true", env: []string{"Second=" + emulator}, want: true},
		{name: "described hubs", hosts: `, "redeliver": {"eventHubs": {"hubs": [{"name": "readings"}]}}`, want: true},
		{name: "described hubs, and the cloud", hosts: `, "redeliver": {"eventHubs": {"hubs": [{"name": "readings"}]}}`, local: "Endpoint=sb://acme.servicebus.windows.net/;SharedAccessKeyName=k;SharedAccessKey=s;EntityPath=readings"},
		{name: "described hubs, the cloud, and a port was named", hosts: `, "redeliver": {"eventHubs": {"hubs": [{"name": "readings"}]}}`, local: "Endpoint=sb://acme.servicebus.windows.net;SharedAccessKeyName=k;SharedAccessKey=s", flags: busFlags{given: true}, want: true},
		{name: "a file of entities on the command line, and the cloud", local: "Endpoint=sb://acme.servicebus.windows.net;SharedAccessKeyName=k;SharedAccessKey=s", flags: busFlags{files: app.EntityFiles{ServiceBus: "Config.json"}}, want: true},
		{name: "a file of hubs", flags: busFlags{files: app.EntityFiles{EventHubs: "hubs.json"}}, want: true},
		{name: "described hubs in a file", hosts: `, "redeliver": {"eventHubs": {"config": "hubs.json"}}`, want: true},
		{name: "described hubs in a file, and the cloud", hosts: `, "redeliver": {"eventHubs": {"config": "hubs.json"}}`, local: "Endpoint=sb://acme.servicebus.windows.net;SharedAccessKeyName=k;SharedAccessKey=s"},
		{name: "a file of entities", flags: busFlags{files: app.EntityFiles{ServiceBus: "Config.json"}}, want: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, text := range map[string]string{
				"host.json":           `{"version": "2.0"` + tt.hosts + `}`,
				"local.settings.json": `{"IsEncrypted": false, "Values": {"AzureWebJobsStorage": "UseDevelopmentStorage=true", "BUS": "` + tt.local + `"}}`,
				"Config.json":         `{"UserConfig": {"Namespaces": [{"Name": "sbemulatorns"}]}}`,
				"hubs.json":           `{"UserConfig": {"NamespaceConfig": [{"Type": "EventHub", "Name": "emulatorNs1", "Entities": [{"Name": "eh1", "PartitionCount": "2"}]}], "LoggingConfig": {"Type": "File"}}}`,
			} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			a, err := app.Load(dir, &app.Options{Env: appsettings.Environment(tt.env), Entities: app.EntityFiles{ServiceBus: tt.flags.files.ServiceBus, EventHubs: tt.flags.files.EventHubs}})
			if err != nil {
				t.Fatal(err)
			}
			s := &session{common: &common{flags: &startFlags{bus: tt.flags}}}
			if got := s.busWanted(a); got != tt.want {
				t.Errorf("wanted %v, want %v", got, tt.want)
			}
		})
	}
}

// Event Grid is served where clients will publish to it.
func TestGridWanted(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		topics  string // of host.json
		setting string
		made    eventgrid.Topic // in an earlier run
		flags   gridFlags
		want    bool
	}{
		"nothing":                    {},
		"no topics":                  {topics: `[ ]`},
		"topics":                     {topics: `[{"name":"shop"}]`, want: true},
		"topics, off":                {topics: `[{"name":"shop"}]`, flags: gridFlags{port: noPort, given: true}},
		"a port was named":           {flags: gridFlags{port: 4711, given: true}, want: true},
		"any port":                   {flags: gridFlags{given: true}, want: true},
		"a setting":                  {setting: "http://localhost:60101/shop/api/events", want: true},
		"a setting, HTTPS":           {setting: "https://127.0.0.1:60101/shop", want: true},
		"a setting, IPv6":            {setting: "http://[::1]:60101/shop", want: true},
		"a setting, off":             {setting: "http://localhost:60101/shop", flags: gridFlags{port: noPort, given: true}},
		"a setting, another port":    {setting: "http://localhost:60102/shop"},
		"a setting, the cloud":       {setting: "https://shop.westeurope-1.eventgrid.azure.net/api/events"},
		"a setting, no URL":          {setting: "localhost:60101"},
		"made before":                {made: eventgrid.Topic{Name: "shop"}, want: true},
		"of a storage account":       {made: eventgrid.Topic{Name: "devstoreaccount1", Resource: eventgrid.StorageResource("devstoreaccount1")}},
		"made before, server is off": {made: eventgrid.Topic{Name: "shop"}, flags: gridFlags{port: noPort, given: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			hostJSON := `{"version": "2.0"}`
			if test.topics != "" {
				hostJSON = `{"version": "2.0", "redeliver": {"eventGrid": {"topics": ` + test.topics + `}}}`
			}
			if err := os.WriteFile(filepath.Join(dir, "host.json"), []byte(hostJSON), 0o600); err != nil {
				t.Fatal(err)
			}
			env := []string{"AzureWebJobsStorage=UseDevelopmentStorage=true", "Topic=" + test.setting}
			a, err := app.Load(dir, &app.Options{Env: appsettings.Environment(env)})
			if err != nil {
				t.Fatal(err)
			}
			h, err := host.New(dir, &host.Options{Env: env})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { h.Close() })
			if test.made.Name != "" {
				if err := h.Services().EventGrid().CreateTopic(context.Background(), test.made); err != nil {
					t.Fatal(err)
				}
			}
			s := &session{common: &common{flags: &startFlags{grid: test.flags}}, host: h}
			if got := s.gridWanted(a); got != test.want {
				t.Errorf("wanted %v, want %v", got, test.want)
			}
		})
	}
}
