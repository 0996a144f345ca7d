package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
)

// BusSent says what became of a message that was sent. SequenceNumber is that of a
// message that waits for its time.
type BusSent struct {
	Path           string    `json:"path"`
	MessageID      string    `json:"messageId"`
	ScheduledFor   time.Time `json:"scheduledFor,omitzero"`
	SequenceNumber int64     `json:"sequenceNumber,omitempty"`
}

func (s *Server) sendBus(w http.ResponseWriter, r *http.Request) {
	path, ok := busPath(w, r)
	if !ok {
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		controlReadError(w, err)
		return
	}
	m, at, err := busMessage(r.URL.Query(), s.host.Clock().Now())
	if err != nil {
		writeError(w, http.StatusBadRequest, err.Error(), "")
		return
	}
	m.Body = body
	out := BusSent{Path: path.String(), MessageID: m.MessageID, ScheduledFor: at}
	err = s.inside("send to "+out.Path, func(ctx context.Context) error {
		if at.IsZero() {
			return s.host.Services().ServiceBus().Send(ctx, out.Path, m)
		}
		numbers, err := s.host.Services().ServiceBus().Schedule(ctx, out.Path, at, m)
		if err == nil {
			out.SequenceNumber = numbers[0]
		}
		return err
	})
	if err != nil {
		busError(w, err)
		return
	}
	writeJSON(w, http.StatusCreated, out)
}

// busMessage is the message that the parameters of a request describe, and for when
// it is scheduled.
func busMessage(query url.Values, now time.Time) (m *servicebusapi.Message, at time.Time, err error) {
	m = &servicebusapi.Message{
		MessageID: query.Get("id"), CorrelationID: query.Get("correlation"), Subject: query.Get("subject"), To: query.Get("to"),
		ReplyTo: query.Get("replyTo"), ContentType: query.Get("contentType"), SessionID: optional(query, "session"),
		PartitionKey: optional(query, "partitionKey"),
	}
	if m.MessageID == "" {
		m.MessageID = uuid.NewString()
	}
	if v := query.Get("ttl"); v != "" {
		if m.TimeToLive, err = time.ParseDuration(v); err != nil || m.TimeToLive <= 0 {
			return nil, at, errors.New(`ttl must be a duration above 0, for instance "10m"`)
		}
	}
	delay, moment := query.Get("delay"), query.Get("at")
	switch {
	case delay != "" && moment != "":
		return nil, at, errors.New("delay and at exclude each other")
	case delay != "":
		d, err := time.ParseDuration(delay)
		if err != nil || d <= 0 {
			return nil, at, errors.New(`delay must be a duration above 0, for instance "30s"`)
		}
		at = now.Add(d)
	case moment != "":
		if at, err = time.Parse(time.RFC3339, moment); err != nil {
			return nil, at, fmt.Errorf("at %q: want a time such as 2030-01-31T15:04:05Z", moment)
		}
	}
	m.ApplicationProperties, err = busProperties(query["property"])
	return m, at, err
}

// optional is a parameter that may be empty, and be missing.
func optional(query url.Values, name string) *string {
	if list, ok := query[name]; ok {
		return &list[0]
	}
	return nil
}

// busProperties reads application properties: "name=text", or "name:=value" with a
// number, true, false or null.
func busProperties(list []string) (map[string]any, error) {
	var out map[string]any
	for _, text := range list {
		name, value, ok := strings.Cut(text, "=")
		if !ok || strings.TrimSuffix(name, ":") == "" {
			return nil, fmt.Errorf("property %q: want name=text, or name:=value for a number, true, false or null", text)
		}
		if out == nil {
			out = map[string]any{}
		}
		if typed, ok := strings.CutSuffix(name, ":"); ok {
			v, err := literal(value)
			if err != nil {
				return nil, fmt.Errorf("property %q: %w", text, err)
			}
			out[typed] = v
			continue
		}
		out[name] = value
	}
	return out, nil
}

// literal is a number, true, false or null.
func literal(text string) (any, error) {
	switch text {
	case "true", "false":
		return text == "true", nil
	case "null":
		return nil, nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, nil
	}
	var f json.Number
	if err := json.Unmarshal([]byte(text), &f); err != nil || strings.HasPrefix(text, `"`) {
		return nil, errors.New("want a number, true, false or null after :=")
	}
	return f.Float64()
}

// BusPeeked is a part of an entity or of one of its sub-queues. Count is all of it.
type BusPeeked struct {
	Path     string       `json:"path"`
	Count    int64        `json:"count"`
	Entity   BusEntity    `json:"entity"`
	Messages []BusMessage `json:"messages"`
}

// BusLocked is the state of a message that somebody has locked; the others are
// those of servicebus.State.
const BusLocked = "locked"

// BusMessage is a Service Bus message as the control API shows it.
type BusMessage struct {
	SequenceNumber   int64     `json:"sequenceNumber"`
	MessageID        string    `json:"messageId"`
	State            string    `json:"state"` // active, locked, deferred, scheduled
	FailedDeliveries int64     `json:"failedDeliveries"`
	Enqueued         time.Time `json:"enqueued"`
	ScheduledFor     time.Time `json:"scheduledFor,omitzero"`
	Expires          time.Time `json:"expires,omitzero"`
	LockedUntil      time.Time `json:"lockedUntil,omitzero"`

	DeadLetterReason      string `json:"deadLetterReason,omitempty"`
	DeadLetterDescription string `json:"deadLetterDescription,omitempty"`
	DeadLetterSource      string `json:"deadLetterSource,omitempty"`

	SessionID     *string        `json:"sessionId,omitempty"`
	Subject       string         `json:"subject,omitempty"`
	ContentType   string         `json:"contentType,omitempty"`
	CorrelationID string         `json:"correlationId,omitempty"`
	To            string         `json:"to,omitempty"`
	ReplyTo       string         `json:"replyTo,omitempty"`
	Properties    map[string]any `json:"properties,omitempty"` // without the dead-letter reason

	// Body is the body when it is text, Binary (base64) when it is not.
	Body   *string `json:"body,omitempty"`
	Binary []byte  `json:"binary,omitempty"`
}

// maxPeeked is how many messages one request shows.
const maxPeeked = 256

func (s *Server) peekBus(w http.ResponseWriter, r *http.Request) {
	path, ok := busPath(w, r)
	if !ok {
		return
	}
	query := r.URL.Query()
	most, err := parameter(query, "max", 32, 1, maxPeeked)
	if err == nil {
		var from int64
		if from, err = parameter(query, "from", 0, 0, math.MaxInt64); err == nil {
			s.peekFrom(w, path, optional(query, "session"), from, int(most))
			return
		}
	}
	writeError(w, http.StatusBadRequest, err.Error(), "")
}

// parameter is a number in a request.
func parameter(query url.Values, name string, fallback, least, most int64) (int64, error) {
	text := query.Get(name)
	if text == "" {
		return fallback, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("%s %q: want a number from %d to %d", name, text, least, most)
	}
	return n, nil
}

func (s *Server) peekFrom(w http.ResponseWriter, path servicebusapi.Path, session *string, from int64, most int) {
	out := BusPeeked{Messages: []BusMessage{}}
	err := s.inside("peek "+path.String(), func(ctx context.Context) (err error) {
		ns := s.host.Services().ServiceBus()
		if out.Entity, err = s.busEntity(ctx, path); err != nil {
			return err
		}
		out.Path, out.Count = out.Entity.Path+string(path.SubQueue), out.Entity.in(path.SubQueue)
		found, err := ns.Peek(ctx, out.Path, session, from, most)
		if err != nil {
			return err
		}
		locks := map[int64]servicebus.Held{}
		if out.Entity.Kind != BusTopic {
			held, err := ns.Held(ctx, out.Path)
			if err != nil {
				return err
			}
			for _, h := range held {
				locks[h.SequenceNumber] = h
			}
		}
		for _, m := range found {
			out.Messages = append(out.Messages, showBus(m, locks))
		}
		return nil
	})
	if err != nil {
		busError(w, err)
		return
	}
	writeJSON(w, http.StatusOK, out)
}

// showBus is a message as peeked, with its lock if it has one.
func showBus(m *servicebusapi.Received, locks map[int64]servicebus.Held) BusMessage {
	out := BusMessage{
		SequenceNumber: m.SequenceNumber, MessageID: m.MessageID, State: m.State.String(), FailedDeliveries: m.DeliveryCount,
		Enqueued: m.EnqueuedTime, Expires: m.ExpiresAt, DeadLetterSource: m.DeadLetterSource,
		SessionID: m.SessionID, Subject: m.Subject, ContentType: m.ContentType, CorrelationID: m.CorrelationID, To: m.To, ReplyTo: m.ReplyTo,
	}
	if m.State == servicebusapi.StateScheduled {
		out.ScheduledFor = m.ScheduledEnqueueTime
	}
	if h, ok := locks[m.SequenceNumber]; ok {
		out.LockedUntil = h.Until
		if m.State == servicebusapi.StateActive {
			out.State = BusLocked
		}
	}
	for name, v := range m.ApplicationProperties {
		text, isText := v.(string)
		switch {
		case isText && name == servicebusapi.DeadLetterReason:
			out.DeadLetterReason = text
		case isText && name == servicebusapi.DeadLetterErrorDescription:
			out.DeadLetterDescription = text
		default:
			if out.Properties == nil {
				out.Properties = map[string]any{}
			}
			out.Properties[name] = plainValue(v)
		}
	}
	if utf8.Valid(m.Body) {
		text := string(m.Body)
		out.Body = &text
	} else {
		out.Binary = m.Body
	}
	return out
}

// plainValue is the value of an application property as JSON can have it.
func plainValue(v any) any {
	switch v := v.(type) {
	case bindings.GUID:
		return v.String()
	case messaging.Encoded:
		return []byte(v)
	case float32:
		return plainValue(float64(v))
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return strconv.FormatFloat(v, 'g', -1, 64)
		}
	case time.Time:
		if y := v.Year(); y < 0 || y > 9999 {
			return v.String()
		}
	}
	return v
}
