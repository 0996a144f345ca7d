package kit

import (
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/scenario"
	"github.com/redeliver/redeliver/schemas"
)

// Code says to a program why a request was refused.
type Code string

// The codes, those of the control API of a host among them.
const (
	Unauthorized Code = "unauthorized" // without the token
	UnknownPath  Code = "unknown_path" // the program has no such operation: it may be older than the kit
	UnknownHost  Code = "unknown_host" // there is none of that ID, or it has ended
	BadRequest   Code = "bad_request"  // a member that is unknown or wrong
	AppInvalid   Code = "app_invalid"  // the app, or what is laid over it, cannot run
	StepFailed   Code = "step_failed"  // what was asked for has not happened; failures say why
	Busy         Code = "busy"         // another call of this host moves time
	HostDown     Code = "host_down"    // the host has crashed: start it again
	WorkerGone   Code = "worker_missing"
	NotFound     Code = "not_found"
	Conflict     Code = "conflict" // the state of the host does not allow it
	TooLarge     Code = "too_large"
	TooMany      Code = "too_many" // callers that follow the journal
	NotReady     Code = "not_ready"
	DiskFull     Code = "disk_full"
	Forbidden    Code = "forbidden" // a page of a browser has asked
	Internal     Code = "internal"  // a fault of redeliver
)

// Codes are all of them.
func Codes() []Code {
	return []Code{Unauthorized, UnknownPath, UnknownHost, BadRequest, AppInvalid, StepFailed, Busy, HostDown, WorkerGone, NotFound, Conflict, TooLarge, TooMany, NotReady, DiskFull, Forbidden, Internal}
}

// Refused is the body of every refusal.
type Refused struct {
	Status   int       `json:"-"`
	Code     Code      `json:"code"`
	Text     string    `json:"error"`
	Hint     string    `json:"hint,omitempty"`
	Failures []Failure `json:"failures,omitempty"`
}

func (r *Refused) Error() string { return r.Text }

func refuse(status int, code Code, format string, args ...any) *Refused {
	return &Refused{Status: status, Code: code, Text: fmt.Sprintf(format, args...)}
}

// hinted adds what to do.
func (r *Refused) hinted(hint string) *Refused {
	r.Hint = hint
	return r
}

// Failure is one thing that did not hold, in the words of a scenario.
type Failure struct {
	Path     string   `json:"path,omitempty"` // of what was expected: functions.Pack.deliveries
	Message  string   `json:"message"`
	Want     string   `json:"want,omitempty"`
	Got      string   `json:"got,omitempty"`
	Timeline []string `json:"timeline,omitempty"` // what happened to the messages concerned, equal attempts folded
}

// failures are those of a session.
func failures(list []scenario.Failure) []Failure {
	out := make([]Failure, len(list))
	for i, f := range list {
		out[i] = Failure{Path: f.Path, Message: f.Message, Want: f.Want, Got: f.Got, Timeline: folded(f.Timeline)}
	}
	return out
}

// failed refuses a step that has not done what it was for; nil: it has.
func failed(code Code, list []scenario.Failure) error {
	if len(list) == 0 {
		return nil
	}
	out := refuse(http.StatusConflict, code, "%s", list[0].Message)
	out.Failures = failures(list)
	return out
}

// invalid refuses what the schema of scenarios, or a name, does not allow.
func invalid(code Code, faults []*schemas.Fault) error {
	if len(faults) == 0 {
		return nil
	}
	texts := make([]string, len(faults))
	for i, f := range faults {
		text := f.Reason
		path := strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(f.Path, "when[0]"), "then"), ".")
		if path != "" {
			text = path + ": " + text
		}
		if f.Hint != "" {
			text += "; " + f.Hint
		}
		texts[i] = text
	}
	return refuse(http.StatusBadRequest, code, "%s", strings.Join(texts, "\n"))
}

// told is the answer to an error.
func told(err error) *Refused {
	switch err := err.(type) {
	case *Refused:
		return err
	case *ops.Error:
		err = err.Told()
		return &Refused{Status: err.Status, Code: Code(err.Code), Text: err.Text, Hint: err.Hint}
	}
	return refuse(http.StatusBadRequest, BadRequest, "%v", err)
}

func write(w http.ResponseWriter, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{"code":"internal","error":"the answer cannot be written"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n'))
}

func equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
