package durabletask

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/redeliver/redeliver/bindings/durable"
)

// An answer is what a caller gets.
type answer struct {
	status int
	header http.Header
	body   []byte // JSON; nil: none
}

func status(code int) *answer { return &answer{status: code} }

// with is the answer with a value as JSON.
func (a *answer) with(v any) *answer {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil { // answers always marshal
		panic(err)
	}
	a.body = bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	return a
}

// set sets a header of the answer.
func (a *answer) set(name, value string) *answer {
	if a.header == nil {
		a.header = http.Header{}
	}
	a.header.Set(name, value)
	return a
}

func (a *answer) write(w http.ResponseWriter) {
	for name, values := range a.header {
		w.Header()[name] = values
	}
	if a.body == nil {
		w.Header()["Content-Type"] = nil
	} else {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body) // a caller that has gone needs no answer
}

// A failure is the body of an error (spec durable 8.2). On the platform a caller on this
// machine reads a stack too.
type failure struct {
	Message          string
	ExceptionMessage string
	ExceptionType    string
	StackTrace       *string
}

// refuse is an answer with a message alone.
func refuse(code int, message string) *answer {
	return status(code).with(struct{ Message string }{message})
}

// raised is an answer with the exception that the platform has had.
func raised(code int, message, exception, kind string) *answer {
	return status(code).with(failure{Message: message, ExceptionMessage: exception, ExceptionType: kind})
}

const (
	badArgument = "One or more of the arguments submitted is incorrect"
	wentWrong   = "Something went wrong while processing your request"
)

// badJSON answers a body that is no JSON.
func badJSON(err error) *answer {
	return raised(http.StatusBadRequest, "Invalid JSON content", err.Error(), "Newtonsoft.Json.JsonReaderException")
}

// failed answers an error of a hub that the route has no words for.
func failed(err error) *answer {
	var refusal *durable.Error
	if !errors.As(err, &refusal) {
		return raised(http.StatusInternalServerError, wentWrong, err.Error(), "System.Exception")
	}
	switch refusal.Code {
	case durable.CodeNotFound:
		return status(http.StatusNotFound)
	case durable.CodeFinished:
		return status(http.StatusGone)
	case durable.CodeInUse:
		return refuse(http.StatusConflict, inUse(refusal.Status))
	case durable.CodeBadID:
		return raised(http.StatusBadRequest, badArgument, refusal.Text, "System.ArgumentException")
	case durable.CodeUnknown:
		return refuse(http.StatusBadRequest, refusal.Text)
	}
	return raised(http.StatusInternalServerError, wentWrong, refusal.Text, "System.InvalidOperationException")
}

// inUse is the refusal of a start under an id that has an unfinished instance.
func inUse(s durable.Status) string {
	return "An Orchestration instance with the status " + s.String() + " already exists."
}

// parse checks that a text is one JSON value, and returns it without the blanks around it.
// The platform's texts of the errors are those of its parser; the one of an empty body is
// kept, since clients that send none meet it.
func parse(text []byte) (string, error) {
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")))
	if len(text) == 0 {
		return "", errors.New("Error reading JToken from JsonReader. Path '', line 0, position 0.") //lint:ignore ST1005 the platform's text
	}
	var v json.RawMessage
	err := json.Unmarshal(text, &v)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		before := text[:min(max(syntax.Offset-1, 0), int64(len(text)))]
		line := bytes.Count(before, []byte("\n"))
		return "", fmt.Errorf("The text is no JSON at line %d, position %d.", line+1, len(before)-bytes.LastIndexByte(before, '\n')) //lint:ignore ST1005 a sentence of the answer, as the platform's are
	}
	return string(text), err
}
