package scenario

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/explain"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/schemas"
)

type response struct {
	Status  statuses           `json:"status"`
	Headers map[string]*string `json:"headers"` // nil: there is none
	Body    body               `json:"body"`    // without raw: any
}

// statuses are a status code, or all from one to another; zero: any.
type statuses struct{ from, to int }

func (s *statuses) UnmarshalJSON(raw []byte) error {
	text := strings.Trim(string(raw), `"`)
	first, last, both := strings.Cut(text, "..")
	if !both {
		last = first
	}
	var err error
	if s.from, err = strconv.Atoi(first); err == nil {
		s.to, err = strconv.Atoi(last)
	}
	return err
}

func (s statuses) holds(code int) bool { return s == statuses{} || s.from <= code && code <= s.to }

func (s statuses) String() string {
	if s.from == s.to {
		return strconv.Itoa(s.from)
	}
	return fmt.Sprintf("%d..%d", s.from, s.to)
}

func (r *run) request(q *request) {
	asked := &bindings.HTTPRequest{Method: cmp.Or(strings.ToUpper(q.Method), "GET"), URL: q.Path, Header: http.Header{}, Body: []byte(q.Body.text())}
	for name, value := range q.Headers {
		asked.Header.Set(name, value)
	}
	at := schemas.JoinPath(schemas.JoinPath(r.at, "request"), "expect")
	got := r.answering(q, asked).SendRequest(asked, time.Duration(q.Patience))
	switch {
	case got != nil && q.Expect != nil:
		r.response(at, q.Expect, got)
	case got != nil:
		r.answered(got)
	case q.Expect != nil:
		r.mismatch(at, "the caller left before the answer", "an answer", "none after "+explain.Span(time.Duration(q.Patience)), nil)
	}
}

// answering is the app that a request is for: the one that it names, or the one that has its
// route.
func (r *run) answering(q *request, asked *bindings.HTTPRequest) *hosttest.Host {
	var found []*part
	path, _, _ := strings.Cut(asked.URL, "?")
	for _, p := range r.cast {
		if strings.EqualFold(p.name, q.App) {
			return p.h
		}
		if p.down {
			continue
		}
		if _, err := p.h.Match(context.Background(), asked.Method, path); err == nil {
			found = append(found, p)
		}
	}
	switch len(found) {
	case 0:
		return r.h
	case 1:
		return found[0].h
	}
	r.Fatalf("the request is for %d apps, each of which has its route: say which by app: %s or %s", len(found), found[0].name, found[1].name)
	return nil
}

// answered looks at an answer of which the scenario expects nothing: it is no error.
func (r *run) answered(got *bindings.HTTPResponse) {
	if got.StatusCode >= 400 {
		r.mismatch(schemas.JoinPath(r.at, "request"), "the answer is an error, which no expect asks for", "a status below 400", fmt.Sprintf("%d %s", got.StatusCode, quote(string(got.Body))), r.all)
	}
}

func (r *run) response(at string, want *response, got *bindings.HTTPResponse) {
	status, text := got.StatusCode, string(got.Body)
	if !want.Status.holds(status) {
		r.mismatch(schemas.JoinPath(at, "status"), "the answer has another status", want.Status.String(), fmt.Sprint(status), r.all)
	}
	if want.Body.raw != nil && !want.Body.matches(text) {
		r.mismatch(schemas.JoinPath(at, "body"), "the answer has another body", quote(want.Body.text()), quote(text), nil)
	}
	for _, name := range slices.Sorted(maps.Keys(want.Headers)) {
		r.header(schemas.JoinPath(schemas.JoinPath(at, "headers"), name), name, want.Headers[name], got.Header.Values(name), schemas.Nearest(name, slices.Collect(maps.Keys(got.Header))))
	}
}

// header compares one header of an answer: a text, a regular expression between slashes, or
// null where there must be none. Meant is the header of the answer to whose name this one is
// near.
func (r *run) header(at, name string, want *string, got []string, meant string) {
	text := strings.Join(got, ", ")
	switch {
	case want == nil && len(got) > 0:
		r.mismatch(at, "the answer has a header "+name, "none", quote(text), nil)
	case want == nil && meant != "" && !strings.EqualFold(meant, name):
		r.mismatch(at, fmt.Sprintf("no answer has a header of this name; did you mean %q?", meant), "none", "", nil)
	case want == nil:
	case len(got) == 0:
		r.mismatch(at, "the answer has no header "+name, quote(*want), "none", nil)
	case isExpression(*want):
		e, err := regexp.Compile((*want)[1 : len(*want)-1])
		if err != nil {
			r.mismatch(at, "this is no regular expression: "+err.Error(), "", "", nil)
		} else if !e.MatchString(text) {
			r.mismatch(at, "the answer has another header "+name, *want, quote(text), nil)
		}
	case text != *want:
		r.mismatch(at, "the answer has another header "+name, quote(*want), quote(text), nil)
	}
}
