//clock:outside clients connect from the real world, and come in by Inside

package hosttest

import (
	"net"
	"net/url"
	"strconv"

	"github.com/redeliver/redeliver/host/emulator/amqp"
	"github.com/redeliver/redeliver/host/emulator/amqp/bus"
	"github.com/redeliver/redeliver/host/emulator/amqp/hubs"
	"github.com/redeliver/redeliver/host/emulator/rest"
	"github.com/redeliver/redeliver/host/emulator/rest/atom"
	"github.com/redeliver/redeliver/host/emulator/rest/grid"
	"github.com/redeliver/redeliver/host/emulator/rest/served"
	"github.com/redeliver/redeliver/host/listen"
)

// Endpoints are where SDK clients find the services of a host with Options.Ports; the zero
// value is a host without. They stay the same when the host is started again.
type Endpoints struct {
	Storage    string // connection string of the account that UseDevelopmentStorage=true means
	BlobURL    string
	QueueURL   string
	ServiceBus string // connection string, of Event Hubs too
	EventGrid  string // address of the topics
}

// listeners serve the services of a host.
type listeners struct {
	at      Endpoints
	storage *rest.Server
	others  []*listen.Server

	blobs, queues, tables, bus, grid int // port numbers, once they are known
}

// Endpoints are where SDK clients find the services.
func (h *Host) Endpoints() Endpoints {
	if h.ports == nil {
		return Endpoints{}
	}
	return h.ports.at
}

// open serves the services of the host that is to begin, at the ports of the run before.
func (l *listeners) open(h *Host) error {
	l.close()
	clk, embedded := h.Host.Clock(), h.Host.Services()
	guard := &listen.Guard{}
	account := rest.Account{Name: rest.DevAccount, Keys: []string{rest.DevKey}}
	files := embedded.Account(account.Name)
	account.Queues, account.QueueAdmin, account.Blobs, account.Tables, account.TableAdmin = files, files, files, files, files
	storage, err := served.NewServer(clk, &rest.Options{Accounts: []rest.Account{account}, QueuePort: l.queues, BlobPort: l.blobs, TablePort: l.tables, Guard: guard})
	if err != nil {
		return err
	}
	if err := storage.Start(); err != nil {
		return err
	}
	l.storage = storage
	broker := amqp.NewServer(hubs.New(clk, embedded.EventHubs(), bus.New(clk, embedded.ServiceBus(), nil)), &amqp.Options{})
	admin := atom.New(clk, embedded.ServiceBus(), nil)
	at, err := l.serve(&listen.Server{Other: broker, Handler: guard.Protect(broker.Handler(listen.Bodies(admin))), Component: "amqp"}, "Service Bus", l.bus)
	if err != nil {
		return err
	}
	topics, err := l.serve(&listen.Server{Handler: guard.Protect(listen.Bodies(grid.Handler(clk, embedded.EventGrid(), nil))), Component: "eventgrid"}, "Event Grid", l.grid)
	if err != nil {
		return err
	}
	l.blobs, l.queues, l.tables, l.bus, l.grid = portOf(storage.BlobURL()), portOf(storage.QueueURL()), portOf(storage.TableURL()), portOf(at), portOf(topics)
	l.at = Endpoints{
		Storage: storage.ConnectionString(account), BlobURL: storage.BlobURL(), QueueURL: storage.QueueURL(),
		ServiceBus: "Endpoint=sb://" + at + ";SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true;",
		EventGrid:  "http://" + topics,
	}
	connections := h.Host.Connections()
	connections.StorageAt(l.at.BlobURL, l.at.QueueURL)
	connections.TablesAt(storage.TableURL())
	connections.DevelopmentStorage(l.at.Storage)
	connections.ServiceBusAt("sb://" + at)
	connections.EventGridAt(l.at.EventGrid)
	return nil
}

// serve opens a port, of that number if it is above 0, and returns its address.
func (l *listeners) serve(s *listen.Server, service string, number int) (string, error) {
	l.others = append(l.others, s)
	addr, err := s.Listen(listen.Port{Service: service, Number: number})
	if err != nil {
		return "", err
	}
	return addr.String(), nil
}

// close ends what is served. Clients find the port closed, until it is opened again.
func (l *listeners) close() {
	if l == nil {
		return
	}
	if l.storage != nil {
		_ = l.storage.Close()
	}
	for _, s := range l.others {
		_ = s.Close()
	}
	l.storage, l.others = nil, nil
}

// portOf is the port of a URL, or of an address.
func portOf(address string) int {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		address = u.Host
	}
	_, port, _ := net.SplitHostPort(address)
	n, _ := strconv.Atoi(port)
	return n
}
