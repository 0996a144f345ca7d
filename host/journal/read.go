package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/redeliver/redeliver/retrycontext"
)

// Read is the record of a line that [Record.AppendLine] has written, with the process ID
// of [Record.AppendLineWithPID]. Members that it does not know are left out: the line may
// be from a later version.
func Read(line []byte) (Record, error) {
	in := struct {
		Seq           uint64
		Time          time.Time
		Kind          Kind
		App           string
		Generation    int
		Function      string
		Trigger       string
		Source        string
		Service       string
		Delivery      string
		Invocation    string
		MessageID     string `json:"message_id"`
		MessageNumber int64  `json:"message_number"`
		DeliveryCount int64  `json:"delivery_count"`
		Attempt       int
		MaxRetryCount *int `json:"max_retry_count"`
		Delay         *string
		Status        string
		Decision      string
		Target        string
		Cause         string
		Error         string
		Level         string
		Message       string
		Name          string
		Fields        fields
		PID           int
	}{}
	if err := json.Unmarshal(line, &in); err != nil {
		return Record{}, err
	}
	r := Record{
		Seq: in.Seq, Time: in.Time, Kind: in.Kind, App: in.App, Generation: in.Generation, Function: in.Function, Trigger: in.Trigger,
		Source: in.Source, Service: in.Service, Delivery: in.Delivery, Invocation: in.Invocation,
		MessageID: in.MessageID, MessageNumber: in.MessageNumber, DeliveryCount: in.DeliveryCount,
		Attempt: in.Attempt, Status: in.Status, Decision: in.Decision, Target: in.Target, Cause: in.Cause, Error: in.Error,
		Level: in.Level, Message: in.Message, Name: in.Name, Fields: in.Fields, Beside: Beside{PID: in.PID},
	}
	if in.MaxRetryCount != nil {
		r.HasPolicy, r.MaxRetryCount = true, *in.MaxRetryCount
	}
	if in.Delay != nil {
		d, err := retrycontext.ParseTimeSpan(*in.Delay)
		if err != nil {
			return Record{Seq: in.Seq}, fmt.Errorf("delay: %w", err)
		}
		r.Delay, r.HasDelay = d, true
	}
	return r, nil
}

// fields are read in their order.
type fields []Field

// UnmarshalJSON implements json.Unmarshaler.
func (f *fields) UnmarshalJSON(text []byte) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return errors.New("fields: want an object")
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		var value string
		if err := dec.Decode(&value); err != nil {
			return fmt.Errorf("fields.%v: %w", key, err)
		}
		*f = append(*f, Field{Key: key.(string), Value: value})
	}
	return nil
}
