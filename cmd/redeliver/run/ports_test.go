package run

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/emulator/amqp"
)

// Closing the port of Service Bus closes the ports of its administration and of TLS
// too, unless they are asked for: the next host may want them.
func TestBusOff(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args  []string
		admin portFlag
		given bool
		plain portFlag // for TLS, without --tls
		tls   portFlag // with it
	}{
		{nil, defaultBusAdminPort, false, noPort, amqp.DefaultTLSPort},
		{[]string{"--servicebus-port", "off"}, noPort, false, noPort, noPort},
		{[]string{"--servicebus-port", "0"}, defaultBusAdminPort, true, noPort, amqp.DefaultTLSPort},
		{[]string{"--servicebus-port", "off", "--servicebus-admin-port", "5301"}, 5301, true, noPort, noPort},
		{[]string{"--servicebus-port", "off", "--servicebus-tls-port", "0"}, noPort, true, 0, 0},
		{[]string{"--servicebus-tls-port", "off"}, defaultBusAdminPort, false, noPort, noPort},
	} {
		var f busFlags
		cmd := &cobra.Command{}
		addBus(cmd, &f)
		if err := cmd.ParseFlags(tt.args); err != nil {
			t.Fatal(err)
		}
		if err := f.finish(cmd, false); err != nil {
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

// A container has its files where the official emulators look for theirs; flags go before.
func TestMountedFiles(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	place := func(emulator string) string { return filepath.Join(root, emulator, "ConfigFiles", "Config.json") }
	for _, file := range []string{place("ServiceBus_Emulator"), place("Eventhubs_Emulator")} {
		f := app.EntityFiles{}
		if mountedFiles(&f, root); f.EventHubs != "" { // the second one is not there yet
			t.Errorf("without a file %+v", f)
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("{}"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f := app.EntityFiles{}
	if mountedFiles(&f, root); f.ServiceBus != place("ServiceBus_Emulator") || f.EventHubs != place("Eventhubs_Emulator") {
		t.Errorf("mounted %+v", f)
	}
	f = app.EntityFiles{ServiceBus: "/mine.json"}
	if mountedFiles(&f, root); f.ServiceBus != "/mine.json" || f.EventHubs == "" {
		t.Errorf("beside a flag %+v", f)
	}
}
