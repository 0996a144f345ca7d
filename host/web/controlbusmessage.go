package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
	"github.com/redeliver/redeliver/host/emulator/servicebus/setting"
	"github.com/redeliver/redeliver/host/web/control"
)

func (s *Server) sendBusMessage(ctx context.Context, in control.SendBusMessage) (out control.BusSent, err error) {
	path, err := busPath(in.Path)
	if err != nil {
		return out, err
	}
	m := &servicebusapi.Message{
		MessageID: cmp.Or(in.MessageID, uuid.NewString()), CorrelationID: in.CorrelationID, Subject: in.Subject, To: in.To,
		ReplyTo: in.ReplyTo, ContentType: in.ContentType, SessionID: in.SessionID, PartitionKey: in.PartitionKey, TimeToLive: in.TTL, Body: in.Body,
	}
	var at time.Time
	switch {
	case in.Delay != 0 && in.At != "":
		return out, refuse(http.StatusBadRequest, "delay and at exclude each other", "")
	case in.Delay != 0:
		at = s.host.Clock().Now().Add(in.Delay)
	case in.At != "":
		if at, err = time.Parse(time.RFC3339, in.At); err != nil {
			return out, refuse(http.StatusBadRequest, fmt.Sprintf("at %q: want a time such as 2030-01-31T15:04:05Z", in.At), "")
		}
	}
	if m.ApplicationProperties, err = busProperties(in.Properties); err != nil {
		return out, badRequest(err)
	}
	out = control.BusSent{Path: path.String(), MessageID: m.MessageID, ScheduledFor: at}
	if at.IsZero() {
		return out, s.host.Services().ServiceBus().Send(ctx, out.Path, m)
	}
	numbers, err := s.host.Services().ServiceBus().Schedule(ctx, out.Path, at, m)
	if err == nil {
		out.SequenceNumber = numbers[0]
	}
	return out, err
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

func (s *Server) peekEntity(ctx context.Context, in control.PeekEntity) (control.BusPeeked, error) {
	out := control.BusPeeked{Messages: []control.BusMessage{}}
	path, err := busPath(in.Path)
	if err != nil {
		return out, err
	}
	ns := s.host.Services().ServiceBus()
	if out.Entity, err = s.busEntity(ctx, path); err != nil {
		return out, err
	}
	out.Path, out.Count = out.Entity.Path+string(path.SubQueue), messagesIn(&out.Entity, path.SubQueue)
	found, err := ns.Peek(ctx, out.Path, in.Session, in.From, cmp.Or(in.Max, math.MaxInt))
	if err != nil {
		return out, err
	}
	locks := map[int64]servicebus.Held{}
	if out.Entity.Kind != setting.Topic {
		held, err := ns.Held(ctx, out.Path)
		if err != nil {
			return out, err
		}
		for _, h := range held {
			locks[h.SequenceNumber] = h
		}
	}
	for _, m := range found {
		out.Messages = append(out.Messages, showBus(m, locks))
	}
	return out, nil
}

// showBus is a message as peeked, with its lock if it has one.
func showBus(m *servicebusapi.Received, locks map[int64]servicebus.Held) control.BusMessage {
	out := control.BusMessage{
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
			out.State = "locked"
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
