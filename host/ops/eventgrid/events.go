package eventgrid

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/ops"
)

// topics lists the topics with their keys.
func topics(e *ops.Env) []GridTopic {
	out := []GridTopic{}
	for _, info := range e.Host.Services().EventGrid().Topics() {
		topic, err := e.Host.Services().EventGrid().Topic(info.Name)
		if err != nil {
			continue // deleted meanwhile
		}
		out = append(out, GridTopic{TopicInfo: info, Key: topic.Key})
	}
	return out
}

// Deliveries lists the events that subscriptions still have, the first most of them; 0:
// all.
func Deliveries(e *ops.Env, most int) []eventgrid.DeliveryInfo {
	list := e.Host.Services().EventGrid().Deliveries("", "")
	if most > 0 {
		list = list[:min(len(list), most)]
	}
	return append([]eventgrid.DeliveryInfo{}, list...)
}

// eventArray makes an array of one event; an array stays as it is, and nothing is an
// event without fields.
func eventArray(body []byte) ([]byte, error) {
	body = bytes.TrimSpace(body)
	switch {
	case len(body) == 0:
		return []byte("[{}]"), nil
	case body[0] == '[':
		return body, nil
	case body[0] == '{':
		return append(append([]byte{'['}, body...), ']'), nil
	}
	return nil, errors.New("want an event, or an array of events, as JSON")
}

// completeEvents adds to each event the fields without which the service would
// refuse it, where they are missing.
func completeEvents(body []byte, schema eventgrid.Schema, now time.Time) ([]byte, error) {
	var events []json.RawMessage
	if err := json.Unmarshal(body, &events); err != nil {
		return nil, fmt.Errorf("the events are not JSON: %w", err)
	}
	for i, raw := range events {
		var has map[string]json.RawMessage
		if err := json.Unmarshal(raw, &has); err != nil || has == nil {
			return nil, fmt.Errorf("event %d: want a JSON object", i)
		}
		moment := now.UTC().Format(time.RFC3339Nano)
		fields := [][2]string{{"id", uuid.NewString()}, {"subject", "redeliver/send"}, {"eventType", "Redeliver.Sent"}, {"eventTime", moment}, {"dataVersion", "1.0"}}
		if schema == eventgrid.CloudEventSchema {
			fields = [][2]string{{"specversion", "1.0"}, {"id", uuid.NewString()}, {"source", "/redeliver/send"}, {"type", "Redeliver.Sent"}, {"time", moment}}
		}
		// Members that are there keep their text and their order.
		var more bytes.Buffer
		for _, f := range fields {
			if _, ok := has[f[0]]; !ok {
				fmt.Fprintf(&more, "%q:%q,", f[0], f[1])
			}
		}
		rest := bytes.TrimLeft(bytes.TrimSpace(raw)[1:], " \t\r\n")
		added := more.Bytes()
		if rest[0] == '}' {
			added = bytes.TrimSuffix(added, []byte{','})
		}
		events[i] = append(append([]byte{'{'}, added...), rest...)
	}
	return json.Marshal(events)
}
