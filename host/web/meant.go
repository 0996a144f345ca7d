package web

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/web/api"
	"github.com/redeliver/redeliver/schemas"
)

// meant says in a refusal of a name that is nowhere which one was meant, if there is one
// that is near to it. Of names the first one counts that is near to one; word is the one of
// the service in a path. Call it outside the clock.
func (s *Server) meant(word string, names []string, refused *api.Error) *api.Error {
	service, ok := services[word]
	if refused.Status != http.StatusNotFound || !ok {
		return refused
	}
	var known []string
	_ = s.inside("names", func(ctx context.Context) error {
		known = s.known(ctx, service)
		return nil
	})
	for _, name := range names {
		if slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, name) }) {
			break // what is nowhere lies in it
		}
		if one := near(name, known); one != "" {
			return refuse(refused.Status, refused.Text, fmt.Sprintf("did you mean %q?", one))
		}
	}
	return refused
}

// services are the services that operations are about, by the first word of their path.
var services = map[string]string{ // read only
	"queues": "queue", "containers": "blob", "servicebus": "servicebus", "eventhubs": "eventhubs", "eventgrid": "eventgrid", "cosmos": "cosmos", "outputs": "outputs",
}

// known are the names that a service has or that a binding of the app gives it.
func (s *Server) known(ctx context.Context, service string) (names []string) {
	switch service {
	case "outputs":
		for _, o := range s.outputInfos() {
			names = append(names, o.Function, o.Function+"/"+o.Binding)
		}
		return names
	case "eventgrid":
		for _, topic := range s.gridTopics() {
			names = append(names, topic.Name)
		}
	}
	there, _ := s.entitiesOf(ctx, service) // no names, no hint
	bound, _ := s.boundEntities(service)
	return slices.Concat(names, there, bound)
}

// namesOf are the names that a request gives: all together, as a path, each
// by itself, and what they are below.
func namesOf(op api.Route, r *http.Request) []string {
	var parts, parents []string
	for _, p := range op.Params() {
		value := ""
		switch p.In {
		case "path":
			value = r.PathValue(p.Name)
		case "query":
			if op.Service() != "containers" && slices.Contains([]string{"name", "container", "topic", "hub", "group", "path"}, p.Name) {
				value = r.URL.Query().Get(p.Name)
			}
		}
		value, _, _ = strings.Cut(value, "/$") // a subqueue
		if value != "" {
			parts = append(parts, value)
		}
		if of, _, below := strings.Cut(value, "/"); below {
			parents = append(parents, of)
		}
	}
	return slices.Concat([]string{strings.Join(parts, "/")}, parts, parents)
}

// near is the known name that another one is meant to be; empty: it is known, or near to
// none. Parts of a name are compared each by itself, and the word between a topic and its
// subscription may be left out.
func near(name string, known []string) string {
	known = slices.DeleteFunc(slices.Clone(known), func(k string) bool { return k == "" || strings.HasSuffix(k, "/") || strings.Contains(k, "{") })
	if slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, name) }) {
		return ""
	}
	if near := schemas.Nearest(name, known); near != "" {
		return near
	}
	partsOf := func(name string) []string {
		return slices.DeleteFunc(strings.Split(name, "/"), func(part string) bool { return strings.EqualFold(part, "Subscriptions") })
	}
	parts := partsOf(name)
	for _, k := range known {
		of := partsOf(k)
		similar := len(parts) > 1 && len(of) == len(parts)
		for i := 0; similar && i < len(parts); i++ {
			similar = strings.EqualFold(parts[i], of[i]) || schemas.Meant(parts[i], of[i:i+1]) != ""
		}
		if similar {
			return k
		}
	}
	return ""
}

// refuseSlip refuses to make something whose name is most likely a slip: it is near to a
// name that is there or that the app has. Names that differ in a number, or in their last
// letter, are not.
func (s *Server) refuseSlip(ctx context.Context, service, name string) error {
	near := near(name, s.known(ctx, service))
	if near == "" || schemas.Numbered(name, near) {
		return nil
	}
	return refuse(http.StatusConflict, fmt.Sprintf("there is no %s %q; did you mean %q?", entityNouns[service], name, near), "--create (create=true) makes it")
}
