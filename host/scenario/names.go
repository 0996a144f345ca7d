package scenario

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/emulator/eventhubs"
	"github.com/redeliver/redeliver/schemas"
)

// A place is a kind of thing that scenarios name. Most are made by their service when they
// are first used, so that a misspelt name is no error of the service.
type place string

const (
	aFunction     place = "function"
	aQueue        place = "queue"
	aContainer    place = "container"
	aHub          place = "event hub"
	aGroup        place = "consumer group"      // as hub/group
	aPartition    place = "partition"           // as hub/partition
	anEntity      place = "Service Bus entity"  // queues, topics, subscriptions
	aCosmos       place = "Cosmos DB container" // as database/container
	leases        place = "lease container"     // of a trigger, as database/container
	aTopic        place = "Event Grid topic"
	aSubscription place = "Event Grid subscription" // as topic/subscription
	anOutput      place = "output"                  // as function/binding, or a function: all of its outputs
	aFile         place = "file or folder of the app"
)

// names are the names of places, by place.
type names map[place][]string

func (n names) add(p place, list ...string) {
	for _, name := range list {
		if name != "" && !slices.Contains(n[p], name) {
			n[p] = append(n[p], name)
		}
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
	if all.have(p, name) {
		return true
	}
	reason, list := all.unknown(p, name)
	r.mismatch(at, reason, list, schemas.Quote(name), nil)
	return false
}

func (n names) have(p place, name string) bool {
	return slices.ContainsFunc(n[p], func(one string) bool {
		return strings.EqualFold(one, name) || strings.Contains(one, "{") && app.MayBecome(one, name)
	})
}

// unknown says that a name is nowhere, with the name that was meant, and what there is.
func (n names) unknown(p place, name string) (reason, list string) {
	have := slices.Sorted(slices.Values(n[p]))
	list = strings.Join(have, ", ")
	switch p {
	case aFunction:
		if several := slices.DeleteFunc(slices.Clone(have), func(one string) bool { return !isOf(one, name) }); len(several) > 1 {
			return fmt.Sprintf("%d apps have a function %q", len(several), name), strings.Join(several, " or ")
		}
		reason = fmt.Sprintf("the app has no function %q", name)
	case aFile:
		reason, list = fmt.Sprintf("the app has no file and no folder %q", name), ""
	case aQueue, aContainer, aHub, aCosmos:
		reason = fmt.Sprintf("there is no %s %q: no binding, no service and no entity has this name", p, name)
		list = strings.TrimPrefix(list+", or a name under entities", ", or ")
	default:
		reason = fmt.Sprintf("there is no %s %q", p, name)
	}
	if list == "" {
		list = "none"
	}
	if near := nearest(name, have); near != "" {
		reason += fmt.Sprintf("; did you mean %q?", near)
	}
	return reason, list
}

// nearest is the name that is meant. Names with parts, such as topic/subscription, are
// compared part by part: each of them may have its mistake.
func nearest(name string, have []string) string {
	if near := schemas.Meant(name, have); near != "" {
		return near
	}
	parts := strings.Split(name, "/")
	for _, one := range have {
		of := strings.Split(one, "/")
		similar := len(of) == len(parts) && len(parts) > 1
		for i := 0; similar && i < len(parts); i++ {
			similar = strings.EqualFold(parts[i], of[i]) || schemas.Meant(parts[i], of[i:i+1]) != ""
		}
		if similar {
			return one
		}
	}
	return ""
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
func (r *run) has(p place, name string) bool { return r.existing().have(p, name) }

// missing looks at the name of an expectation and reports whether there is nothing more to
// compare: the place is to be absent, or its name is nowhere.
func (r inspection) missing(at string, p place, name string, absent bool) bool {
	if !absent {
		return !r.known(at, p, name, false)
	}
	if r.has(p, name) {
		r.mismatch(at, fmt.Sprintf("there is a %s %q", p, name), "none", schemas.Quote(name), r.all)
	}
	return true
}

// mustKnow ends the run at a key of a step that names something that is nowhere.
func (r *run) mustKnow(key string, p place, name string) {
	if !r.known(r.at+"."+key, p, name, true) {
		runtime.Goexit()
	}
}
