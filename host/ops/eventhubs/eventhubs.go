package eventhubs

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
	"github.com/redeliver/redeliver/host/ops"
)

// CreateHub makes an event hub; 409 when it is there. Missing fields have the
// service's defaults.
type CreateHub struct {
	ops.Op[HubCreated] `route:"PUT /eventhubs/hub" verb:"create" status:"201" needs:"eventhubs" body:"json"`

	Hub            string   `query:"hub,required" json:"-"`
	Partitions     int      `json:"partitions,omitempty" min:"1" want:"1 or more" usage:"number of partitions, 1 to 1024 (default 4)"`
	Retention      string   `json:"retention,omitempty" unit:"iso" usage:"how long events are kept, up to 90 days (default 24h)"` // of events, ISO 8601: "PT1H"
	ConsumerGroups []string `json:"consumerGroups,omitempty" flag:"consumer-group" split:"," usage:"consumer group beside $Default"`
}

func (in CreateHub) Do(ctx context.Context, e *ops.Env) (out HubCreated, err error) {
	hub := eventhubs.Hub{Name: in.Hub, Partitions: in.Partitions, ConsumerGroups: in.ConsumerGroups}
	if in.Retention != "" {
		if hub.Retention, err = duration.Parse(in.Retention); err != nil || hub.Retention <= 0 {
			return out, ops.Refuse(http.StatusBadRequest, fmt.Sprintf("retention %q: want a duration above 0, such as PT1H", in.Retention), "")
		}
	}
	hubs := e.Host.Services().EventHubs()
	if err := hubs.CreateHub(ctx, hub); err != nil {
		if errors.Is(err, bindings.ErrAlreadyExists) && hubs.Has(hub.Name) {
			e := messaging.ErrorOf(err)
			err = ops.Refuse(e.Status, e.Text, fmt.Sprintf("a hub keeps its partitions and retention; \"redeliver create eventhub %s/ConsumerGroups/NAME\" adds a consumer group", hub.Name))
		}
		return out, err
	}
	made, err := hubs.Settings(ctx, hub.Name)
	if err != nil {
		return out, err
	}
	return HubCreated{
		Name: made.Name, Partitions: made.Partitions, Retention: duration.Format(made.Retention.Round(time.Millisecond)),
		ConsumerGroups: append([]string{eventhubsapi.DefaultConsumerGroup}, made.ConsumerGroups...),
	}, nil
}

// HubCreated is a hub that was made.
type HubCreated struct {
	Name           string   `json:"name"`
	Partitions     int      `json:"partitions"`
	Retention      string   `json:"retention"`
	ConsumerGroups []string `json:"consumerGroups"` // $Default is the first
}

// CreateGroup makes a consumer group of a hub.
type CreateGroup struct {
	ops.Op[GroupCreated] `route:"PUT /eventhubs/consumergroup" status:"201" needs:"eventhubs"`

	Hub   string `query:"hub,required"`
	Group string `query:"group,required"`
}

func (in CreateGroup) Do(ctx context.Context, e *ops.Env) (GroupCreated, error) {
	return GroupCreated{Hub: in.Hub, ConsumerGroup: in.Group}, e.Host.Services().EventHubs().CreateConsumerGroup(ctx, in.Hub, in.Group)
}

// GroupCreated is a consumer group that was made.
type GroupCreated struct {
	Hub           string `json:"hub"`
	ConsumerGroup string `json:"consumerGroup"`
}

// SendEvent sends an event to a hub. Without key and partition the partitions take turns.
type SendEvent struct {
	ops.Op[HubSent] `route:"POST /eventhubs/events" verb:"send" status:"201" needs:"eventhubs"`

	Hub           string   `query:"hub,required"`
	Key           *string  `query:"key" usage:"partition key"`
	Partition     string   `query:"partition" usage:"ID of the partition, 0 or more"`
	ID            string   `query:"id" usage:"message ID of the event"`
	CorrelationID string   `query:"correlation"`
	ContentType   string   `query:"contentType" usage:"content type, e.g. application/json"`
	Properties    []string `query:"property" usage:"application property, name=text or name:=5"` // name=text; name:=5 for numbers, true, false, null
	Body          []byte   `body:"raw"`
}

func (in SendEvent) Do(ctx context.Context, e *ops.Env) (out HubSent, err error) {
	event := &eventhubsapi.Event{Body: in.Body, MessageID: in.ID, CorrelationID: in.CorrelationID, ContentType: in.ContentType}
	if event.Properties, err = ops.Properties(in.Properties); err != nil {
		return out, ops.BadRequest(err)
	}
	out = HubSent{Hub: in.Hub, PartitionKey: in.Key, PartitionID: in.Partition}
	return out, e.Host.Services().EventHubs().SendEvents(ctx, in.Hub, &eventhubsapi.SendOptions{PartitionKey: in.Key, PartitionID: in.Partition}, event)
}

// HubSent says where an event went.
type HubSent struct {
	Hub          string  `json:"hub"`
	PartitionKey *string `json:"partitionKey,omitempty"`
	PartitionID  string  `json:"partitionId,omitempty"`
}
