package eventgrid

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/triggers"
)

// The headers of Event Grid's requests.
const (
	typeHeader         = "Aeg-Event-Type"
	countHeader        = "Aeg-Delivery-Count"
	subscriptionHeader = "Aeg-Subscription-Name"
	originHeader       = "Webhook-Request-Origin"
	allowedHeader      = "Webhook-Allowed-Origin"
)

// Protocol answers a request that is no notification, for a web hook whose events
// have that schema, and returns the events of one that is.
func Protocol(req *bindings.HTTPRequest, schema Schema) (*bindings.HTTPResponse, []json.RawMessage) {
	return (&Options{Schema: schema}).protocol(req)
}

// protocol is Protocol for a function.
func (o *Options) protocol(req *bindings.HTTPRequest) (*bindings.HTTPResponse, []json.RawMessage) {
	if strings.EqualFold(req.Method, http.MethodOptions) {
		return o.consent(req), nil
	}
	switch kind := req.Header.Get(typeHeader); {
	case strings.EqualFold(kind, "SubscriptionValidation"):
		return o.validate(req), nil
	case strings.EqualFold(kind, "Notification"):
		events, err := eventsOf(req.Body)
		if err != nil {
			return text(http.StatusBadRequest, err.Error()), nil
		}
		if len(events) == 0 {
			return &bindings.HTTPResponse{StatusCode: http.StatusAccepted}, nil
		}
		return nil, events
	case strings.EqualFold(kind, "Unsubscribe"):
		return &bindings.HTTPResponse{StatusCode: http.StatusAccepted}, nil
	}
	return &bindings.HTTPResponse{StatusCode: http.StatusBadRequest}, nil
}

// consent answers the handshake of CloudEvents.
func (o *Options) consent(req *bindings.HTTPRequest) *bindings.HTTPResponse {
	origin := req.Header.Get(originHeader)
	switch {
	case origin == "":
		return &bindings.HTTPResponse{StatusCode: http.StatusBadRequest}
	case o.Schema == EventGrid:
		return text(http.StatusConflict, "the function is bound to events of the Event Grid schema, and the subscription delivers CloudEvents")
	}
	return &bindings.HTTPResponse{StatusCode: http.StatusOK, Header: http.Header{allowedHeader: {origin}}}
}

// validate answers the handshake of the Event Grid schema. The event may stand
// alone or in an array, and alone its data may be JSON in a string.
func (o *Options) validate(req *bindings.HTTPRequest) *bindings.HTTPResponse {
	if o.Schema == CloudEvents {
		return text(http.StatusConflict, "the function is bound to CloudEvents, and the subscription delivers events of the Event Grid schema")
	}
	events, err := eventsOf(req.Body)
	if err != nil || len(events) == 0 {
		return text(http.StatusBadRequest, "the validation request holds no event")
	}
	var event struct{ Data json.RawMessage }
	if err := json.Unmarshal(events[0], &event); err != nil {
		return text(http.StatusBadRequest, err.Error())
	}
	var inner string
	if json.Unmarshal(event.Data, &inner) == nil {
		event.Data = json.RawMessage(inner)
	}
	var data struct{ ValidationCode string }
	if err := json.Unmarshal(event.Data, &data); err != nil || data.ValidationCode == "" {
		return text(http.StatusBadRequest, "the validation request holds no validation code")
	}
	body, err := json.Marshal(map[string]string{"validationResponse": data.ValidationCode})
	if err != nil { // text always has a JSON form
		panic(err)
	}
	return &bindings.HTTPResponse{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json; charset=utf-8"}}, Body: body}
}

// eventsOf are the events of a request: of an array, or a single one.
func eventsOf(body []byte) ([]json.RawMessage, error) {
	body = bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\ufeff")))
	var events []json.RawMessage
	if len(body) > 0 && body[0] == '{' {
		events = []json.RawMessage{body}
	} else if err := json.Unmarshal(body, &events); err != nil {
		return nil, fmt.Errorf("the body is neither an event nor an array of events: %w", err)
	}
	for i, e := range events {
		if !json.Valid(e) || len(e) == 0 || e[0] != '{' {
			return nil, fmt.Errorf("event %d is no JSON object", i)
		}
	}
	return events, nil
}

// deliveries are the calls of the function: for each event one, or one for all.
func (o *Options) deliveries(req *bindings.HTTPRequest, events []json.RawMessage, from Sender) []*triggers.Event {
	source := cmp.Or(from.Source, req.Header.Get(subscriptionHeader))
	var count int64
	if n, err := strconv.ParseInt(req.Header.Get(countHeader), 10, 32); err == nil && n >= 0 {
		count = n + 1
	}
	messages := make([]triggers.Message, len(events))
	for i, e := range events {
		messages[i] = Message(e)
		if len(from.Numbers) == len(events) {
			messages[i].Number = from.Numbers[i]
		}
	}
	if o.Batch {
		batch(messages, events)
		return []*triggers.Event{{Source: source, DeliveryCount: count, Messages: messages, Batch: true}}
	}
	out := make([]*triggers.Event, len(events))
	for i := range events {
		out[i] = &triggers.Event{Source: source, DeliveryCount: count, Messages: messages[i : i+1 : i+1]}
	}
	return out
}

// batch makes one call of messages. Binding expressions see the data of all events under the name data, which is a list then.
//
// Source: azure-sdk-for-net, EventGridTriggerAttributeBindingProvider.cs BindAsync.
func batch(messages []triggers.Message, events []json.RawMessage) {
	data := make([]json.RawMessage, len(events)) // null where an event has none
	for i, e := range events {
		data[i] = fieldsOf(e).Data
		messages[i].Metadata = nil
	}
	list, err := json.Marshal(data)
	if err != nil { // it was JSON
		panic(err)
	}
	messages[0].Metadata = map[string]any{"data": json.RawMessage(list)}
}

// Message is the function's value for one event. Binding expressions see its
// data, {data.name}, and its other properties, as of every payload that is a JSON
// object: {subject}.
func Message(event json.RawMessage) triggers.Message {
	fields := fieldsOf(event)
	metadata := map[string]any{}
	if fields.Data != nil {
		metadata["data"] = fields.Data
	}
	bindings.ApplyJSON(metadata, event)
	return triggers.Message{ID: fields.ID, Value: bindings.JSONValue(event), Metadata: metadata}
}

type eventFields struct {
	ID   string          `json:"id"`
	Data json.RawMessage `json:"data"`
}

func fieldsOf(event json.RawMessage) (fields eventFields) {
	_ = json.Unmarshal(event, &fields) // a field of another type leaves the rest
	return fields
}

// answer tells Event Grid what came of it. One failure fails the request, and the
// whole of it comes again.
func answer(results []triggers.Result) *bindings.HTTPResponse {
	for _, res := range results {
		if res.Err != nil {
			return text(http.StatusInternalServerError, res.Err.Error())
		}
	}
	return &bindings.HTTPResponse{StatusCode: http.StatusAccepted}
}

func text(status int, body string) *bindings.HTTPResponse {
	return &bindings.HTTPResponse{StatusCode: status, Header: http.Header{"Content-Type": {"text/plain; charset=utf-8"}}, Body: []byte(body)}
}
