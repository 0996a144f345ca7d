package web

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"

	hubskind "github.com/redeliver/redeliver/host/kinds/eventhubs"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/bindings/messaging"
)

// HubInfo is a hub of the embedded Event Hubs namespace.
type HubInfo struct {
	Name       string         `json:"name"`
	Partitions []HubPartition `json:"partitions"`
}

// HubPartition is a partition of a hub. LastSequence is -1 before the first event.
type HubPartition struct {
	ID           string          `json:"id"`
	Events       int64           `json:"events"` // that are kept
	LastSequence int64           `json:"lastSequence"`
	Checkpoints  []HubCheckpoint `json:"checkpoints"` // one for each consumer group
}

// HubCheckpoint is how far a consumer group has read a partition.
type HubCheckpoint struct {
	ConsumerGroup  string `json:"consumerGroup"`
	SequenceNumber *int64 `json:"sequenceNumber"`  // of the last event before it; null: there is none
	Behind         int64  `json:"behind"`          // events that are kept and come after it
	Error          string `json:"error,omitempty"` // why it cannot be read
}

// HubSent says where an event went.
type HubSent struct {
	Hub          string  `json:"hub"`
	PartitionKey *string `json:"partitionKey,omitempty"`
	PartitionID  string  `json:"partitionId,omitempty"`
}

// hubRoutes adds what concerns Event Hubs.
func (s *Server) hubRoutes(handle func(method, path string, h http.HandlerFunc)) {
	handle("PUT", "/eventhubs/hub", s.embeddedHubs(s.createHub))
	handle("PUT", "/eventhubs/consumergroup", s.embeddedHubs(s.createGroup))
	handle("POST", "/eventhubs/events", s.embeddedHubs(s.sendEvent))
}

func (s *Server) embeddedHubs(h http.HandlerFunc) http.HandlerFunc {
	return embedded("an Event Hubs namespace", func() string { return hubskind.Outside(s.host.Connections(), s.host.App()) }, h)
}

func (s *Server) sendEvent(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		controlReadError(w, err)
		return
	}
	event := &eventhubs.Event{Body: body, MessageID: query.Get("id"), CorrelationID: query.Get("correlation"), ContentType: query.Get("contentType")}
	if event.Properties, err = busProperties(query["property"]); err != nil {
		writeError(w, http.StatusBadRequest, err.Error(), "")
		return
	}
	out := HubSent{Hub: query.Get("hub"), PartitionKey: optional(query, "key"), PartitionID: query.Get("partition")}
	err = s.inside("send to hub "+out.Hub, func(ctx context.Context) error {
		return s.host.Services().EventHubs().SendEvents(ctx, out.Hub, &eventhubs.SendOptions{PartitionKey: out.PartitionKey, PartitionID: out.PartitionID}, event)
	})
	if err != nil {
		hubError(w, err)
		return
	}
	writeJSON(w, http.StatusCreated, out)
}

// hubInfos lists the hubs with their partitions, and how far consumer groups have
// read them.
func (s *Server) hubInfos(ctx context.Context) ([]HubInfo, error) {
	out := []HubInfo{}
	list, err := s.host.Services().EventHubs().Hubs(ctx)
	if err != nil {
		return nil, err
	}
	for _, hub := range list {
		says, err := s.host.Services().EventHubs().Hub(ctx, hub.Name)
		if errors.Is(err, bindings.ErrNotFound) {
			continue // deleted meanwhile
		} else if err != nil {
			return nil, err
		}
		info := HubInfo{Name: hub.Name, Partitions: []HubPartition{}}
		for _, id := range says.Partitions {
			p, err := s.host.Services().EventHubs().Partition(ctx, hub.Name, id)
			if err != nil {
				return nil, err
			}
			at := HubPartition{ID: id, LastSequence: p.LastSequence, Checkpoints: []HubCheckpoint{}}
			if !p.Empty {
				at.Events = p.LastSequence - p.BeginningSequence + 1
			}
			for _, group := range s.consumerGroups(hub.Name, hub.ConsumerGroups) {
				at.Checkpoints = append(at.Checkpoints, s.hubCheckpoint(ctx, hub.Name, group, p, at.Events))
			}
			info.Partitions = append(info.Partitions, at)
		}
		out = append(out, info)
	}
	return out, nil
}

func (s *Server) hubCheckpoint(ctx context.Context, hub, group string, p *eventhubs.Partition, events int64) HubCheckpoint {
	out := HubCheckpoint{ConsumerGroup: group, Behind: events}
	c, err := hubskind.Checkpoint(ctx, s.host.Env(), s.host.App(), hub, group, p.ID)
	switch {
	case err != nil:
		out.Error = err.Error()
	case c != nil && c.SequenceNumber >= 0:
		out.SequenceNumber = &c.SequenceNumber
		out.Behind = min(events, max(0, p.LastSequence-c.SequenceNumber))
	}
	return out
}

// consumerGroups are the groups of a hub: the one that every hub has, those that it
// was made with, and those of the app's functions.
func (s *Server) consumerGroups(hub string, made []string) []string {
	groups := []string{"$Default"}
	add := func(group string) {
		if group != "" && !slices.ContainsFunc(groups, func(g string) bool { return strings.EqualFold(g, group) }) {
			groups = append(groups, group)
		}
	}
	for _, group := range made {
		add(group)
	}
	for _, group := range hubskind.ConsumerGroups(s.host.Env(), s.host.App(), hub) {
		add(group)
	}
	return groups
}

// hubError answers with the service's own condition.
func hubError(w http.ResponseWriter, err error) {
	if noRoom(w, err) {
		return
	}
	e := messaging.ErrorOf(err)
	text, status, hint := e.Text, e.Status, ""
	if text == "" {
		text = err.Error()
	}
	switch {
	case errors.Is(err, bindings.ErrTooLarge):
		status = http.StatusRequestEntityTooLarge
	case errors.Is(err, bindings.ErrNotFound):
		hint = `"redeliver ls eventhubs" lists the hubs; functions, redeliver.eventHubs in host.json and "redeliver create eventhub" make them`
	}
	writeError(w, status, text, hint)
}
