package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/redeliver/redeliver/bindings/durable"
)

// Schema is the version of a reply (spec durable 3.6).
type Schema int

// The versions.
const (
	V1 Schema = iota
	V2
	V3
	V4
)

// State is a reply as the host takes it.
type State struct {
	Schema Schema
	Groups [][]*Action // V2 and up: one
	Done   bool
	Output *string // JSON; nil: null
	Custom *string // JSON; nil: none

	// Failed: the orchestrator has failed with Error. Failure are its details.
	Failed  bool
	Error   string
	Details string
	Failure *durable.Failure

	findings []durable.Finding
}

// label stands before the state of a failed invocation.
const label = "\n\n$OutOfProcData$:"

type replyJSON struct {
	Done    bool               `json:"isDone"`
	Actions *[]json.RawMessage `json:"actions"`
	Output  json.RawMessage    `json:"output"`
	Error   *string            `json:"error"`
	Custom  json.RawMessage    `json:"customStatus"`
	Schema  json.RawMessage    `json:"schemaVersion"`
	Failure json.RawMessage    `json:"failureDetails"`
}

// Read reads the reply of an orchestrator. A reply that the platform refuses is a state
// with an empty plan that has failed (spec durable 3.4, 4.11).
func Read(name string, r *durable.Reply) *State {
	if r.Failed {
		return readFailure(name, r)
	}
	st, err := parse([]byte(r.Value))
	if err != nil {
		return broken(err.Error(), r)
	}
	if st.Failed {
		st.Details = "Message: " + st.Error + ", StackTrace: "
	}
	return st
}

// broken is a state without a plan.
func broken(text string, r *durable.Reply) *State {
	return &State{Schema: V3, Groups: [][]*Action{nil}, Failed: true, Error: text, Details: exceptionText(text, r.Stack)}
}

// readFailure reads the label of a failed invocation. It counts only when it is as the
// platform wants it.
func readFailure(name string, r *durable.Reply) *State {
	i := strings.LastIndex(r.Message, label)
	if i < 0 {
		return broken(r.Message, r)
	}
	text := []byte(r.Message[i+len(label):])
	var first replyJSON
	err := json.Unmarshal(text, &first)
	if err == nil && !first.Done && first.Error != nil && *first.Error != "" && plain(text) && arrays(first.Actions) {
		if st, err := parse(text); err == nil {
			st.Details = "Message: " + st.Error + ", StackTrace: " + r.Stack
			return st
		}
	}
	st := broken(r.Message, r)
	switch {
	case err != nil:
	case first.Error == nil || *first.Error == "":
		st.note(notAnError, fmt.Sprintf("%s has thrown something that is no Error, so that the platform shows the whole reply: throw new Error(...)", name))
	case first.Done:
		st.note(lateThrow, fmt.Sprintf("%s has called continueAsNew and then thrown, so that the platform shows the whole reply: return after continueAsNew", name))
	}
	return st
}

// arrays reports whether actions are arrays of objects.
func arrays(actions *[]json.RawMessage) bool {
	if actions == nil {
		return false
	}
	for _, group := range *actions {
		var list []map[string]json.RawMessage
		if json.Unmarshal(group, &list) != nil {
			return false
		}
	}
	return true
}

// plain reports whether an object has no member twice.
func plain(text []byte) bool {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return false
	}
	seen := map[string]bool{}
	for d.More() {
		key, err := d.Token()
		var skip json.RawMessage
		if err != nil || seen[key.(string)] || d.Decode(&skip) != nil {
			return false
		}
		seen[key.(string)] = true
	}
	return true
}

// parse reads the object of a reply. Its errors are the platform's texts.
func parse(text []byte) (*State, error) {
	text = bytes.TrimSpace(text)
	if len(text) > 0 && text[0] == '"' { // JSON in a text
		var inner string
		if json.Unmarshal(text, &inner) == nil {
			text = []byte(strings.TrimSpace(inner))
		}
	}
	var r replyJSON
	if len(text) == 0 || text[0] != '{' {
		return nil, platformText("Out of proc orchestrators must return a valid JSON schema")
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, err
	}
	schema, err := schemaOf(r.Schema)
	if r.Actions == nil {
		if schema == V1 && err == nil {
			return nil, platformText("Value cannot be null. (Parameter 'Out-of-proc orchestrator schema must have a non-null actions property.')")
		}
		return nil, platformText("Object reference not set to an instance of an object.")
	}
	if err != nil {
		return nil, err
	}
	if schema > V1 && len(*r.Actions) != 1 {
		return nil, platformText(fmt.Sprintf("With OOProc schema V%d, expected actions array to be of length 1 in outer layer but got size: %d", schema+1, len(*r.Actions)))
	}
	st := &State{Schema: schema, Done: r.Done, Output: value(r.Output), Custom: value(r.Custom)}
	for _, raw := range *r.Actions {
		var group []*Action
		if err := json.Unmarshal(raw, &group); err != nil {
			return nil, err
		}
		for _, a := range group {
			if a == nil {
				return nil, errors.New("an action is null: want an object")
			}
		}
		st.Groups = append(st.Groups, group)
	}
	if r.Error != nil && *r.Error != "" {
		st.Failed, st.Error, st.Failure = true, *r.Error, readDetails(r.Failure)
	}
	return st, checkCustom(st.Custom)
}

// checkCustom refuses a custom status that is too large, counted in whole KB of UTF-16.
func checkCustom(custom *string) error {
	if custom == nil || len(*custom) < durable.MaxCustomStatus/2 {
		return nil
	}
	size := 2 * len(utf16.Encode([]rune(*custom)))
	if kb := size / 1024; kb > durable.MaxCustomStatus/1024 {
		return platformText(fmt.Sprintf("The UTF-16 size of the JSON-serialized payload must not exceed 16 KB. The current payload size is %d KB.", kb))
	}
	return nil
}

// value is a JSON value as compact text; nil when it is null or absent.
func value(raw json.RawMessage) *string {
	var b bytes.Buffer
	if len(raw) == 0 || string(raw) == "null" || json.Compact(&b, raw) != nil {
		return nil
	}
	text := b.String()
	return &text
}

func schemaOf(raw json.RawMessage) (Schema, error) {
	text := strings.Trim(string(raw), `"`)
	if text == "" || text == "null" {
		return V1, nil
	}
	for i, name := range []string{"Original", "V2", "V3", "V4"} {
		if strings.EqualFold(text, name) || text == strconv.Itoa(i) {
			return Schema(i), nil
		}
	}
	return V1, platformText(fmt.Sprintf("The OOProc schema of of version %q is unsupported by this durable-extension version.", text))
}

// detailsJSON is FailureDetails, whose names are Pascal or camel case.
type detailsJSON struct {
	ErrorType      string         `json:"ErrorType"`
	ErrorMessage   string         `json:"ErrorMessage"`
	StackTrace     string         `json:"StackTrace"`
	InnerFailure   *detailsJSON   `json:"InnerFailure"`
	IsNonRetriable bool           `json:"IsNonRetriable"`
	Properties     map[string]any `json:"Properties"`
}

func (d *detailsJSON) failure() *durable.Failure {
	if d == nil {
		return nil
	}
	return &durable.Failure{
		Type: d.ErrorType, Message: d.ErrorMessage, Stack: d.StackTrace, Inner: d.InnerFailure.failure(), NonRetriable: d.IsNonRetriable, Properties: d.Properties,
	}
}

// readDetails reads FailureDetails; nil when raw is none.
func readDetails(raw []byte) *durable.Failure {
	var d detailsJSON
	if len(raw) == 0 || raw[0] != '{' || json.Unmarshal(raw, &d) != nil || d.ErrorType == "" && d.ErrorMessage == "" {
		return nil
	}
	return d.failure()
}
