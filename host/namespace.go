package host

import (
	"fmt"
	"strings"

	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
)

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
	return h.embedded.ServiceBus().Restore(snap)
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
		if named, err := f.serviceBus(b); err != nil || named != servicebusapi.Namespace(g.host.embedded.ServiceBus()) {
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
	h.embedded.ServiceBus().Configure(servicebus.Switches{
		StrictSessionSend:       s.StrictSessionSend,
		ForwardFailureToDLQ:     s.AutoForwardFailure == "dlq",
		MaxForwardHops:          s.MaxForwardHops,
		AutoCreateEntitiesOnUse: s.AutoCreateEntities == "any",
	})
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
			case ok && h.connections.IsEmbeddedNamespace(conn):
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
