package host

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
)

// serviceBusService is the Service Bus namespace among the host's doors.
const serviceBusService storageService = "servicebus"

// devServiceBusAddress is where emulators of Service Bus are looked for.
const devServiceBusAddress = "127.0.0.1:5672"

// openNamespace makes the embedded namespace, kept as the storage accounts are.
func (h *Host) openNamespace() (err error) {
	opts := &servicebus.Options{Seed: h.opts.Seed, Record: h.journal.Append}
	if h.accounts.db != nil {
		h.namespace, err = servicebus.Open(h.clk, h.accounts.db, opts)
		return err
	}
	h.namespace = servicebus.New(h.clk, opts)
	return nil
}

// ServiceBus is the embedded Service Bus namespace, which connection strings with
// UseDevelopmentEmulator=true mean.
func (h *Host) ServiceBus() *servicebus.Namespace { return h.namespace }

// ServiceBusAt tells the host at which address, as in sb://127.0.0.1:5672, its
// embedded namespace is served; empty when it is not. It does for Service Bus
// what DoorsAt does for storage.
func (h *Host) ServiceBusAt(address string) {
	h.doors = h.doors.orNew()
	h.doors[serviceBusService] = door{address, serviceBusAddress(address)}
}

// ServiceBus returns the namespace of a connection: the embedded one for a
// connection string of an emulator at the host's own door.
func (s *services) ServiceBus(conn app.Connection) (bindings.ServiceBus, error) {
	parts := fields(conn)
	if strings.EqualFold(parts["usedevelopmentemulator"], "true") && serviceBusAddress(parts["endpoint"]) == s.host.doors.at(serviceBusService) {
		return s.host.namespace, nil
	}
	if s.outside == nil {
		return nil, errOutside(conn)
	}
	ns, err := s.outside.ServiceBus(conn)
	if err != nil {
		return nil, fmt.Errorf("connection %q: %w", conn.Setting, err)
	}
	return outsideBus{s.host.trip("service bus of " + conn.Setting), ns}, nil
}

// serviceBusAddress is the address of an endpoint, sb://host[:port].
func serviceBusAddress(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil || u.Hostname() == "" {
		return ""
	}
	port := u.Port()
	if port == "" {
		port = "5672"
	}
	return address(u.Hostname(), port)
}
