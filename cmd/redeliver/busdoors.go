package main

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/emulator/amqp"
	"github.com/redeliver/redeliver/host/emulator/amqp/bus"
	"github.com/redeliver/redeliver/host/emulator/amqp/hubs"
	"github.com/redeliver/redeliver/host/emulator/rest/atom"
	"github.com/redeliver/redeliver/host/services"
)

// defaultBusAdminPort is where the official emulator of Service Bus is administered
// (spec messaging 3.11).
const defaultBusAdminPort = 5300

// busFlags say where the embedded Service Bus namespace is served, and what is in it.
type busFlags struct {
	port, tlsPort, adminPort doorPort

	given    bool // a port was asked for
	tlsGiven bool // that for TLS only, too
	files    configFiles
}

// configFiles are files in the form of the official emulators, which describe what the
// embedded namespace has; empty for those that host.json names.
type configFiles struct {
	bus  string // --servicebus-config
	hubs string // --eventhubs-config
}

// busPortFlags are the flags that open a door of Service Bus.
func busPortFlags() []string {
	return []string{"servicebus-port", "servicebus-tls-port", "servicebus-admin-port"}
}

// addBus adds the flags of Service Bus.
func addBus(cmd *cobra.Command, f *busFlags) {
	f.port, f.tlsPort, f.adminPort = amqp.DefaultPort, amqp.DefaultTLSPort, defaultBusAdminPort
	flags := cmd.Flags()
	flags.Var(&f.port, "servicebus-port", "port at which Service Bus SDKs find the namespace, when the app needs it; 0 for any free one, off for none")
	flags.Var(&f.tlsPort, "servicebus-tls-port", "port for Service Bus clients that know TLS only, with --tls or when given")
	flags.Var(&f.adminPort, "servicebus-admin-port", "port for administration clients of Service Bus, likewise")
	f.files.add(cmd)
}

// add adds the flags that name the files.
func (f *configFiles) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.bus, "servicebus-config", "", "file of Service Bus entities, a Config.json of the official emulator, instead of the one that host.json names")
	flags.StringVar(&f.hubs, "eventhubs-config", "", "file of event hubs, a Config.json of the official Event Hubs emulator, instead of the one that host.json names")
}

// finish makes the paths absolute: the app would look for the files below its folder.
func (f *configFiles) finish() (err error) {
	if f.bus, err = configPath("--servicebus-config", f.bus, "Service Bus"); err == nil {
		f.hubs, err = configPath("--eventhubs-config", f.hubs, "Event Hubs")
	}
	return err
}

func configPath(flag, file, service string) (string, error) {
	if file == "" {
		return "", nil
	}
	if info, err := os.Stat(file); err != nil || info.IsDir() {
		return "", hinted(fmt.Errorf("%s: no file %q", flag, file), fmt.Sprintf("name a Config.json of the official %s emulator", service))
	}
	return filepath.Abs(file)
}

// named reports whether there is a file.
func (f *configFiles) named() bool { return f.bus != "" || f.hubs != "" }

// finish notes which flags were given, and makes the paths of files absolute.
func (f *busFlags) finish(cmd *cobra.Command) error {
	for _, name := range busPortFlags() {
		if flag := cmd.Flags().Lookup(name); flag.Changed && flag.Value.String() != "off" {
			f.given = true
			f.tlsGiven = f.tlsGiven || name == "servicebus-tls-port"
		}
	}
	if f.port == noDoor && !cmd.Flags().Changed("servicebus-admin-port") {
		f.adminPort = noDoor // there is nothing to administer, and another host may want the port
	}
	return f.files.finish()
}

// securePort is the port for TLS: its own flag opens it, and otherwise TLS for all
// listeners, of which it is one if clients are served at all.
func (f *busFlags) securePort(tls bool) doorPort {
	if f.tlsGiven || tls && f.port != noDoor {
		return f.tlsPort
	}
	return noDoor
}

// busWanted reports whether Service Bus and Event Hubs are to be served: a port or a
// file of entities or hubs was named, the app has a connection string of an emulator that
// clients look for here, or it describes entities or hubs and no setting leads to a
// namespace elsewhere. An app with storage only takes no ports for it.
func (s *session) busWanted(a *app.App) bool {
	if s.flags.servicesOnly || s.flags.bus.given || s.flags.bus.files.named() {
		return true
	}
	settings := a.Settings.All()
	for _, value := range settings {
		if services.EmulatorConnection(value) {
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

// openBus serves the embedded Service Bus and Event Hubs namespaces, which are one
// name space, on loopback only, and tells the host where.
func (s *session) openBus(wanted bool) error {
	f := &s.flags.bus
	if !wanted {
		s.host.Connections().ServiceBusAt("")
		return nil
	}
	tlsPort := f.securePort(s.flags.tls.wanted())
	opts := &amqp.Options{Guard: s.web.Guard(), Logger: s.log, HTTP: atom.New(s.clock, s.host.Services().ServiceBus(), &atom.Options{Health: s.busHealth})}
	if tlsPort != noDoor || s.flags.tls.wanted() {
		pair, err := s.certificate()
		if err != nil {
			return err
		}
		opts.TLS = pair.Config()
	}
	backend := hubs.New(s.clock, s.host.Services().EventHubs(), bus.New(s.clock, s.host.Services().ServiceBus(), nil))
	// Every port tells by the first bytes what is spoken there, so that one kind of
	// server does for all; with one for each, a port that is taken has a name. They
	// share the backend, and with it the locks that clients hold; it asks for no
	// claims, so that it does not matter that each numbers its own connections.
	for _, door := range []struct {
		server        **amqp.Server
		port, tlsPort doorPort
		flag          string
	}{
		{&s.bus, f.port, noDoor, "--servicebus-port"},
		{&s.busTLS, noDoor, tlsPort, "--servicebus-tls-port"},
		{&s.busAdmin, f.adminPort, noDoor, "--servicebus-admin-port"},
	} {
		if door.port == noDoor && door.tlsPort == noDoor {
			continue
		}
		own := *opts
		own.Port, own.TLSPort = int(door.port), int(door.tlsPort)
		server := amqp.NewServer(backend, &own)
		if err := startBus(server, door.flag); err != nil {
			return err
		}
		*door.server = server
	}
	address := ""
	if s.bus != nil {
		address = "sb://" + s.bus.Addr()
	}
	s.host.Connections().ServiceBusAt(address)
	return nil
}

// busHealth is what is wrong until clients find the entities of the app.
func (s *session) busHealth() error {
	switch s.host.State() {
	case host.Running, host.Error:
		return nil
	}
	return errors.New("the host is not running")
}

// startBus listens, and says what to do when somebody else has the port, which its
// flag chooses.
func startBus(server *amqp.Server, flag string) error {
	err := server.Start()
	var port *amqp.PortError
	if !errors.As(err, &port) || !port.Busy() {
		return err
	}
	return hinted(fmt.Errorf("the Service Bus port %d is in use: is another emulator or a message broker running?", port.Port),
		fmt.Sprintf("stop it, or choose another port: %s 0 takes any free one, off none", flag))
}

// busConnection is the connection string of an emulator at an address.
func busConnection(address string) string {
	if host, port, err := net.SplitHostPort(address); err == nil && port == strconv.Itoa(amqp.DefaultPort) {
		address = host
	}
	return "Endpoint=sb://" + address + ";SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true;"
}

// serviceBus is what clients are given to reach the namespace, first those that send and
// receive, then those that administer; empty when no door is open.
func (s *session) serviceBus() (clients, admin string) {
	if s.bus != nil {
		clients = busConnection(s.bus.Addr())
	}
	if s.busAdmin != nil {
		admin = busConnection(s.busAdmin.Addr())
	}
	return clients, admin
}

// busLines say where Service Bus SDKs find the namespace.
func (s *session) busLines() string {
	var t strings.Builder
	if s.otherBus != "" {
		writef(&t, "  servicebus that of %s; --servicebus-port opens the embedded one to clients\n", s.otherBus)
	}
	clients, admin := s.serviceBus()
	for _, line := range [][2]string{{"servicebus", clients}, {"sb admin", admin}} {
		if line[1] != "" {
			writef(&t, "  %-10s %s\n", line[0], line[1])
		}
	}
	if s.busTLS != nil {
		writef(&t, "  %-10s amqps://%s\n", "sb tls", s.busTLS.TLSAddr())
	}
	return t.String()
}

// closeBus ends the doors of Service Bus.
func (s *session) closeBus() {
	for _, server := range []*amqp.Server{s.bus, s.busTLS, s.busAdmin} {
		if server != nil {
			server.Close()
		}
	}
}
