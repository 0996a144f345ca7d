package hostjson

import (
	"encoding/json"

	"github.com/redeliver/redeliver/host/app/document"
)

// EventGrid is redeliver.eventGrid. Topics holds the array of topics as JSON, in
// the form of schemas/host.json, which has been checked; nil when there is none.
// The kind for Event Grid decodes it.
type EventGrid struct{ Topics json.RawMessage }

func readEventGrid(r document.Reader) EventGrid {
	topics, ok := r.Value("redeliver.eventGrid.topics").([]any)
	if !ok {
		return EventGrid{}
	}
	raw, err := json.Marshal(topics)
	if err != nil { // it was JSON
		panic(err)
	}
	return EventGrid{Topics: raw}
}

// A NamedTopic is what of a topic in host.json other places name.
type NamedTopic struct {
	Name          string
	Subscriptions []struct{ Name, DeadLetterContainer string }
}

// Named are the topics; none where the text is none.
func (g EventGrid) Named() (topics []NamedTopic) {
	_ = json.Unmarshal(g.Topics, &topics) // what is wrong in it is the app's
	return topics
}
