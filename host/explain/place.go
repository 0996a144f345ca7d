package explain

import (
	"strings"

	"github.com/redeliver/redeliver/host/journal"
)

// concerned are those of a message's lives that a record of a service is about. Senders
// name messages as they like, and a topic gives each of its subscriptions a copy with one
// name: the entity tells them apart. The page does the same (journal/place.ts).
func concerned(list []*story, r *journal.Record) (out []*story) {
	exact := false
	for _, s := range list {
		same := strings.EqualFold(s.life.Source, r.Source) || r.Kind == journal.Forwarded && strings.EqualFold(s.life.Source, r.Target)
		switch {
		case same && !exact:
			out, exact = []*story{s}, true
		case same, !exact && related(s.life.Source, r):
			out = append(out, s)
		}
	}
	return out
}

// related reports whether a function that receives from source may get what a record of a
// service is about.
func related(source string, r *journal.Record) bool {
	at, of := entity(source), entity(r.Source)
	switch hub, partition, isHub := strings.Cut(of, "/partitions/"); {
	case at == "" || of == "" || at == of, r.Kind == journal.Forwarded && at == entity(r.Target):
		return true
	case isHub && partition != "":
		return strings.HasPrefix(at, hub+"/") // a consumer group's
	case strings.HasSuffix(of, "/"+at): // an event's function knows the subscription only
		return true
	}
	return strings.HasPrefix(at, of+"/") // a topic's
}

// entity is a queue, topic or subscription without its dead-letter queue.
func entity(source string) string {
	name, _, _ := strings.Cut(strings.ToLower(source), "/$")
	return name
}
