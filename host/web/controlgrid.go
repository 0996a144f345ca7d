package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/redeliver/redeliver/host/emulator/eventgrid"
)

// GridTopic is a topic of the embedded Event Grid.
type GridTopic struct {
	eventgrid.TopicInfo
	Key string `json:"key"` // with which publishers are let in
}

// NewGridTopic is the body of a request that makes a topic. Empty fields have the
// service's defaults.
type NewGridTopic struct {
	Key         string           `json:"key,omitempty"`
	InputSchema eventgrid.Schema `json:"inputSchema,omitempty"`
}

// GridSubscribed is an event subscription that was made.
type GridSubscribed struct {
	Topic        string          `json:"topic"`
	Subscription string          `json:"subscription"`
	State        eventgrid.State `json:"state"`
}

// GridPublished says which events a topic has taken.
type GridPublished struct {
	Topic string   `json:"topic"`
	IDs   []string `json:"ids"`
}

// mostDeliveries is how many deliveries of Event Grid an inventory lists; the
// subscriptions count all.
const mostDeliveries = 256

// gridRoutes adds what concerns Event Grid.
func (s *Server) gridRoutes(handle func(method, path string, h http.HandlerFunc)) {
	handle("PUT", "/eventgrid/topic", s.createTopic)
	handle("PUT", "/eventgrid/subscription", s.createSubscription)
	handle("DELETE", "/eventgrid/topic", s.deleteTopic)
	handle("DELETE", "/eventgrid/subscription", s.deleteSubscription)
	handle("POST", "/eventgrid/events", s.publish)
}

// gridTopics lists the topics with their keys.
func (s *Server) gridTopics() []GridTopic {
	out := []GridTopic{}
	for _, info := range s.host.Services().EventGrid().Topics() {
		topic, err := s.host.Services().EventGrid().Topic(info.Name)
		if err != nil {
			continue // deleted meanwhile
		}
		out = append(out, GridTopic{TopicInfo: info, Key: topic.Key})
	}
	return out
}

// gridDeliveries lists the events that subscriptions still have, the first of them.
func (s *Server) gridDeliveries() []eventgrid.DeliveryInfo {
	list := s.host.Services().EventGrid().Deliveries("", "")
	return append([]eventgrid.DeliveryInfo{}, list[:min(len(list), mostDeliveries)]...)
}

func (s *Server) createTopic(w http.ResponseWriter, r *http.Request) {
	var body NewGridTopic
	if !readSettings(w, r, &body) {
		return
	}
	name := r.URL.Query().Get("topic")
	var out GridTopic
	err := s.inside("create topic "+name, func(ctx context.Context) error {
		grid := s.host.Services().EventGrid()
		if _, err := grid.Topic(name); err == nil {
			return &eventgrid.Error{Status: http.StatusConflict, Code: "ResourceAlreadyExists", Message: fmt.Sprintf("the topic %q already exists", name)}
		}
		if err := grid.CreateTopic(ctx, eventgrid.Topic{Name: name, Key: body.Key, InputSchema: body.InputSchema}); err != nil {
			return err
		}
		for _, t := range s.gridTopics() {
			if strings.EqualFold(t.Name, name) {
				out = t
			}
		}
		return nil
	})
	if err != nil {
		gridError(w, err)
		return
	}
	writeJSON(w, http.StatusCreated, out)
}

func (s *Server) createSubscription(w http.ResponseWriter, r *http.Request) {
	var body eventgrid.Subscription
	if !readSettings(w, r, &body) {
		return
	}
	body.Name = r.URL.Query().Get("name")
	out := GridSubscribed{Topic: r.URL.Query().Get("topic"), Subscription: body.Name}
	if a := s.host.App(); body.Function != "" && a != nil {
		const hint = `"redeliver ls functions" lists the functions; any other endpoint is a URL`
		switch f := a.Function(body.Function); {
		case f == nil:
			writeError(w, http.StatusNotFound, fmt.Sprintf("the app has no function %q", body.Function), hint)
			return
		case f.Trigger != nil && !f.Trigger.Is("eventGridTrigger") && !f.Trigger.Is("blobTrigger"):
			writeError(w, http.StatusBadRequest, fmt.Sprintf("the function %q takes no events: its trigger is %s", f.Name, f.Trigger.Type), hint)
			return
		}
	}
	err := s.inside("create event subscription "+body.Name, func(context.Context) (err error) {
		out.State, err = s.host.Services().EventGrid().Subscribe(s.host.Services().EventGrid().Context(), out.Topic, body)
		return err
	})
	if err != nil {
		gridError(w, err)
		return
	}
	writeJSON(w, http.StatusCreated, out)
}

func (s *Server) publish(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		controlReadError(w, err)
		return
	}
	grid := s.host.Services().EventGrid()
	name := r.URL.Query().Get("topic")
	topic, err := grid.Topic(name)
	if err != nil {
		gridError(w, err)
		return
	}
	if body, err = eventArray(body); err == nil && r.URL.Query().Get("raw") != "true" {
		body, err = completeEvents(body, topic.InputSchema, s.host.Clock().Now())
	}
	if err != nil {
		writeError(w, http.StatusBadRequest, err.Error(), "")
		return
	}
	events, err := eventgrid.ParseEvents(body, topic.InputSchema)
	if err != nil {
		gridError(w, err)
		return
	}
	out := GridPublished{Topic: topic.Name, IDs: []string{}}
	for _, e := range events {
		out.IDs = append(out.IDs, e.ID)
	}
	if err := s.inside("publish to "+name, func(ctx context.Context) error { return grid.Publish(ctx, name, events...) }); err != nil {
		gridError(w, err)
		return
	}
	writeJSON(w, http.StatusCreated, out)
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

// readSettings reads the JSON body of a request, which may be empty.
func readSettings(w http.ResponseWriter, r *http.Request, into any) bool {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		controlReadError(w, err)
		return false
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return true
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		writeError(w, http.StatusBadRequest, "the body has the wrong form: "+err.Error(), "")
		return false
	}
	return true
}

// gridError answers with the service's own refusal.
func gridError(w http.ResponseWriter, err error) {
	if noRoom(w, err) {
		return
	}
	e, ok := errors.AsType[*eventgrid.Error](err)
	if !ok {
		writeError(w, http.StatusServiceUnavailable, err.Error(), "")
		return
	}
	hint := ""
	switch {
	case e.Status == http.StatusNotFound:
		hint = `"redeliver ls eventgrid" lists the topics; "redeliver create eventgrid TOPIC" makes a topic`
	case errors.Is(err, eventgrid.ErrNoContainer):
		hint = `an upload makes its container: "redeliver upload CONTAINER/NAME FILE"`
	}
	writeError(w, e.Status, e.Message, hint)
}
