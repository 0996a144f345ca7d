package run

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/emulator/amqp"
	"github.com/redeliver/redeliver/host/emulator/rest"
)

// noPort is the port of a server that is off.
const noPort = -1

// anyPorts is the value of --ports that takes any free port for each service.
const anyPorts = "any"

// A UsualPort is one that a start takes unless its flag names another.
type UsualPort struct {
	Number    int
	Use, Flag string
}

// UsualPorts are those of all listeners.
func UsualPorts() []UsualPort {
	return []UsualPort{
		{remote.DefaultPort, "functions and control API", "port"},
		{rest.DefaultBlobPort, "blobs", "blob-port"},
		{rest.DefaultQueuePort, "queues", "queue-port"},
		{rest.DefaultTablePort, "tables", "table-port"},
		{amqp.DefaultPort, "Service Bus and Event Hubs", busPort},
		{amqp.DefaultTLSPort, "the same over TLS", busTLSPort},
		{defaultBusAdminPort, "administration of Service Bus", busAdminPort},
		{defaultGridPort, "topics of Event Grid", gridPort},
	}
}

// choosePorts chooses the ports that no flag says.
func (f *startFlags) choosePorts(cmd *cobra.Command) {
	f.freePorts(cmd)
	f.followTables(cmd)
}

// freePorts takes any free port where --ports says so, for each service whose own flag
// does not say another one. What is served stays as it is.
func (f *startFlags) freePorts(cmd *cobra.Command) {
	if f.ports != anyPorts {
		return
	}
	if !cmd.Flags().Changed("port") {
		f.port = 0
	}
	for name, port := range map[string]*portFlag{
		"blob-port": &f.blobPort, "queue-port": &f.queuePort, "table-port": &f.tablePort, busPort: &f.bus.port, busTLSPort: &f.bus.tlsPort, busAdminPort: &f.bus.adminPort, gridPort: &f.grid.port,
	} {
		if !cmd.Flags().Changed(name) {
			*port = 0
		}
	}
}

// portFlag is the value of a flag for a port: its number, 0 for any free one, or "off".
type portFlag int

// String implements pflag.Value.
func (p *portFlag) String() string {
	if *p == noPort {
		return "off"
	}
	return strconv.Itoa(int(*p))
}

// Set implements pflag.Value.
func (p *portFlag) Set(text string) error {
	if text == "off" {
		*p = noPort
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < noPort || n > 65535 {
		return errors.New("want a number from 0 to 65535, or off")
	}
	*p = portFlag(n)
	return nil
}

// Type implements pflag.Value.
func (p *portFlag) Type() string { return "port" }

// addStorage adds the flags of the storage services.
func addStorage(cmd *cobra.Command, f *startFlags) {
	f.blobPort, f.queuePort, f.tablePort = rest.DefaultBlobPort, rest.DefaultQueuePort, rest.DefaultTablePort
	cmd.Flags().Var(&f.blobPort, "blob-port", "port at which storage SDKs find the blobs; 0 for any free one, off for none")
	cmd.Flags().Var(&f.queuePort, "queue-port", "port at which storage SDKs find the queues; 0 for any free one, off for none")
	cmd.Flags().Var(&f.tablePort, "table-port", "port at which storage SDKs find the tables; 0 for any free one, off for none; left out, as the blobs and queues have it")
	cmd.Flags().BoolVar(&f.strictDates, "strict-dates", false, "refuse storage requests dated more than 15 minutes off the clock")
}

// followTables chooses the port of the tables where no flag does: the usual one beside
// blobs and queues at theirs, none where there are neither, else any free one.
func (f *startFlags) followTables(cmd *cobra.Command) {
	switch {
	case cmd.Flags().Changed("table-port"):
	case f.blobPort == noPort && f.queuePort == noPort:
		f.tablePort = noPort
	case f.blobPort != rest.DefaultBlobPort || f.queuePort != rest.DefaultQueuePort:
		f.tablePort = 0
	}
}

// storageGiven reports whether the user asked for the storage services: by a port,
// or by accounts.
func storageGiven(cmd *cobra.Command) bool {
	return cmd.Flags().Changed("blob-port") || cmd.Flags().Changed("queue-port") || cmd.Flags().Changed("table-port") || os.Getenv(rest.AccountsVariable) != ""
}

// defaultBusAdminPort is where the official emulator of Service Bus is administered
// (spec messaging 3.11).
const defaultBusAdminPort = 5300

// busFlags are the ports and the entities of the embedded Service Bus namespace.
type busFlags struct {
	port, tlsPort, adminPort portFlag

	given    bool // a port was asked for
	tlsGiven bool // the port for TLS, too
	files    app.EntityFiles
}

// addBus adds the flags of Service Bus.
func addBus(cmd *cobra.Command, f *busFlags) {
	f.port, f.tlsPort, f.adminPort = amqp.DefaultPort, amqp.DefaultTLSPort, defaultBusAdminPort
	flags := cmd.Flags()
	flags.Var(&f.port, busPort, "port at which Service Bus SDKs find the namespace, when the app needs it; 0 for any free one, off for none")
	flags.Var(&f.tlsPort, busTLSPort, "port for Service Bus clients that know TLS only; open with --tls, or when given")
	flags.Var(&f.adminPort, busAdminPort, "port for administration clients of Service Bus, when the app needs it; 0 for any free one, off for none")
	AddEntityFiles(cmd, &f.files)
}

// AddEntityFiles adds the flags that name files in the form of the official emulators, with
// the entities of the embedded namespace.
func AddEntityFiles(cmd *cobra.Command, f *app.EntityFiles) {
	flags := cmd.Flags()
	flags.StringVar(&f.ServiceBus, "servicebus-config", "", "file of Service Bus entities, a Config.json of the official emulator, instead of the file that host.json names")
	flags.StringVar(&f.EventHubs, "eventhubs-config", "", "file of event hubs, a Config.json of the official Event Hubs emulator, instead of the file that host.json names")
}

// FindEntityFiles makes the paths absolute: the app would look for the files below its folder.
func FindEntityFiles(f *app.EntityFiles) (err error) {
	if f.ServiceBus, err = configPath("--servicebus-config", f.ServiceBus, "Service Bus"); err == nil {
		f.EventHubs, err = configPath("--eventhubs-config", f.EventHubs, "Event Hubs")
	}
	return err
}

// mountedFiles takes the files that a container has below root where the official emulators
// look for theirs, so that a compose file for these goes on with another image. Flags go
// before.
func mountedFiles(f *app.EntityFiles, root string) {
	for folder, file := range map[string]*string{"ServiceBus_Emulator": &f.ServiceBus, "Eventhubs_Emulator": &f.EventHubs} {
		there := filepath.Join(root, folder, "ConfigFiles", "Config.json")
		if info, err := os.Stat(there); *file == "" && err == nil && !info.IsDir() {
			*file = there
		}
	}
}

func configPath(flag, file, service string) (string, error) {
	if file == "" {
		return "", nil
	}
	if info, err := os.Stat(file); err != nil || info.IsDir() {
		return "", cli.Hinted(fmt.Errorf("%s: no file %q", flag, file), fmt.Sprintf("name a Config.json of the official %s emulator", service))
	}
	return filepath.Abs(file)
}

// finish notes which flags were given, makes the paths of files absolute, and finds the files
// that a container has.
func (f *busFlags) finish(cmd *cobra.Command, container bool) error {
	for _, name := range []string{busPort, busTLSPort, busAdminPort} {
		if flag := cmd.Flags().Lookup(name); flag.Changed && flag.Value.String() != "off" {
			f.given = true
			f.tlsGiven = f.tlsGiven || name == busTLSPort
		}
	}
	if f.port == noPort && !cmd.Flags().Changed(busAdminPort) {
		f.adminPort = noPort // there is nothing to administer, and another host may want the port
	}
	err := FindEntityFiles(&f.files)
	if container {
		mountedFiles(&f.files, "/")
	}
	return err
}

// securePort is the port for TLS. Its own flag opens it, and so does TLS for all
// listeners while clients are served.
func (f *busFlags) securePort(tls bool) portFlag {
	if f.tlsGiven || tls && f.port != noPort {
		return f.tlsPort
	}
	return noPort
}

// defaultGridPort is where publishers find Event Grid (spec messaging 5.3).
const defaultGridPort = 60101

// gridFlags say where the embedded Event Grid is served.
type gridFlags struct {
	port  portFlag
	given bool // the flag was
}

// addGrid adds the flag of Event Grid.
func addGrid(cmd *cobra.Command, f *gridFlags) {
	f.port = defaultGridPort
	cmd.Flags().Var(&f.port, gridPort, "port at which publishers find the topics of Event Grid, when the app has some; 0 for any free one, off for none")
}

// finish notes whether the flag was given.
func (f *gridFlags) finish(cmd *cobra.Command) { f.given = cmd.Flags().Changed(gridPort) }
