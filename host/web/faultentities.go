package web

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/app"
	hubskind "github.com/redeliver/redeliver/host/kinds/eventhubs"
	"github.com/redeliver/redeliver/schemas"
	blobtrigger "github.com/redeliver/redeliver/triggers/blob"
)

// checkEntity refuses a fault for an entity that is not there and that no function of the
// app names: nothing would ever meet it.
func (s *Server) checkEntity(ctx context.Context, service, entity, operation string) error {
	if entity == "" || strings.HasPrefix(strings.ToLower(operation), "create") {
		return nil
	}
	known, some := s.boundEntities(service)
	there, err := s.entitiesOf(ctx, service)
	if some || err != nil {
		return nil // it may be made; and faults may be for the look itself
	}
	switch service {
	case "blob":
		entity, _, _ = strings.Cut(entity, "/")
	case "servicebus":
		entity, _, _ = strings.Cut(entity, "/$")
	}
	return s.among(entityNouns[service], entity, append(known, there...))
}

// entityNouns are what a service calls its entities.
var entityNouns = map[string]string{ // read only
	"queue": "queue", "blob": "container", "servicebus": "entity", "eventhubs": "hub", "cosmos": "container", "eventgrid": "subscription",
}

// among refuses a name that is none of those.
func (s *Server) among(noun, name string, known []string) error {
	if slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, name) }) {
		return nil
	}
	return s.noSuch(noun, name, known)
}

func (s *Server) noSuch(noun, name string, known []string) error {
	hint := `"redeliver ls" lists what there is`
	if near := schemas.Nearest(name, known); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	text := fmt.Sprintf("there is no %s %q", noun, name)
	if noun == "function" {
		text = fmt.Sprintf("the app has no function %q", name)
	}
	return refuse(http.StatusNotFound, text, hint)
}

// entitiesOf are the entities that a service has.
func (s *Server) entitiesOf(ctx context.Context, service string) (names []string, err error) {
	switch service {
	case "queue":
		return s.host.AppStorage().Queues(ctx)
	case "blob":
		list, err := s.containerInfos(ctx)
		for _, c := range list {
			names = append(names, c.Name)
		}
		return names, err
	case "servicebus":
		list, err := s.busEntities(ctx)
		for i := range list {
			names = append(names, list[i].Path)
		}
		return names, err
	case "eventhubs":
		list, err := hubskind.Hubs(ctx, s.host.Env(), s.host.App())
		for i := range list {
			names = append(names, list[i].Name)
		}
		return names, err
	case "cosmos":
		list, err := s.cosmosContainers(ctx)
		for i := range list {
			names = append(names, list[i].Path)
		}
		return names, err
	}
	for _, topic := range s.gridTopics() {
		for i := range topic.Subscriptions {
			names = append(names, topic.Name+"/"+topic.Subscriptions[i].Name)
		}
	}
	return names, nil
}

// boundEntities are the entities of a service that bindings of the apps name. some is set
// when a binding takes its name from a message.
func (s *Server) boundEntities(service string) (names []string, some bool) {
	for _, h := range s.apps() {
		a := h.App()
		if a == nil {
			continue
		}
		for _, f := range a.Functions {
			for _, b := range f.Bindings {
				for _, name := range boundNames(service, b) {
					some = some || strings.Contains(name, "{")
					names = append(names, name)
				}
			}
		}
	}
	return names, some
}

func boundNames(service string, b *app.Binding) []string {
	is := func(of string, kinds ...string) bool { return of == service && slices.ContainsFunc(kinds, b.Is) }
	switch {
	case is("queue", "queue", "queueTrigger"):
		name := b.String("queueName")
		return []string{name, name + "-poison"}
	case is("queue", "blobTrigger"):
		return []string{blobtrigger.PoisonQueue}
	case is("blob", "blob", "blobTrigger"):
		container, _, _ := strings.Cut(b.String("path"), "/")
		return []string{container, "azure-webjobs-hosts"}
	case is("servicebus", "serviceBus", "serviceBusTrigger"):
		topic := b.String("topicName")
		return []string{b.String("queueName"), topic, topic + "/Subscriptions/" + b.String("subscriptionName")}
	case is("eventhubs", "eventHub", "eventHubTrigger"):
		return []string{b.String("eventHubName")}
	case is("cosmos", "cosmosDB", "cosmosDBTrigger"):
		database := b.String("databaseName") + "/"
		return []string{database + b.String("containerName"), database + b.String("collectionName"), database + b.String("leaseContainerName"), database + "leases"}
	}
	return nil
}
