package durabletask

import (
	"encoding/json"
	"time"

	"github.com/redeliver/redeliver/bindings/durable"
)

// statusJSON is how an instance stands (spec durable 8.4).
type statusJSON struct {
	Name             string          `json:"name"`
	Version          string          `json:"version,omitempty"`
	InstanceID       string          `json:"instanceId"`
	ParentInstanceID string          `json:"parentInstanceId,omitempty"`
	RuntimeStatus    string          `json:"runtimeStatus"`
	Input            json.RawMessage `json:"input"`
	CustomStatus     json.RawMessage `json:"customStatus"`
	Output           json.RawMessage `json:"output"`
	CreatedTime      string          `json:"createdTime"`
	LastUpdatedTime  string          `json:"lastUpdatedTime"`
	HistoryEvents    []any           `json:"historyEvents,omitempty"`
}

var null = json.RawMessage("null") // read only

// valueOf is a JSON text as a value; one that is none is a string.
func valueOf(text *string) json.RawMessage {
	if text == nil || *text == "" {
		return null
	}
	if json.Valid([]byte(*text)) {
		return json.RawMessage(*text)
	}
	return stringOf(*text)
}

func stringOf(text string) json.RawMessage {
	out, err := json.Marshal(text)
	if err != nil { // a string always marshals
		panic(err)
	}
	return out
}

// instant is a time as a status has it.
func instant(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

// status is how an instance stands, with what the request wants to see.
func (q *request) status(i *durable.Instance) statusJSON {
	input, history := q.flag("showinput", true), q.flag("showhistory", false)
	out := Status(i, Shown{Input: input, History: history, Output: q.flag("showhistoryoutput", false)})
	return out.statusJSON
}

// Shown says what of an instance is shown.
type Shown struct {
	Input   bool // its input
	History bool // its history, as far as the instance has it
	Output  bool // results in the history
}

// A Told is the JSON of an instance.
type Told struct{ statusJSON }

// Status is the JSON of an instance as the API has it.
func Status(i *durable.Instance, show Shown) Told {
	out := statusJSON{
		Name: i.Name, Version: i.Version, InstanceID: i.ID, ParentInstanceID: i.Parent, RuntimeStatus: i.Status.String(),
		Input: null, CustomStatus: valueOf(i.CustomStatus), Output: valueOf(i.Output), CreatedTime: instant(i.Created), LastUpdatedTime: instant(i.Updated),
	}
	if show.Input {
		out.Input = valueOf(i.Input)
	}
	if show.History {
		out.HistoryEvents = folded(i.History, show)
	}
	return Told{out}
}
