package run

import (
	"crypto/tls"
	"errors"
	"fmt"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/emulator/amqp"
	"github.com/redeliver/redeliver/host/emulator/amqp/bus"
	"github.com/redeliver/redeliver/host/emulator/amqp/hubs"
	"github.com/redeliver/redeliver/host/emulator/rest"
	"github.com/redeliver/redeliver/host/emulator/rest/atom"
	"github.com/redeliver/redeliver/host/emulator/rest/grid"
	"github.com/redeliver/redeliver/host/emulator/rest/served"
	"github.com/redeliver/redeliver/host/listen"
)

// The flags that choose the ports of Service Bus and Event Grid.
const (
	busPort      = "servicebus-port"
	busTLSPort   = "servicebus-tls-port"
	busAdminPort = "servicebus-admin-port"
	gridPort     = "eventgrid-port"
)

// serverRow is a row of the table of servers.
type serverRow struct {
	flag    string // that chooses the port
	port    portFlag
	tls     bool   // clients have to speak it
	service string // as messages call it
	rivals  string // that may have the port
	server  *listen.Server
}

// everyInterface is where everything is served in a container: others reach it there, and
// what reaches the container is theirs to say.
const everyInterface = "0.0.0.0"

// serviceAddress is where the embedded services listen; empty for loopback.
func (f *startFlags) serviceAddress() string {
	if f.container {
		return everyInterface
	}
	return ""
}

// table lists the servers of Service Bus and Event Grid.
func (s *session) table() (rows []serverRow, err error) {
	if s.anyWants((*session).busWanted) {
		f := &s.flags.bus
		secure := f.securePort(s.flags.tls.wanted())
		server, err := s.busServer(secure != noPort)
		if err != nil {
			return nil, err
		}
		const service, rivals = "Service Bus", "another emulator or a message broker"
		rows = append(rows,
			serverRow{busPort, f.port, false, service, rivals, server},
			serverRow{busTLSPort, secure, true, service, rivals, server},
			serverRow{busAdminPort, f.adminPort, false, service, rivals, server},
		)
	}
	if s.anyWants((*session).gridWanted) {
		server, err := s.gridServer()
		if err != nil {
			return nil, err
		}
		rows = append(rows, serverRow{gridPort, s.flags.grid.port, false, "Event Grid", "another emulator", server})
	}
	return rows, nil
}

// anyWants asks each app, since each notes what it has elsewhere.
func (c *common) anyWants(wants func(*session, *app.App) bool) (any bool) {
	for _, s := range c.apps {
		any = wants(s, s.read) || any
	}
	return any
}

// openServices serves the embedded services that are wanted, through the host of the first
// app, and tells all hosts where.
func (s *session) openServices() error {
	if s.anyWants((*session).storageWanted) {
		if err := s.openStorage(); err != nil {
			return err
		}
		for _, s := range s.apps {
			s.warnUnserved(s.read)
		}
	}
	rows, err := s.table()
	if err != nil {
		return err
	}
	s.at = map[string]string{}
	for _, row := range rows {
		if err := s.listen(row); err != nil {
			return err
		}
	}
	for _, s := range s.apps {
		s.connect()
	}
	return nil
}

// connect tells the host of the app where the services are.
func (s *session) connect() {
	connections := s.host.Connections()
	connections.StorageAt(s.storageURLs())
	connections.TablesAt(s.tablesURL())
	connections.DevelopmentStorage(s.handlerStorage())
	connections.AccountStrings(s.accountStrings())
	namespace := ""
	if at := s.at[busPort]; at != "" {
		namespace = "sb://" + at
	}
	connections.ServiceBusAt(namespace)
	if url := s.gridURL(); url != "" {
		var others []string
		if s.flags.grid.port == 0 { // settings were written before anybody knew the port
			others = append(others, cli.Textf("http://127.0.0.1:%d", defaultGridPort))
		}
		connections.EventGridAt(url, others...)
	}
}

// listen opens the port of a row, if it has one, with a hint when another process
// has it.
func (s *session) listen(row serverRow) error {
	if row.port == noPort {
		return nil
	}
	s.servers = append(s.servers, row.server)
	addr, err := row.server.Listen(listen.Port{Service: row.service, Rivals: row.rivals, Address: s.flags.serviceAddress(), Number: int(row.port), TLS: row.tls})
	if err == nil {
		s.at[row.flag] = listen.Near(addr)
		return nil
	}
	if isBusy(err) {
		return cli.Hinted(fmt.Errorf("the %s port %d is in use: is %s running?", row.service, row.port, row.rivals),
			fmt.Sprintf("stop it, or choose another port: --%s 0 takes any free one, off none", row.flag))
	}
	return err
}

// isBusy reports whether an error means that another process has the port.
func isBusy(err error) bool {
	var port *listen.PortError
	return errors.As(err, &port) && port.Busy()
}

// busServer serves the embedded Service Bus and Event Hubs namespaces, which are one
// name space: AMQP, also over WebSockets, and administration, each at every port.
func (s *session) busServer(secure bool) (*listen.Server, error) {
	config, err := s.tlsConfig(secure)
	if err != nil {
		return nil, err
	}
	embedded := s.host.Services()
	broker := amqp.NewServer(hubs.New(s.clock, embedded.EventHubs(), bus.New(s.clock, embedded.ServiceBus(), nil)), &amqp.Options{Logger: s.log})
	admin := atom.New(s.clock, embedded.ServiceBus(), &atom.Options{Health: s.busHealth})
	return &listen.Server{
		Other: broker, Handler: s.web.Guard().Protect(broker.Handler(listen.Bodies(admin))), TLS: config, Component: "amqp", Logger: s.log,
	}, nil
}

// busHealth is the fault that keeps clients from the entities of the app, if any.
func (s *session) busHealth() error {
	for _, s := range s.apps {
		if state := s.host.State(); state == host.Running || state == host.Error {
			return nil
		}
	}
	return errors.New("the host is not running")
}

// gridServer serves the embedded Event Grid over HTTP and, with --tls, HTTPS.
func (s *session) gridServer() (*listen.Server, error) {
	config, err := s.tlsConfig(false)
	if err != nil {
		return nil, err
	}
	handler := listen.Bodies(grid.Handler(s.clock, s.host.Services().EventGrid(), nil))
	return &listen.Server{Handler: s.web.Guard().Protect(handler), TLS: config, Component: "eventgrid", Logger: s.log}, nil
}

// openStorage serves the embedded storage accounts over HTTP or HTTPS.
func (s *session) openStorage() error {
	for i, a := range s.accounts {
		storage := s.host.Services().Account(a.Name)
		a.Queues, a.QueueAdmin, a.Blobs, a.Tables, a.TableAdmin = storage, storage, storage, storage, storage
		s.accounts[i] = a
	}
	config, err := s.tlsConfig(false)
	if err != nil {
		return err
	}
	server, err := served.NewServer(s.clock, &rest.Options{
		Accounts: s.accounts, Address: s.flags.serviceAddress(), QueuePort: int(s.flags.queuePort), BlobPort: int(s.flags.blobPort), TablePort: int(s.flags.tablePort), TLS: config, StrictDates: s.flags.strictDates, Guard: s.web.Guard(), Logger: s.log,
	})
	if err != nil {
		return err
	}
	if err := server.Start(); isBusy(err) {
		return cli.Hinted(err, "stop it (func start of core tools v5 starts Azurite by itself), or choose other ports: --ports any takes free ones for all services, --blob-port 0 --queue-port 0 --table-port 0 for these, off none")
	} else if err != nil {
		return err
	}
	s.storage = server
	return nil
}

// tlsConfig is how a service speaks TLS; nil if neither all services nor this one
// should.
func (s *session) tlsConfig(wanted bool) (*tls.Config, error) {
	if !wanted && !s.flags.tls.wanted() {
		return nil, nil
	}
	pair, err := s.certificate()
	if err != nil {
		return nil, err
	}
	return pair.Config(), nil
}

// closeServices is the end of openServices.
func (c *common) closeServices() error {
	var errs []error
	if c.storage != nil {
		errs = append(errs, c.storage.Close())
	}
	for _, server := range c.servers {
		errs = append(errs, server.Close())
	}
	return errors.Join(errs...)
}
