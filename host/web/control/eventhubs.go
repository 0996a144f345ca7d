package control

// CreateHub makes an event hub; 409 when it is there. Missing fields have the
// service's defaults.
type CreateHub struct {
	Op[HubCreated] `route:"PUT /eventhubs/hub" status:"201" needs:"eventhubs" body:"json"`

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
	Op[GroupCreated] `route:"PUT /eventhubs/consumergroup" status:"201" needs:"eventhubs"`

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
	Op[HubSent] `route:"POST /eventhubs/events" status:"201" needs:"eventhubs"`

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
