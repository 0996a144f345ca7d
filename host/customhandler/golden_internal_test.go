package customhandler

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/httpanswer"
	"github.com/redeliver/redeliver/functions/call"
)

// observed has what callers got of the platform's host 4.1037 for answers of a custom
// handler: one row for each, with the function (its http output is res, $return or none).
//
//go:embed testdata/answers.jsonl
var observed []byte

// An observation is one row.
type observation struct {
	Function, Answer string
	Zone             string            // of the machine; none: UTC
	Header           map[string]string // of the request
	Status           int
	Headers          []string
	Body             string
}

// different says why Redeliver answers otherwise on purpose; empty: it does not.
func (o observation) different() string {
	switch {
	case o.Status == 0:
		return "clients break off at such a status: 500"
	case strings.Contains(o.Answer, `:NaN}`), strings.Contains(o.Answer, `:Infinity}`):
		return "the answer of a handler is read as strict JSON"
	case slices.Contains(o.Headers, "content-type: application/xml; charset=utf-8"):
		return "there is no XML"
	case o.Function == "NoOut" && o.Answer == `{"ReturnValue":"2020-01-02T03:04:05Z"}`:
		return "a date that is returned whole without an output is text"
	}
	return ""
}

// Whole answers as the platform's host gives them. Not parallel: it sets the zone of the
// machine.
func TestAnswersOfThePlatform(t *testing.T) {
	machine := time.Local
	t.Cleanup(func() { time.Local = machine })
	outputs := map[string][]string{"Named": {"res"}, "Ret": {"$return"}, "NoOut": nil}
	rows := 0
	for line := range bytes.Lines(observed) {
		var o observation
		if err := json.Unmarshal(line, &o); err != nil {
			t.Fatal(err)
		}
		if o.different() != "" {
			continue
		}
		rows++
		zone, err := time.LoadLocation(o.Zone)
		if err != nil {
			t.Fatal(err)
		}
		time.Local = zone
		req := &bindings.HTTPRequest{Method: "GET", URL: "http://h/", Header: http.Header{}}
		for name, value := range o.Header {
			req.Header.Set(name, value)
		}
		about := &call.Request{Outputs: outputs[o.Function], Inputs: []call.Input{{Value: bindings.Value{Kind: bindings.Request, HTTP: req}}}}
		if len(about.Outputs) > 0 {
			about.HTTPOutput = about.Outputs[0]
		}
		got := served(t, about, o.Answer)
		var headers []string
		for name, values := range got.Header {
			for _, v := range values {
				headers = append(headers, strings.ToLower(name)+": "+v)
			}
		}
		slices.Sort(headers)
		slices.Sort(o.Headers)
		body := string(got.Body)
		if got.StatusCode == http.StatusNotModified || got.StatusCode == http.StatusNoContent {
			body = "" // the server sends none
		}
		want := []any{o.Status, strings.Join(o.Headers, "; "), o.Body}
		if diff := cmp.Diff(want, []any{got.StatusCode, strings.Join(headers, "; "), body}); diff != "" {
			t.Errorf("%s %s %v (-want +got):\n%s", o.Function, o.Answer, o.Header, diff)
		}
	}
	if rows < 330 {
		t.Errorf("%d rows were compared", rows)
	}
}

// served is what the host makes of an answer.
func served(t *testing.T, about *call.Request, text string) *bindings.HTTPResponse {
	t.Helper()
	failed := &bindings.HTTPResponse{StatusCode: http.StatusInternalServerError}
	req := requestOf(about)
	resp, _, err := (&Spec{}).read(about, &answer{status: 200, header: http.Header{}, body: []byte(text)})
	if err != nil || resp.Status != call.Succeeded {
		return failed
	}
	v, given := resp.Outputs[about.HTTPOutput]
	writes := httpanswer.From
	switch {
	case given && about.HTTPOutput != "$return":
	case resp.Return == nil || resp.Return.IsNull():
		return &bindings.HTTPResponse{StatusCode: http.StatusNoContent}
	case about.HTTPOutput == "$return":
		v = *resp.Return
	default:
		v, writes = *resp.Return, httpanswer.OfResult
	}
	out, err := writes(v, req)
	if err != nil {
		return failed
	}
	return out
}
