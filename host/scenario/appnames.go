package scenario

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/emulator/eventhubs"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/ops/servicebus"
)

// names are those of the app's bindings, of the services and of "entities", which are there
// from the start.
func (r *run) names() names {
	all := r.existing()
	for _, p := range r.cast {
		all.ofApp(p)
	}
	if len(r.cast) > 1 {
		all.add(aFunction, lone(all[aFunction])...)
	}
	for _, rec := range r.journaled(func(rec *journal.Record) bool { return rec.Function != "" }) {
		all.add(aFunction, rec.Function) // also one that an edit has removed
	}
	return all
}

// lone are the functions of which the name alone says which is meant, without their apps.
func lone(functions []string) (names []string) {
	for _, one := range functions {
		name := one[strings.LastIndexByte(one, '/')+1:]
		if !slices.ContainsFunc(functions, func(other string) bool { return other != one && isOf(other, name) }) {
			names = append(names, name)
		}
	}
	return names
}

// isOf reports whether a function of an app has a name.
func isOf(function, name string) bool {
	return len(function) > len(name) && strings.EqualFold(function[len(function)-len(name)-1:], "/"+name)
}

// existing are the names that the services have.
func (r *run) existing() names {
	all := names{aQueue: r.h.Queues(), aContainer: r.h.Containers(), aCosmos: r.h.CosmosContainers()}
	for _, t := range r.h.Services().EventGrid().Topics() {
		all.add(aTopic, t.Name)
		for i := range t.Subscriptions {
			all.add(aSubscription, t.Name+"/"+t.Subscriptions[i].Name)
		}
	}
	for _, path := range r.h.ServiceBusEntities() {
		if topic, _, ok := strings.Cut(path, "/"); ok {
			all.add(anEntity, topic)
		}
		all.add(anEntity, path, path+"/$DeadLetterQueue", path+"/$Transfer/$DeadLetterQueue")
	}
	for _, s := range r.s.language.services {
		switch kindOf(s) {
		case aQueue, aContainer, aCosmos, aSubscription, anEntity, aHub, aFunction: // here, each with more
		default:
			if s.Entities != nil {
				all.add(kindOf(s), r.entitiesOf(s)...)
			}
		}
	}
	for _, hub := range r.hubs() {
		all.add(aHub, hub.Name)
		all.add(aGroup, hub.Name+"/$Default")
		for _, group := range hub.ConsumerGroups {
			all.add(aGroup, hub.Name+"/"+group)
		}
		for _, id := range r.partitions(hub.Name) {
			all.add(aPartition, hub.Name+"/"+id)
		}
	}
	return all
}

// hubs are the event hubs with their consumer groups.
func (r *run) hubs() (list []eventhubs.Hub) {
	var err error
	r.h.Act("look at the hubs", func(ctx context.Context) { list, err = r.h.Services().EventHubs().Hubs(ctx) })
	if err != nil {
		r.Fatalf("%v", err)
	}
	return list
}

// partitions are the identifiers of a hub's partitions; none of a hub that is not there.
func (r *run) partitions(hub string) (ids []string) {
	r.h.Act("look at a hub", func(ctx context.Context) {
		if found, err := r.h.Services().EventHubs().Hub(ctx, hub); err == nil {
			ids = found.Partitions
		}
	})
	return ids
}

// busPath is the path of an entity of Service Bus as the service writes it.
func busPath(path string) string { return spelled(servicebus.Service, path) }

// hostContainers are those that the host itself makes, sooner or later.
var hostContainers = []string{"azure-webjobs-hosts", "azure-webjobs-secrets", "azure-webjobs-eventhub"} // read only

func (n names) ofApp(p *part) {
	a := p.app()
	n.add(aContainer, hostContainers...)
	if a == nil {
		return
	}
	for _, t := range a.Config.EventGrid.Named() {
		n.add(aTopic, t.Name)
		for _, s := range t.Subscriptions {
			n.add(aSubscription, t.Name+"/"+s.Name)
			n.add(aContainer, path.Base(s.DeadLetterContainer)) // a name or a resource ID
		}
	}
	for _, f := range a.Functions {
		name := journal.Qualified(p.name, f.Name)
		n.add(aFunction, name)
		list := f.Bindings
		if f.Trigger != nil {
			list = append(slices.Clone(list), f.Trigger)
		}
		for _, b := range list {
			n.ofBinding(b)
			if b.Output() && !b.Answers() {
				n.add(anOutput, name, name+"/"+b.Name)
			}
		}
	}
}

func (n names) ofBinding(b *app.Binding) {
	switch kind := strings.ToLower(b.Type); kind {
	case "queuetrigger", "queue":
		queue := strings.ToLower(b.String("queueName"))
		n.add(aQueue, queue)
		if kind == "queuetrigger" {
			n.add(aQueue, queue+"-poison")
		}
	case "blobtrigger", "blob":
		container, _, _ := strings.Cut(b.String("path"), "/")
		n.add(aContainer, strings.ToLower(container))
		if kind == "blobtrigger" {
			n.add(aQueue, "webjobs-blobtrigger-poison")
		}
	case "eventhubtrigger", "eventhub":
		n.add(aHub, b.String("eventHubName"))
	case "cosmosdbtrigger", "cosmosdb":
		n.add(aCosmos, b.String("databaseName")+"/"+b.String("containerName"))
		if kind == "cosmosdbtrigger" {
			t := b.CosmosTrigger()
			n.add(aCosmos, t.LeaseDatabase+"/"+t.LeaseContainer)
			n.add(leases, t.LeaseDatabase+"/"+t.LeaseContainer)
		}
	}
}

// expected adds the names that expectations look at.
func (s *Scenario) expected(all names) {
	for _, e := range s.expectations() {
		for _, m := range []map[string]bodies{e.Queues, e.Hidden} {
			for name := range m {
				all.add(aQueue, name)
			}
		}
		for name := range e.Containers {
			all.add(aContainer, name)
		}
		for name := range e.Blobs {
			container, _, _ := strings.Cut(name, "/")
			all.add(aContainer, container)
		}
		for name := range e.Checkpoints {
			hub, _, _ := strings.Cut(name, "/")
			all.add(aHub, hub)
		}
		for _, service := range s.language.services {
			for name := range e.held[service.Scene.Held] {
				all.add(kindOf(service), spelled(service, name))
			}
		}
	}
}

// expectations are all of the scenario, in their order.
func (s *Scenario) expectations() (list []*expect) {
	for i := range s.When {
		if e := s.When[i].Expect; e != nil {
			list = append(list, e)
		}
	}
	return append(list, &s.Then)
}
