package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/redeliver/redeliver/bindings"
	eventhubsapi "github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/host/emulator/eventhubs"
	"github.com/redeliver/redeliver/host/emulator/servicebus/duration"
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
