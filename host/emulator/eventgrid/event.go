package eventgrid

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Schema is the form of an event.
type Schema string

// The schemas.
const (
	EventGridSchema  Schema = "EventGridSchema"
	CloudEventSchema Schema = "CloudEventSchemaV1_0"
)

const (
	// MaxEvent is the largest event, in bytes of its JSON: 64 KB are the unit of the bill
	// only (spec messaging 5.3).
	MaxEvent = 1 << 20

	// MaxPublish is the largest body of one publication.
	MaxPublish = 1 << 20
)

// Event is one event: a JSON object whose members keep their text and, for
// CloudEvents, their order. An Event is not changed once it is made.
type Event struct {
	schema  Schema
	members []member

	// ID, Subject and Type are the fields id, subject, and eventType or type.
	ID, Subject, Type string

	// Of an event that was sealed: how it goes out.
	array                        []byte // with the event as its only element
	dataVersion, metadataVersion string
}

type member struct {
	name string
	raw  json.RawMessage
}

// eventGridOrder is the order in which the fields of an event are delivered.
var eventGridOrder = []string{"id", "topic", "subject", "eventType", "eventTime", "data", "dataVersion", "metadataVersion"} // read only

// ParseEvents reads what a publisher sent: an array of events or, of CloudEvents,
// a single one. The error is an *Error.
func ParseEvents(body []byte, schema Schema) ([]*Event, error) {
	if len(body) > MaxPublish {
		return nil, tooLarge("the request is %d bytes long; the limit is %d", len(body), MaxPublish)
	}
	var raws []json.RawMessage
	if trimmed := bytes.TrimLeft(body, " \t\r\n"); len(trimmed) > 0 && trimmed[0] == '{' && schema == CloudEventSchema {
		raws = []json.RawMessage{body}
	} else if err := json.Unmarshal(body, &raws); err != nil {
		if _, other := errors.AsType[*json.UnmarshalTypeError](err); other {
			return nil, badRequest("the body is no JSON array of events: found %s", jsonKind(body))
		}
		return nil, badRequest("the body is no JSON array of events: %v", err)
	}
	if raws == nil {
		return nil, badRequest("the body is no JSON array of events: found null")
	}
	events := make([]*Event, len(raws))
	for i, raw := range raws {
		e, err := parseEvent(raw, schema)
		if err != nil {
			return nil, atEvent(err, i)
		}
		events[i] = e
	}
	return events, nil
}

// jsonKind names what a JSON text that is no array holds.
func jsonKind(text []byte) string {
	switch text := bytes.TrimLeft(text, " \t\r\n"); text[0] {
	case '{':
		return "an object"
	case '"':
		return "a text"
	case 't', 'f':
		return "a boolean"
	default:
		return "a number"
	}
}

// atEvent says which event an error is about.
func atEvent(err error, i int) error {
	if e, ok := errors.AsType[*Error](err); ok {
		return &Error{Status: e.Status, Code: e.Code, Message: fmt.Sprintf("event %d: %s", i, e.Message), cause: e.cause}
	}
	return err
}

func parseEvent(raw json.RawMessage, schema Schema) (*Event, error) {
	if len(raw) > MaxEvent {
		return nil, tooLarge("the event is %d bytes long; the limit is %d", len(raw), MaxEvent)
	}
	members, err := parseObject(raw)
	if err != nil {
		return nil, badRequest("%v", err)
	}
	e := &Event{schema: schema, members: members}
	if schema == CloudEventSchema {
		err = e.checkCloudEvent()
	} else {
		err = e.checkEventGrid()
	}
	if err != nil {
		return nil, err
	}
	e.ID, e.Subject = e.text("id"), e.text("subject")
	e.Type = e.text(typeField(schema))
	return e, nil
}

func typeField(schema Schema) string {
	if schema == CloudEventSchema {
		return "type"
	}
	return "eventType"
}

// parseObject reads an object and keeps the order of its members. Of members with
// the same name the last counts.
func parseObject(raw []byte) ([]member, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if token, err := dec.Token(); err != nil || token != json.Delim('{') {
		return nil, errors.New("it is no JSON object")
	}
	var members []member
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return nil, err
		}
		m := member{name: token.(string)} // a key is one
		if err := dec.Decode(&m.raw); err != nil {
			return nil, err
		}
		members = slices.DeleteFunc(members, func(o member) bool { return o.name == m.name })
		members = append(members, m)
	}
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more after the object")
	}
	return members, nil
}

// checkEventGrid checks the fields that the service needs or fills itself.
func (e *Event) checkEventGrid() error {
	for _, name := range []string{"id", "subject", "eventType", "eventTime"} {
		if err := e.need(name); err != nil {
			return err
		}
	}
	if err := e.needTime("eventTime"); err != nil {
		return err
	}
	if raw := e.get("topic"); raw != nil && !isNull(raw) && e.text("topic") != "" {
		return badRequest("the field topic is set by the service and must not be given; found %s", raw)
	}
	if raw := e.get("metadataVersion"); raw != nil && !isNull(raw) && e.text("metadataVersion") != "1" {
		return badRequest(`the field metadataVersion must be "1" or missing; found %s`, raw)
	}
	if raw := e.get("dataVersion"); raw != nil && !isNull(raw) && !isString(raw) {
		return badRequest("the field dataVersion must be text; found %s", raw)
	}
	return nil
}

func (e *Event) checkCloudEvent() error {
	for _, name := range []string{"id", "source", "type", "specversion"} {
		if err := e.need(name); err != nil {
			return err
		}
	}
	if v := e.text("specversion"); v != "1.0" {
		return badRequest("the attribute specversion must be %q; found %q", "1.0", v)
	}
	if raw := e.get("time"); raw != nil && !isNull(raw) {
		if err := e.needTime("time"); err != nil {
			return err
		}
	}
	for _, name := range []string{"subject", "datacontenttype", "dataschema", "data_base64"} {
		if raw := e.get(name); raw != nil && !isNull(raw) && !isString(raw) {
			return badRequest("the attribute %s must be text; found %s", name, raw)
		}
	}
	if e.get("data") != nil && e.get("data_base64") != nil {
		return badRequest("the attributes data and data_base64 exclude each other")
	}
	if _, err := base64.StdEncoding.DecodeString(e.text("data_base64")); err != nil {
		return badRequest("the attribute data_base64 is not base64: %v", err)
	}
	return nil
}

func (e *Event) need(name string) error {
	raw := e.get(name)
	switch {
	case raw == nil || isNull(raw):
		return badRequest("the field %s is missing", name)
	case !isString(raw):
		return badRequest("the field %s must be text; found %s", name, raw)
	case e.text(name) == "":
		return badRequest("the field %s is empty", name)
	}
	return nil
}

// needTime checks a time; one without an offset is UTC.
func (e *Event) needTime(name string) error {
	text := e.text(name)
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02T15:04:05.999999999Z0700"} {
		if _, err := time.Parse(layout, text); err == nil {
			return nil
		}
	}
	return badRequest("the field %s must be a time, e.g. 2030-01-01T00:00:00Z; found %q", name, text)
}

func isNull(raw json.RawMessage) bool   { return string(raw) == "null" }
func isString(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '"' }

// get returns a member's text, nil if there is none.
func (e *Event) get(name string) json.RawMessage {
	for _, m := range e.members {
		if m.name == name {
			return m.raw
		}
	}
	return nil
}

// text returns a member that is text.
func (e *Event) text(name string) (s string) {
	if raw := e.get(name); isString(raw) {
		_ = json.Unmarshal(raw, &s) // it was parsed before
	}
	return s
}

func quote(s string) json.RawMessage {
	raw, err := json.Marshal(s)
	if err != nil { // text always has a JSON form
		panic(err)
	}
	return raw
}

// accepted is the event as the service keeps it: with the topic that it came by,
// in the order of delivery.
func (e *Event) accepted(topic string) *Event {
	if e.schema == CloudEventSchema {
		out := *e
		return &out
	}
	out := &Event{schema: e.schema, ID: e.ID, Subject: e.Subject, Type: e.Type}
	for _, name := range eventGridOrder {
		raw := e.get(name)
		switch {
		case name == "topic":
			raw = quote(topic)
		case name == "metadataVersion":
			raw = quote("1")
		case name == "dataVersion" && (raw == nil || isNull(raw)):
			raw = quote("") // what the service puts there (docs, Event Grid event schema)
		case raw == nil:
			continue
		}
		out.members = append(out.members, member{name, raw})
	}
	for _, m := range e.members {
		if !slices.Contains(eventGridOrder, m.name) {
			out.members = append(out.members, m)
		}
	}
	return out
}

// as returns the event in another schema. Events of the Event Grid schema become
// CloudEvents; the other way is refused when the subscription is made.
func (e *Event) as(schema Schema) *Event {
	if e.schema == schema || schema != CloudEventSchema {
		return e
	}
	out := &Event{schema: schema, ID: e.ID, Subject: e.Subject, Type: e.Type}
	add := func(name string, raw json.RawMessage) {
		if raw != nil {
			out.members = append(out.members, member{name, raw})
		}
	}
	add("id", e.get("id"))
	add("source", e.get("topic"))
	add("specversion", quote("1.0"))
	add("type", e.get("eventType"))
	add("subject", e.get("subject"))
	add("time", e.get("eventTime"))
	if version := e.text("dataVersion"); version != "" {
		add("dataschema", quote("#"+version))
	}
	add("data", e.get("data"))
	return out
}

// with returns the event with further members at its end.
func (e *Event) with(more ...member) *Event {
	out := *e
	out.members, out.array = append(slices.Clip(out.members), more...), nil
	return &out
}

// seal makes the text of an event that is complete, for all attempts and all
// subscriptions.
func (e *Event) seal() *Event {
	if e.array == nil {
		e.array = append(e.appendJSON([]byte{'['}), ']')
		e.dataVersion, e.metadataVersion = e.text("dataVersion"), e.text("metadataVersion")
	}
	return e
}

// object is a sealed event as a JSON object.
func (e *Event) object() []byte { return e.array[1 : len(e.array)-1 : len(e.array)-1] }

// appendJSON appends the event as a JSON object.
func (e *Event) appendJSON(b []byte) []byte {
	b = append(b, '{')
	for i, m := range e.members {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, quote(m.name)...)
		b = append(b, ':')
		b = append(b, m.raw...)
	}
	return append(b, '}')
}

// MarshalJSON is the event as the service keeps it.
func (e *Event) MarshalJSON() ([]byte, error) { return e.appendJSON(nil), nil }

func (e *Event) String() string { return string(e.appendJSON(nil)) }

// fold compares as the service does: without regard to case.
func fold(s string) string { return strings.ToLower(s) }
