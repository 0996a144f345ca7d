package host

import (
	"fmt"
	"net/url"
	"strings"

	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
)

// serviceBusService is the Service Bus namespace among the host's doors.
const serviceBusService storageService = "servicebus"

// devServiceBusAddress is where emulators of Service Bus are looked for.
const devServiceBusAddress = "127.0.0.1:5672"

// openNamespace makes the embedded namespace, kept as the storage accounts are.
func (h *Host) openNamespace() (err error) {
	opts := &servicebus.Options{Seed: h.opts.Seed, Record: h.fleet.record, Taken: func(name string) bool { return h.hubs != nil && h.hubs.Has(name) }}
	if h.accounts.db != nil {
		h.namespace, err = servicebus.Open(h.clk, h.accounts.db, opts)
		return err
	}
	h.namespace = servicebus.New(h.clk, opts)
	return nil
}

// emptyNamespace puts a namespace that holds no message in the place of the
// present one, with the entities that the app describes and its functions name.
// Their listeners go on.
func (h *Host) emptyNamespace() error {
	empty := servicebus.New(h.clk, &servicebus.Options{Seed: h.opts.Seed})
	if err := h.populate(empty); err != nil {
		return err
	}
	snap, err := empty.Snapshot()
	if err != nil {
		return err
	}
	return h.namespace.Restore(snap)
}

// populate makes the entities that the running app describes and names.
func (h *Host) populate(ns *servicebus.Namespace) error {
	g := h.current.Load()
	if g == nil {
		return nil
	}
	if err := h.applyEntities(g.app, ns); err != nil {
		return err
	}
	return g.nameEntities(ns)
}

// nameEntities makes what the functions of a generation name.
func (g *generation) nameEntities(ns *servicebus.Namespace) error {
	for _, f := range g.functions {
		if err := f.nameEntities(ns); err != nil {
			return fmt.Errorf("function %q: %w", f.def.Name, err)
		}
	}
	return nil
}

// nameEntities makes what the function names in the embedded namespace, for which ns
// stands, unless autoCreateEntities is none. What exists is left as it is.
func (f *function) nameEntities(ns *servicebus.Namespace) error {
	g := f.gen
	if g.app.Switches.AutoCreateEntities == "none" {
		return nil
	}
	for _, b := range f.def.Bindings {
		if !isServiceBus(b) {
			continue
		}
		if named, err := f.serviceBus(b); err != nil || named != servicebusapi.Namespace(g.host.namespace) {
			continue
		}
		if err := g.nameEntity(ns, b); err != nil {
			return err
		}
	}
	return nil
}

func (g *generation) nameEntity(ns *servicebus.Namespace, b *app.Binding) error {
	ctx := g.host.root
	if b.IsTrigger() {
		source, err := serviceBusSource(b)
		if err != nil {
			return err
		}
		return createEntity(ctx, ns, source, receivesSessions(g.app, source))
	}
	queue, topic := b.String("queueName"), b.String("topicName")
	switch {
	case strings.Contains(queue+topic, "{"):
		return nil // known at run time
	case topic != "":
		return outputError(b, createTopic(ctx, ns, topic))
	}
	path, err := servicebusapi.ParsePath(queue)
	if err != nil {
		return outputError(b, err)
	}
	return outputError(b, createEntity(ctx, ns, path, receivesSessions(g.app, path)))
}

func outputError(b *app.Binding, err error) error {
	if err != nil {
		err = fmt.Errorf("output binding %q: %w", b.Name, err)
	}
	return err
}

// configureNamespace gives the namespace the switches of the app that runs.
func (h *Host) configureNamespace(s app.Switches) {
	h.namespace.Configure(servicebus.Switches{
		StrictSessionSend:       s.StrictSessionSend,
		ForwardFailureToDLQ:     s.AutoForwardFailure == "dlq",
		MaxForwardHops:          s.MaxForwardHops,
		AutoCreateEntitiesOnUse: s.AutoCreateEntities == "any",
	})
}

// ServiceBus is the embedded Service Bus namespace, which connection strings with
// UseDevelopmentEmulator=true mean.
func (h *Host) ServiceBus() *servicebus.Namespace { return h.namespace }

// ServiceBusAt tells the host at which address, as in sb://127.0.0.1:5672, its
// embedded namespace is served; empty when it is not. A connection string of an
// emulator means the embedded namespace when its endpoint names this machine and
// no port, wherever the door is, or the door's own port; with another port it is
// another emulator. Handler processes, whose clients go through the door, are
// given the door's port where a setting names none. A host that is told nothing
// takes the emulator's usual port, 5672, for its own. Call it before Start.
func (h *Host) ServiceBusAt(address string) {
	h.doors = h.doors.orNew()
	h.doors[serviceBusService] = door{address, serviceBusAddress(address)}
}

// ServiceBusOutside returns the first setting by which the app's Service Bus
// bindings name a namespace outside this host, or the empty string when one of
// them names the embedded namespace, or when there is none.
func (h *Host) ServiceBusOutside() string {
	a := h.App()
	if a == nil || h.opts.Services != nil {
		return ""
	}
	outside := ""
	for _, f := range a.Functions {
		for _, b := range f.Bindings {
			if !isServiceBus(b) {
				continue
			}
			conn, ok := serviceBusConnection(a, b)
			switch {
			case ok && h.doors.isEmbeddedBus(conn):
				return ""
			case ok && outside == "":
				outside = conn.Setting
			}
		}
	}
	return outside
}

func isServiceBus(b *app.Binding) bool { return b.Is("serviceBusTrigger") || b.Is("serviceBus") }

// serviceBusConnection is the connection of a binding; false when its setting does
// not exist.
func serviceBusConnection(a *app.App, b *app.Binding) (app.Connection, bool) {
	return a.Settings.Connection(serviceBusSetting(b))
}

// serviceBusSetting is the name of a binding's connection.
func serviceBusSetting(b *app.Binding) string {
	if b.Connection == "" {
		return "ServiceBus"
	}
	return b.Connection
}

// ServiceBus returns the namespace of a connection: the embedded one for a
// connection string of an emulator that means it.
func (s *services) ServiceBus(conn app.Connection) (servicebusapi.Namespace, error) {
	if s.host.doors.isEmbeddedBus(conn) {
		return s.host.namespace, nil
	}
	if s.outside == nil {
		return nil, errBusOutside(conn)
	}
	return opened(s, "service bus", conn, s.outside.ServiceBus)
}

// isEmbeddedBus reports whether a connection means the embedded namespace.
func (d doors) isEmbeddedBus(conn app.Connection) bool {
	parts := fields(conn)
	at := serviceBusAddress(parts["endpoint"])
	return at != "" && strings.EqualFold(parts["usedevelopmentemulator"], "true") &&
		(namesNoPort(parts["endpoint"]) || at == d.at(serviceBusService))
}

// EmulatorConnection reports whether a setting's value is a connection string of a
// Service Bus emulator on this machine, at the usual port or at none that it names:
// one that this host may be meant to serve.
func EmulatorConnection(value string) bool {
	parts := fields(app.Connection{Value: value})
	return strings.EqualFold(parts["usedevelopmentemulator"], "true") && serviceBusAddress(parts["endpoint"]) == devServiceBusAddress
}

// NamespaceConnection reports whether a setting leads to a namespace of Service Bus or
// Event Hubs, wherever it is: by a connection string, or by an identity.
func NamespaceConnection(name, value string) bool {
	const identity = "__fullyqualifiednamespace"
	return strings.HasSuffix(strings.ToLower(name), identity) && value != "" ||
		strings.HasPrefix(strings.ToLower(fields(app.Connection{Value: value})["endpoint"]), "sb://")
}

// namesNoPort reports whether an endpoint is this machine and nothing else.
func namesNoPort(endpoint string) bool {
	u, err := url.Parse(endpoint)
	return err == nil && u.Port() == "" && serviceBusAddress(endpoint) == devServiceBusAddress
}

// busSetting is the value of a setting as a handler process is given it: a
// connection string of an emulator without a port leads to the door.
func (d doors) busSetting(value string) string {
	at := d.at(serviceBusService)
	if at == "" || at == devServiceBusAddress {
		return value
	}
	parts := fields(app.Connection{Value: value})
	if !strings.EqualFold(parts["usedevelopmentemulator"], "true") || !namesNoPort(parts["endpoint"]) {
		return value
	}
	list := strings.Split(value, ";")
	for i, part := range list {
		if name, _, _ := strings.Cut(part, "="); strings.EqualFold(strings.TrimSpace(name), "endpoint") {
			list[i] = "Endpoint=sb://" + at
		}
	}
	return strings.Join(list, ";")
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
