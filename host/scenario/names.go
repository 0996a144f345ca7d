package scenario

import (
	"encoding/json"
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/emulator/eventhubs"
	"github.com/redeliver/redeliver/schemas"
)

// A place is a kind of thing that scenarios name and that a service makes when it is first
// used, so that a misspelt name is no error of the service.
type place string

const (
	aQueue     place = "queue"
	aContainer place = "container"
	aHub       place = "event hub"
	aCosmos    place = "Cosmos DB container"
)

// names are the names of places, by place.
type names map[place][]string

func (n names) add(p place, name string) {
	if name != "" && !slices.Contains(n[p], name) {
		n[p] = append(n[p], name)
	}
}

// known checks that a name is of something: of what the app's bindings name, of what the
// service has, of what "entities" lists, or, for a step that sends, of what an expectation of
// the scenario looks at. Else the run fails at the path, with the name that was meant.
func (r *run) known(at string, p place, name string, sends bool) bool {
	all := r.names()
	if sends {
		r.s.expected(all)
	}
	for _, one := range all[p] {
		if strings.EqualFold(one, name) || strings.Contains(one, "{") && matchesTemplate(one, name) {
			return true
		}
	}
	slices.Sort(all[p])
	meant := fmt.Sprintf("one of %s, or a name under entities", strings.Join(all[p], ", "))
	switch near := schemas.Nearest(name, all[p]); {
	case near != "":
		meant = fmt.Sprintf("%q if that is meant", near)
	case len(all[p]) == 0:
		meant = "a name under entities"
	}
	r.mismatch(at, fmt.Sprintf("there is no %s %q: no binding, no service and no entity has this name", p, name), meant, schemas.Quote(name), nil)
	return false
}

// matchesTemplate reports whether a name may come of a binding's text with expressions in it.
func matchesTemplate(template, name string) bool {
	var pattern strings.Builder
	depth := 0
	for _, c := range template {
		switch {
		case c == '{':
			if depth++; depth == 1 {
				pattern.WriteByte('*')
			}
		case c == '}' && depth > 0:
			depth--
		case depth == 0:
			pattern.WriteRune(c)
		}
	}
	ok, err := path.Match(pattern.String(), name)
	return ok && err == nil
}

// names are those of the app's bindings, of the services and of "entities", which are there
// from the start.
func (r *run) names() names {
	all := names{}
	all.ofApp(r.h.App())
	for p, list := range r.existing() {
		for _, name := range list {
			all.add(p, name)
		}
	}
	return all
}

// existing are the names that the services have.
func (r *run) existing() names {
	return names{aQueue: r.h.Queues(), aContainer: r.h.Containers(), aHub: r.h.EventHubs(), aCosmos: r.h.CosmosContainers()}
}

// found makes what "entities" lists beside those of Service Bus.
func (r *run) found() {
	of := &r.s.Entities
	for _, name := range of.Queues {
		r.h.CreateQueue(name)
	}
	for _, name := range of.Containers {
		r.h.CreateContainer(name)
	}
	for _, name := range of.EventHubs {
		if !r.h.Services().EventHubs().Has(name) {
			r.h.CreateEventHub(eventhubs.Hub{Name: name})
		}
	}
	for _, name := range of.Cosmos {
		database, container, _ := strings.Cut(name, "/")
		r.h.CreateCosmos(database, container)
	}
}

// has reports whether a service has the place.
func (r *run) has(p place, name string) bool {
	return slices.ContainsFunc(r.existing()[p], func(one string) bool { return strings.EqualFold(one, name) })
}

// missing looks at the name of an expectation and reports whether there is nothing more to
// compare: the place is to be absent, or its name is nowhere.
func (r *run) missing(at string, p place, name string, absent bool) bool {
	if !absent {
		return !r.known(at, p, name, false)
	}
	if r.has(p, name) {
		r.mismatch(at, fmt.Sprintf("there is a %s %q", p, name), "none", schemas.Quote(name), r.all)
	}
	return true
}

// mustKnow ends the run at a step that sends to a name that is nowhere.
func (r *run) mustKnow(key string, p place, name string) {
	if !r.known(r.at+"."+key, p, name, true) {
		runtime.Goexit()
	}
}

// hostContainers are those that the host itself makes, sooner or later.
var hostContainers = []string{"azure-webjobs-hosts", "azure-webjobs-secrets", "azure-webjobs-eventhub"} // read only

func (n names) ofApp(a *app.App) {
	for _, c := range hostContainers {
		n.add(aContainer, c)
	}
	if a == nil {
		return
	}
	var topics []struct {
		Subscriptions []struct{ DeadLetterContainer string }
	}
	if json.Unmarshal(a.Config.EventGrid.Topics, &topics) == nil { // what is wrong in it is the app's
		for _, t := range topics {
			for _, s := range t.Subscriptions {
				n.add(aContainer, path.Base(s.DeadLetterContainer)) // a name or a resource ID
			}
		}
	}
	for _, f := range a.Functions {
		list := f.Bindings
		if f.Trigger != nil {
			list = append(slices.Clone(list), f.Trigger)
		}
		for _, b := range list {
			n.ofBinding(b)
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
		}
	}
}

// expected adds the names that expectations look at.
func (s *Scenario) expected(all names) {
	look := func(e *expect) {
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
		for name := range e.Cosmos {
			all.add(aCosmos, name)
		}
	}
	look(&s.Then)
	for i := range s.When {
		if e := s.When[i].Expect; e != nil {
			look(e)
		}
	}
}
