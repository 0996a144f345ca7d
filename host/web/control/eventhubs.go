package control

import "github.com/redeliver/redeliver/host/web/api"

// CreateHub makes an event hub; 409 when it is there. Missing fields have the
// service's defaults.
type CreateHub struct {
	api.Op[HubCreated] `route:"PUT /eventhubs/hub" status:"201" needs:"eventhubs" body:"json"`

	Hub            string   `query:"hub,required" json:"-"`
	Partitions     int      `json:"partitions,omitempty"`
	Retention      string   `json:"retention,omitempty"`      // of events, ISO 8601: "PT1H"
	ConsumerGroups []string `json:"consumerGroups,omitempty"` // beside $Default
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
	api.Op[GroupCreated] `route:"PUT /eventhubs/consumergroup" status:"201" needs:"eventhubs"`

	Hub   string `query:"hub,required"`
	Group string `query:"group,required"`
}

// GroupCreated is a consumer group that was made.
type GroupCreated struct {
	Hub           string `json:"hub"`
	ConsumerGroup string `json:"consumerGroup"`
}

// SendEvent sends an event to a hub. Without key and partition the partitions take turns.
type SendEvent struct {
	api.Op[HubSent] `route:"POST /eventhubs/events" status:"201" needs:"eventhubs"`

	Hub           string   `query:"hub,required"`
	Key           *string  `query:"key"`
	Partition     string   `query:"partition"`
	ID            string   `query:"id"`
	CorrelationID string   `query:"correlation"`
	ContentType   string   `query:"contentType"`
	Properties    []string `query:"property"` // name=text; name:=5 for numbers, true, false, null
	Body          []byte   `body:"raw"`
}

// HubSent says where an event went.
type HubSent struct {
	Hub          string  `json:"hub"`
	PartitionKey *string `json:"partitionKey,omitempty"`
	PartitionID  string  `json:"partitionId,omitempty"`
}
