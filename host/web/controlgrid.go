package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/web/control"
)

// gridTopics lists the topics with their keys.
func (s *Server) gridTopics() []control.GridTopic {
	out := []control.GridTopic{}
	for _, info := range s.host.Services().EventGrid().Topics() {
		topic, err := s.host.Services().EventGrid().Topic(info.Name)
		if err != nil {
			continue // deleted meanwhile
		}
		out = append(out, control.GridTopic{TopicInfo: info, Key: topic.Key})
	}
	return out
}

// gridDeliveries lists the events that subscriptions still have, the first most of them; 0:
// all.
func (s *Server) gridDeliveries(most int) []eventgrid.DeliveryInfo {
	list := s.host.Services().EventGrid().Deliveries("", "")
	if most > 0 {
		list = list[:min(len(list), most)]
	}
	return append([]eventgrid.DeliveryInfo{}, list...)
}

func (s *Server) createTopic(ctx context.Context, in control.CreateTopic) (out control.GridTopic, err error) {
	grid := s.host.Services().EventGrid()
	if _, err := grid.Topic(in.Topic); err == nil {
		return out, refuse(http.StatusConflict, fmt.Sprintf("the topic %q already exists", in.Topic), "")
	}
	if err := grid.CreateTopic(ctx, eventgrid.Topic{Name: in.Topic, Key: in.Key, InputSchema: in.InputSchema}); err != nil {
		return out, err
	}
	for _, t := range s.gridTopics() {
		if strings.EqualFold(t.Name, in.Topic) {
			out = t
		}
	}
	return out, nil
}

func (s *Server) subscribe(_ context.Context, in control.Subscribe) (out control.Subscribed, err error) {
	if in.Function != "" && s.report() != nil {
		of, own, err := s.function(in.Function)
		if err != nil {
			return out, err
		}
		if f := of.App().Function(own); f != nil && f.Trigger != nil && !f.TakesEvents() {
			return out, refuse(http.StatusBadRequest, fmt.Sprintf("the function %q takes no events: its trigger is %s", f.Name, f.Trigger.Type),
				`"redeliver ls functions" lists the functions; any other endpoint is a URL`)
		}
		in.Function = qualified(of, own)
	}
	in.Subscription.Name = in.Name
	grid := s.host.Services().EventGrid()
	out = control.Subscribed{Topic: in.Topic, Subscription: in.Name}
	out.State, err = grid.Subscribe(grid.Context(), in.Topic, in.Subscription)
	return out, err
}

func (s *Server) publish(ctx context.Context, in control.Publish) (out control.Published, err error) {
	grid := s.host.Services().EventGrid()
	topic, err := grid.Topic(in.Topic)
	if err != nil {
		return out, err
	}
	body, err := eventArray(in.Body)
	if err == nil && !in.Raw {
		body, err = completeEvents(body, topic.InputSchema, s.host.Clock().Now())
	}
	if err != nil {
		return out, badRequest(err)
	}
	events, err := eventgrid.ParseEvents(body, topic.InputSchema)
	if err != nil {
		return out, err
	}
	out = control.Published{Topic: topic.Name, IDs: []string{}}
	for _, e := range events {
		out.IDs = append(out.IDs, e.ID)
	}
	return out, grid.Publish(ctx, in.Topic, events...)
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

// deleteTopic removes a topic of Event Grid.
func (s *Server) deleteTopic(ctx context.Context, in control.DeleteTopic) (out control.GridDeleted, err error) {
	grid := s.host.Services().EventGrid()
	out = control.GridDeleted{Topic: in.Topic, Pending: len(grid.Deliveries(in.Topic, ""))}
	t, err := grid.Topic(in.Topic)
	if err != nil {
		return out, err
	}
	out.Topic = t.Name
	for _, info := range grid.Topics() {
		if info.Name == t.Name {
			out.Subscriptions = len(info.Subscriptions)
		}
	}
	return out, grid.DeleteTopic(ctx, t.Name)
}

// unsubscribe removes an event subscription.
func (s *Server) unsubscribe(ctx context.Context, in control.Unsubscribe) (control.GridDeleted, error) {
	grid := s.host.Services().EventGrid()
	out := control.GridDeleted{Topic: in.Topic, Subscription: in.Subscription, Pending: len(grid.Deliveries(in.Topic, in.Subscription))}
	return out, grid.Unsubscribe(ctx, in.Topic, in.Subscription)
}
