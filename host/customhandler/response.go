package customhandler

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/functions/call"
)

// responseBody is the body of an answer.
type responseBody struct {
	outputs map[string]json.RawMessage
	logs    []json.RawMessage
	result  json.RawMessage
}

// bodyFrom reads the body of an answer. Its three names count in any case; of members that
// are one name the last counts.
func bodyFrom(raw []byte) (b responseBody, err error) {
	raw = bytes.TrimPrefix(raw, []byte("\uFEFF")) // some libraries write one
	if len(bytes.TrimSpace(raw)) == 0 {
		return b, errors.New("its answer is empty; it must be a JSON object, at least {}")
	}
	var members map[string]json.RawMessage
	err = json.Unmarshal(raw, &members)
	if err == nil && members == nil {
		err = errors.New("it is null")
	}
	in := json.NewDecoder(bytes.NewReader(raw))
	_, _ = in.Token() // the object, which has been read once
	for err == nil && in.More() {
		var name any
		var v json.RawMessage
		if name, err = in.Token(); err == nil {
			err = in.Decode(&v)
		}
		switch name, _ := name.(string); {
		case err != nil:
		case strings.EqualFold(name, "Outputs"):
			err = json.Unmarshal(v, &b.outputs)
		case strings.EqualFold(name, "Logs"):
			err = json.Unmarshal(v, &b.logs)
		case strings.EqualFold(name, "ReturnValue"):
			b.result = v
		}
	}
	if err != nil {
		return b, fmt.Errorf(`its answer %s is not a JSON object of the form {"Outputs": {}, "Logs": [], "ReturnValue": null}: %w`, excerpt(raw), err)
	}
	return b, nil
}

// read is the outcome of an attempt, and the lines to log (spec workers 13.4). Outputs
// that the function does not have are left out, as on the platform.
func (s *Spec) read(req *call.Request, a *answer) (*call.Response, []string, error) {
	if a.status < 200 || a.status > 299 {
		return &call.Response{Error: a.failure()}, nil, nil
	}
	body, err := bodyFrom(a.body)
	if err != nil {
		return nil, nil, err
	}
	resp := &call.Response{Status: call.Succeeded, Outputs: map[string]bindings.Value{}}
	binary := func(name string) bool { return s.Binary != nil && s.Binary(req.Function, name) }
	for _, name := range req.Outputs {
		raw, given := body.outputs[name]
		switch {
		case name == returnName:
		case name == req.HTTPOutput:
			if body.outputs == nil {
				continue
			}
			answer, err := httpAnswer(raw, requestOf(req))
			if err != nil {
				return &call.Response{Error: &call.Error{
					Type: "InvalidOperationException", Message: fmt.Sprintf("output %q of the custom handler is no answer to the request: %v", name, err),
				}}, nil, nil
			}
			resp.Outputs[name] = answer
		case given:
			resp.Outputs[name] = outputValue(raw, binary(name))
		}
	}
	if len(body.result) > 0 {
		v := outputValue(body.result, binary(returnName) || !slices.Contains(req.Outputs, returnName))
		if requestOf(req) != nil {
			if v, err = hostValue(v, binary(returnName) || !slices.Contains(req.Outputs, returnName)); err != nil {
				return nil, nil, fmt.Errorf("its return value: %w", err)
			}
		}
		resp.Return = &v
	}
	var lines []string
	for _, raw := range body.logs {
		line, isText := text(raw)
		if !isText {
			line = string(raw)
		}
		lines = append(lines, line)
	}
	return resp, lines, nil
}

// oddType is the type of an answer that the platform does not read, "" for one that it
// does (host: DefaultHttpWorkerService.cs, by HttpContent.ReadAsAsync).
func (a *answer) oddType() string {
	given := a.header.Get("Content-Type")
	switch kind, _, _ := mime.ParseMediaType(given); kind {
	case "application/json", "text/json":
		return ""
	}
	return cmp.Or(given, "none")
}

// failure is what an answer with a status outside 2xx stands for.
func (a *answer) failure() *call.Error {
	message := fmt.Sprintf("the custom handler answered with status %d", a.status)
	if words := http.StatusText(a.status); words != "" {
		message += " (" + words + ")"
	}
	if len(bytes.TrimSpace(a.body)) > 0 {
		message += ": " + excerpt(a.body)
	}
	return &call.Error{Type: "HttpRequestException", Message: message}
}

// excerpt is the beginning of a body, for a person.
func excerpt(raw []byte) string {
	const limit = 200
	s := strings.ToValidUTF8(strings.TrimSpace(string(raw[:min(len(raw), 4*limit)])), "\uFFFD")
	if r := []rune(s); len(r) > limit || len(raw) > 4*limit {
		s = string(r[:min(len(r), limit)]) + "…"
	}
	return fmt.Sprintf("%q", s)
}

// text is the text that raw is the JSON form of.
func text(raw json.RawMessage) (s string, ok bool) {
	if trimmed := bytes.TrimSpace(raw); len(trimmed) == 0 || trimmed[0] != '"' {
		return "", false
	}
	return s, json.Unmarshal(raw, &s) == nil
}

// returnName is the binding that the return value feeds.
const returnName = "$return"

// outputValue is the value of an output that is not the answer of an HTTP trigger.
func outputValue(raw json.RawMessage, binary bool) bindings.Value {
	if s, isText := text(raw); isText {
		return textValue(s, binary)
	}
	if string(bytes.TrimSpace(raw)) == "null" {
		return bindings.Value{}
	}
	return bindings.JSONValue(raw)
}

// textValue is a text of an answer. One that happens to be base64 stands for bytes unless
// the binding is binary: so the platform reads it, and a text such as "data" is lost
// (host: ScriptInvocationResultExtensions.cs).
//
// White space does not count, so that "good news" is lost as well.
func textValue(s string, binary bool) bindings.Value {
	if !binary && s != "" {
		if b, err := base64.StdEncoding.DecodeString(strings.NewReplacer(" ", "", "\t", "", "\r", "", "\n", "").Replace(s)); err == nil {
			return bindings.BytesValue(b)
		}
	}
	return bindings.StringValue(s)
}
