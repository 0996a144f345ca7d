package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/emulator/amqp"
)

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
		{name: "a file of entities on the command line, and the cloud", local: "Endpoint=sb://acme.servicebus.windows.net;SharedAccessKeyName=k;SharedAccessKey=s", flags: busFlags{files: configFiles{bus: "Config.json"}}, want: true},
		{name: "a file of hubs", flags: busFlags{files: configFiles{hubs: "hubs.json"}}, want: true},
		{name: "described hubs in a file", hosts: `, "redeliver": {"eventHubs": {"config": "hubs.json"}}`, want: true},
		{name: "described hubs in a file, and the cloud", hosts: `, "redeliver": {"eventHubs": {"config": "hubs.json"}}`, local: "Endpoint=sb://acme.servicebus.windows.net;SharedAccessKeyName=k;SharedAccessKey=s"},
		{name: "a file of entities", flags: busFlags{files: configFiles{bus: "Config.json"}}, want: true},
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
			a, err := app.Load(dir, &app.Options{Env: environment(tt.env), ServiceBusConfig: tt.flags.files.bus, EventHubsConfig: tt.flags.files.hubs})
			if err != nil {
				t.Fatal(err)
			}
			s := &session{flags: &startFlags{bus: tt.flags}}
			if got := s.busWanted(a); got != tt.want {
				t.Errorf("wanted %v, want %v", got, tt.want)
			}
		})
	}
}

// Who closes the door of Service Bus closes those of its administration and of TLS too,
// unless they are asked for: the next host may want them.
func TestBusOff(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args  []string
		admin doorPort
		given bool
		plain doorPort // for TLS, without --tls
		tls   doorPort // with it
	}{
		{nil, defaultBusAdminPort, false, noDoor, amqp.DefaultTLSPort},
		{[]string{"--servicebus-port", "off"}, noDoor, false, noDoor, noDoor},
		{[]string{"--servicebus-port", "0"}, defaultBusAdminPort, true, noDoor, amqp.DefaultTLSPort},
		{[]string{"--servicebus-port", "off", "--servicebus-admin-port", "5301"}, 5301, true, noDoor, noDoor},
		{[]string{"--servicebus-port", "off", "--servicebus-tls-port", "0"}, noDoor, true, 0, 0},
		{[]string{"--servicebus-tls-port", "off"}, defaultBusAdminPort, false, noDoor, noDoor},
	} {
		var f busFlags
		cmd := &cobra.Command{}
		addBus(cmd, &f)
		if err := cmd.ParseFlags(tt.args); err != nil {
			t.Fatal(err)
		}
		if err := f.finish(cmd); err != nil {
			t.Fatal(err)
		}
		if f.adminPort != tt.admin || f.given != tt.given {
			t.Errorf("%q: administration at %v, given %v, want %v, %v", tt.args, f.adminPort, f.given, tt.admin, tt.given)
		}
		if plain, tls := f.securePort(false), f.securePort(true); plain != tt.plain || tls != tt.tls {
			t.Errorf("%q: TLS at %v, with --tls at %v, want %v, %v", tt.args, plain, tls, tt.plain, tt.tls)
		}
	}
}

func TestSpan(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"30s": "PT30S", "1h30m": "PT1H30M", "PT1M": "PT1M", "P14D": "P14D", "250ms": "PT0.25S"} {
		var s span
		if err := s.Set(in); err != nil || s.iso() != want {
			t.Errorf("%q is %q, %v, want %q", in, s.iso(), err, want)
		}
	}
	for _, in := range []string{"", "0s", "-1s", "soon", "P", "PT0S", "30"} {
		var s span
		if err := s.Set(in); err == nil || s != 0 {
			t.Errorf("%q is taken as %v", in, s)
		}
	}
	if s := span(0); s.iso() != "" || s.String() != "" {
		t.Errorf("no duration is %q and %q", s.iso(), s.String())
	}
}

func TestBusConnection(t *testing.T) {
	t.Parallel()
	const rest = ";SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true;"
	for address, want := range map[string]string{
		"127.0.0.1:5672": "Endpoint=sb://127.0.0.1" + rest,
		"127.0.0.1:5300": "Endpoint=sb://127.0.0.1:5300" + rest,
	} {
		if got := busConnection(address); got != want {
			t.Errorf("busConnection(%q) = %q, want %q", address, got, want)
		}
	}
}
