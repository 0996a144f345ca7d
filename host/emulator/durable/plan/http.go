package plan

import (
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings/durable"
)

// HTTPActivity is the built-in activity of callHttp.
const HTTPActivity = "BuiltIn::HttpActivity"

// httpRequest is the request of callHttp.
type httpRequest struct {
	members map[string]json.RawMessage
	uri     string
	poll    bool // asynchronousPatternEnabled
	retry   *RetryOptions
	codes   []int // that are retried; none: 400 and above
}

func parseRequest(raw json.RawMessage) (*httpRequest, error) {
	r := &httpRequest{}
	if json.Unmarshal(raw, &r.members) != nil || r.members == nil {
		return nil, errors.New("CallHttp has no httpRequest")
	}
	var known struct {
		URI   string     `json:"uri"`
		Poll  bool       `json:"asynchronousPatternEnabled"`
		Retry *retryJSON `json:"retryOptions"`
	}
	if err := json.Unmarshal(raw, &known); err != nil {
		return nil, err
	}
	r.uri, r.poll = known.URI, known.Poll
	if known.Retry != nil {
		options, err := known.Retry.options()
		if err != nil {
			return nil, err
		}
		r.retry, r.codes = options, known.Retry.Codes
	}
	return r, nil
}

// input is the request as the activity gets it.
func (r *httpRequest) input() *string {
	b, err := json.Marshal(r.members)
	if err != nil { // they were read from JSON
		panic(err)
	}
	return text("[" + string(b) + "]")
}

// httpResponse is what the activity returns.
type httpResponse struct {
	Status  int                        `json:"statusCode"`
	Headers map[string]json.RawMessage `json:"headers"`
}

// header is the first value of a header, whose name has no case.
func (r *httpResponse) header(name string) string {
	for key, raw := range r.Headers {
		if !strings.EqualFold(key, name) {
			continue
		}
		var one string
		var list []string
		if json.Unmarshal(raw, &one) == nil {
			return one
		}
		if json.Unmarshal(raw, &list) == nil && len(list) > 0 {
			return list[0]
		}
	}
	return ""
}

func responseOf(end *durable.Event) httpResponse {
	var r httpResponse
	if end != nil && end.Result != nil {
		_ = json.Unmarshal([]byte(*end.Result), &r) // what is no response has status 0
	}
	return r
}

// callHTTP sends a request and follows its polling pattern (spec durable 6.5).
func (m *Machine) callHTTP(a *Action) *task {
	outer := &task{}
	m.request(a, a.HTTP, outer)
	return outer
}

// request schedules one request, with its own retries, and what follows it.
func (m *Machine) request(a *Action, r *httpRequest, outer *task) {
	e := durable.Event{Type: durable.TaskScheduled, Name: HTTPActivity, Input: r.input()}
	begin := func(what Scheduled) *task {
		what.What = "http"
		inner, t := m.schedule(e, what).task, &task{}
		inner.await(func() {
			status := responseOf(inner.end).Status
			again := status >= 400 && (len(r.codes) == 0 || slices.Contains(r.codes, status))
			t.resolve(inner.failed || r.retry != nil && again, inner.end)
		})
		return t
	}
	var t *task
	if r.retry == nil {
		t = begin(Scheduled{})
	} else {
		t = m.withRetry(a, r.retry, begin)
	}
	t.await(func() {
		response := responseOf(t.end)
		location := response.header("Location")
		if t.failed || !r.poll || response.Status != 202 || location == "" {
			outer.resolve(t.failed, t.end)
			return
		}
		next := r.follow(location)
		m.wait(m.now.Add(m.pause(response.header("Retry-After"))), "http", 0, 0).await(func() { m.request(a, next, outer) })
	})
}

// pause is the wait before the next poll.
func (m *Machine) pause(after string) time.Duration {
	if s, err := strconv.ParseFloat(after, 64); err == nil && s >= 0 && s < 1e9 {
		return time.Duration(s * float64(time.Second))
	}
	if m.in.PollInterval > 0 {
		return m.in.PollInterval
	}
	return 30 * time.Second
}

// follow is the poll of a location: GET with the same headers, except the key of a
// function.
func (r *httpRequest) follow(location string) *httpRequest {
	next := *r
	if base, err := url.Parse(r.uri); err == nil {
		if to, err := base.Parse(location); err == nil {
			location = to.String()
		}
	}
	next.uri = location
	next.members = map[string]json.RawMessage{}
	for name, v := range r.members {
		if name != "content" {
			next.members[name] = v
		}
	}
	next.members["method"], next.members["uri"] = quoted("GET"), quoted(location)
	var headers map[string]json.RawMessage
	if json.Unmarshal(r.members["headers"], &headers) == nil && headers != nil {
		for name := range headers {
			if strings.EqualFold(name, "x-functions-key") {
				delete(headers, name)
			}
		}
		if b, err := json.Marshal(headers); err == nil {
			next.members["headers"] = b
		}
	}
	return &next
}
