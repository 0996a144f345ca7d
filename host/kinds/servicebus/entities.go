package servicebus

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/app/appsettings"
	"github.com/redeliver/redeliver/host/app/hostjson"
	emulator "github.com/redeliver/redeliver/host/emulator/servicebus"
	"github.com/redeliver/redeliver/host/kinds"
	"github.com/redeliver/redeliver/host/services"
)

// Name makes the entity that the function names in the embedded namespace, ns,
// unless autoCreateEntities is none. Existing entities stay as they are.
func Name(f *kinds.Function, ns *emulator.Namespace) error {
	if f.App().Switches.AutoCreateEntities == "none" {
		return nil
	}
	for _, b := range f.Def.Bindings {
		if !isServiceBus(b) {
			continue
		}
		if named, err := namespaceOf(f, b); err != nil || named != servicebus.Namespace(f.Embedded.ServiceBus()) {
			continue
		}
		if err := nameEntity(f, ns, b); err != nil {
			return err
		}
	}
	return nil
}

func nameEntity(f *kinds.Function, ns *emulator.Namespace, b *app.Binding) error {
	ctx := f.Root
	if b.IsTrigger() {
		source, err := sourceOf(b)
		if err != nil {
			return err
		}
		return createEntity(ctx, ns, source, receivesSessions(f.App(), source))
	}
	queue, topic := b.String("queueName"), b.String("topicName")
	switch {
	case strings.Contains(queue+topic, "{"):
		return nil // known at run time
	case topic != "":
		return outputError(b, createTopic(ctx, ns, topic))
	}
	path, err := servicebus.ParsePath(queue)
	if err != nil {
		return outputError(b, err)
	}
	return outputError(b, createEntity(ctx, ns, path, receivesSessions(f.App(), path)))
}

func outputError(b *app.Binding, err error) error {
	if err != nil {
		err = fmt.Errorf("output binding %q: %w", b.Name, err)
	}
	return err
}

// receivesSessions reports whether a function of the app receives from an embedded
// entity by session: then it requires them, although the function for whose sake it
// is made may only send to it, or receive from its dead-letter queue.
func receivesSessions(a *app.App, path servicebus.Path) bool {
	return slices.ContainsFunc(a.Functions, func(f *app.Function) bool {
		if f.Trigger == nil || !f.Trigger.Is("serviceBusTrigger") || !hasSessions(f.Trigger) {
			return false
		}
		source, embedded := describedSource(a, f)
		return embedded && source.Key() == path.Main().Key()
	})
}

// createEntity makes a queue, or a subscription with its topic.
func createEntity(ctx context.Context, ns *emulator.Namespace, path servicebus.Path, sessions bool) error {
	if path.Subscription == "" {
		if _, err := ns.GetTopic(ctx, path.Entity); err == nil {
			return nil // an output to a topic
		}
		_, err := ns.CreateQueue(ctx, servicebus.Queue{Name: path.Entity, RequiresSession: sessions})
		return orExists(err)
	}
	if err := createTopic(ctx, ns, path.Entity); err != nil {
		return err
	}
	_, err := ns.CreateSubscription(ctx, servicebus.Subscription{Topic: path.Entity, Name: path.Subscription, RequiresSession: sessions}, nil)
	return orExists(err)
}

func createTopic(ctx context.Context, ns *emulator.Namespace, name string) error {
	_, err := ns.CreateTopic(ctx, servicebus.Topic{Name: name})
	return orExists(err)
}

// orExists takes it for a success that the entity is there already.
func orExists(err error) error {
	if errors.Is(err, bindings.ErrAlreadyExists) {
		return nil
	}
	return err
}

// Configure gives the namespace the switches of the app that runs.
func Configure(ns *emulator.Namespace, s hostjson.Switches) {
	ns.Configure(emulator.Switches{
		StrictSessionSend:       s.StrictSessionSend,
		ForwardFailureToDLQ:     s.AutoForwardFailure == "dlq",
		MaxForwardHops:          s.MaxForwardHops,
		AutoCreateEntitiesOnUse: s.AutoCreateEntities == "any",
	})
}

// Outside returns the first setting by which the app's Service Bus
// bindings name a namespace outside this host, or the empty string when one of
// them names the embedded namespace, or when there is none.
func Outside(c *services.Connections, a *app.App) string {
	if a == nil || c.Instead() {
		return ""
	}
	outside := ""
	for _, f := range a.Functions {
		for _, b := range f.Bindings {
			if !isServiceBus(b) {
				continue
			}
			conn, ok := connectionOf(a, b)
			switch {
			case ok && c.IsEmbeddedNamespace(conn):
				return ""
			case ok && outside == "":
				outside = conn.Setting
			}
		}
	}
	return outside
}

func isServiceBus(b *app.Binding) bool { return b.Is("serviceBusTrigger") || b.Is("serviceBus") }

// connectionOf is the connection of a binding; false when its setting does
// not exist.
func connectionOf(a *app.App, b *app.Binding) (appsettings.Connection, bool) {
	return a.Settings.Connection(settingOf(b))
}

// settingOf is the name of a binding's connection.
func settingOf(b *app.Binding) string {
	if b.Connection == "" {
		return "ServiceBus"
	}
	return b.Connection
}
