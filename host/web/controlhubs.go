package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings"
	eventhubsapi "github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/host/emulator/eventhubs"
	"github.com/redeliver/redeliver/host/emulator/servicebus/duration"
	hubskind "github.com/redeliver/redeliver/host/kinds/eventhubs"
	"github.com/redeliver/redeliver/host/web/control"
)

func (s *Server) sendEvent(ctx context.Context, in control.SendEvent) (out control.HubSent, err error) {
	event := &eventhubsapi.Event{Body: in.Body, MessageID: in.ID, CorrelationID: in.CorrelationID, ContentType: in.ContentType}
	if event.Properties, err = busProperties(in.Properties); err != nil {
		return out, badRequest(err)
	}
	out = control.HubSent{Hub: in.Hub, PartitionKey: in.Key, PartitionID: in.Partition}
	return out, s.host.Services().EventHubs().SendEvents(ctx, in.Hub, &eventhubsapi.SendOptions{PartitionKey: in.Key, PartitionID: in.Partition}, event)
}

// hubInfos lists the hubs with their partitions, and how far consumer groups have
// read them.
func (s *Server) hubInfos(ctx context.Context) ([]control.HubInfo, error) {
	out := []control.HubInfo{}
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
		info := control.HubInfo{Name: hub.Name, Partitions: []control.HubPartition{}}
		for _, id := range says.Partitions {
			p, err := s.host.Services().EventHubs().Partition(ctx, hub.Name, id)
			if err != nil {
				return nil, err
			}
			at := control.HubPartition{ID: id, LastSequence: p.LastSequence, Checkpoints: []control.HubCheckpoint{}}
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

func (s *Server) hubCheckpoint(ctx context.Context, hub, group string, p *eventhubsapi.Partition, events int64) control.HubCheckpoint {
	out := control.HubCheckpoint{ConsumerGroup: group, Behind: events}
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

// consumerGroups are the groups of a hub: the default group, the groups that it was
// made with, and the groups of the app's functions.
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

func (s *Server) createHub(ctx context.Context, in control.CreateHub) (out control.HubCreated, err error) {
	hub := eventhubs.Hub{Name: in.Hub, Partitions: in.Partitions, ConsumerGroups: in.ConsumerGroups}
	if in.Retention != "" {
		if hub.Retention, err = duration.Parse(in.Retention); err != nil || hub.Retention <= 0 {
			return out, refuse(http.StatusBadRequest, fmt.Sprintf("retention %q: want a duration above 0, such as PT1H", in.Retention), "")
		}
	}
	hubs := s.host.Services().EventHubs()
	if err := hubs.CreateHub(ctx, hub); err != nil {
		if errors.Is(err, bindings.ErrAlreadyExists) && hubs.Has(hub.Name) {
			e := messaging.ErrorOf(err)
			err = refuse(e.Status, e.Text, fmt.Sprintf("a hub keeps its partitions and retention; \"redeliver create eventhub %s/ConsumerGroups/NAME\" adds a consumer group", hub.Name))
		}
		return out, err
	}
	made, err := hubs.Settings(ctx, hub.Name)
	if err != nil {
		return out, err
	}
	return control.HubCreated{
		Name: made.Name, Partitions: made.Partitions, Retention: duration.Format(made.Retention.Round(time.Millisecond)),
		ConsumerGroups: append([]string{eventhubsapi.DefaultConsumerGroup}, made.ConsumerGroups...),
	}, nil
}

func (s *Server) createGroup(ctx context.Context, in control.CreateGroup) (control.GroupCreated, error) {
	return control.GroupCreated{Hub: in.Hub, ConsumerGroup: in.Group}, s.host.Services().EventHubs().CreateConsumerGroup(ctx, in.Hub, in.Group)
}
