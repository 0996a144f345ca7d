package kit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/schemas"
)

// Prefix is the path below which the operations of the kit are.
const Prefix = "/kit"

// largest is the longest body of an operation of the kit, in bytes. Operations of the control
// API have their own limits.
const largest = 64 << 20

// A verb is an operation of the kit, ready to be done.
type verb struct {
	ops.Route
	do func(ctx context.Context, k *Kit, h *Host, r *http.Request) (any, error)
}

// of is the verb of an operation on a host.
func of[In interface {
	ops.Request[Out]
	Do(ctx context.Context, h *Host) (Out, error)
}, Out any](in In) verb {
	out := verb{Route: ops.RouteOf(in)}
	out.do = func(ctx context.Context, _ *Kit, h *Host, r *http.Request) (any, error) {
		var in In
		if err := decode(r, &in); err != nil {
			return nil, err
		}
		return in.Do(ctx, h)
	}
	return out
}

// Handler serves the protocol.
func (k *Kit) Handler() http.Handler {
	mux := http.NewServeMux()
	for _, v := range verbs() {
		mux.HandleFunc(v.Method+" "+Prefix+v.Path, func(w http.ResponseWriter, r *http.Request) { k.serve(w, r, v) })
	}
	mux.HandleFunc(Prefix+"/hosts/{id}/admin/", func(w http.ResponseWriter, r *http.Request) { k.control(w, r) })
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refused := refuse(http.StatusNotFound, UnknownPath, "there is no operation %s %s", r.Method, r.URL.Path)
		answer(w, refused.hinted("this program may be older than the kit that calls it: see \"redeliver version\""))
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if cause := recover(); cause != nil && cause != http.ErrAbortHandler {
				answer(w, refuse(http.StatusInternalServerError, Internal, "the kit has failed to answer: %v", cause))
			} else if cause != nil {
				panic(cause)
			}
		}()
		if strings.HasPrefix(r.URL.Path, ofClock) {
			k.clock(w, r)
			return
		}
		if !k.allowed(r) {
			answer(w, refuse(http.StatusUnauthorized, Unauthorized, "the request has no token, or another one: Authorization is Bearer and the token of the kit's first line"))
			return
		}
		if rest, ok := strings.CutPrefix(r.URL.Path, Prefix+"/hosts/"); ok {
			if id, path, _ := strings.Cut(rest, "/"); strings.HasPrefix(path, "http/") {
				r.SetPathValue("id", id)
				k.functions(w, r) // whatever its path is: a mux would redirect one with "//" or ".."
				return
			}
		}
		mux.ServeHTTP(w, r)
	})
}

// refusal is the header of the kit's own refusals, with the code. The answer of a function never
// has it, whatever its status.
const refusal = "Redeliver-Refusal"

func answer(w http.ResponseWriter, r *Refused) {
	w.Header().Set(refusal, string(r.Code))
	write(w, r.Status, r)
}

func (k *Kit) serve(w http.ResponseWriter, r *http.Request, v verb) {
	var h *Host
	if id := r.PathValue("id"); id != "" {
		if h = k.host(id); h == nil {
			answer(w, unknownHost(id))
			return
		}
	}
	r.Body = http.MaxBytesReader(w, r.Body, largest)
	got, err := v.do(r.Context(), k, h, r)
	if err != nil {
		answer(w, told(err))
		return
	}
	if _, none := got.(ops.None); none {
		w.WriteHeader(v.Status)
		return
	}
	write(w, v.Status, got)
}

func unknownHost(id string) *Refused {
	return refuse(http.StatusNotFound, UnknownHost, "there is no host %q: it has ended, or never was", id)
}

// decode reads an operation from a request: the path, the query, and a body of JSON. What an
// operation does not have is refused: it would change nothing, and a test would pass with it.
func decode(r *http.Request, in any) error {
	v := reflect.ValueOf(in).Elem()
	route := ops.Route{In: v.Type()}
	if err := asked(r.URL.Query(), route); err != nil {
		return err
	}
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return refuse(http.StatusRequestEntityTooLarge, BadRequest, "the request was not complete: %v", err)
	}
	text = bytes.TrimSpace(text)
	if op, _ := v.Type().FieldByName("Op"); op.Tag.Get("body") != "json" {
		if len(text) > 0 {
			return refuse(http.StatusBadRequest, BadRequest, "the request has a body, and the operation takes none")
		}
		return ops.Decode(r, in)
	}
	if len(text) > 0 {
		if err := members(text, in, v.Type()); err != nil {
			return err
		}
	}
	// What is in the path.
	for _, p := range route.Params() {
		if p.In == "path" {
			v.FieldByIndex(p.Field.Index).SetString(r.PathValue(p.Name))
		}
	}
	return nil
}

// asked refuses parameters of a query that an operation does not have, or has once.
func asked(query url.Values, route ops.Route) error {
	var known []string
	for _, p := range route.Params() {
		if p.In == "query" {
			known = append(known, p.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if !slices.Contains(known, name) {
			return unknown(name, "parameter", known)
		}
		if len(query[name]) > 1 {
			return refuse(http.StatusBadRequest, BadRequest, "the parameter %q stands there %d times", name, len(query[name]))
		}
	}
	return nil
}

// unknown refuses a name that a request has and its operation has not.
func unknown(name, what string, known []string) *Refused {
	if near := schemas.Meant(name, known); near != "" {
		return refuse(http.StatusBadRequest, BadRequest, "%q is no %s of this request; did you mean %q?", name, what, near)
	}
	has := "it has none"
	if len(known) > 0 {
		has = "it has " + strings.Join(known, ", ")
	}
	return refuse(http.StatusBadRequest, BadRequest, "%q is no %s of this request; %s", name, what, has)
}

// members reads the body of an operation.
func members(text []byte, in any, t reflect.Type) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	dec.UseNumber()
	if err := dec.Decode(in); err != nil {
		return misshapen(t, err)
	}
	if dec.More() {
		return refuse(http.StatusBadRequest, BadRequest, "the body goes on after its object")
	}
	return valued("", text)
}

// valued refuses members that are null, in the objects of a request whose members all have
// values: what a test means to give and has not would be taken for what it leaves out.
func valued(of string, text []byte) error {
	var members map[string]json.RawMessage
	if json.Unmarshal(text, &members) != nil {
		return nil // no object
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		at := of + name
		switch value := string(members[name]); {
		case value == "null":
			return refuse(http.StatusBadRequest, BadRequest, "%s is null: give it a value, or leave it out", at)
		case at == "settings" || at == "until" || at == "pattern" || at == "files":
			if err := valued(at+".", members[name]); err != nil {
				return err
			}
		}
	}
	return nil
}

var unknownField = regexp.MustCompile(`unknown field "(.*)"`) // read only

// misshapen refuses a body that an operation cannot have.
func misshapen(t reflect.Type, err error) error {
	found := unknownField.FindStringSubmatch(err.Error())
	var wrong *json.UnmarshalTypeError
	switch {
	case found != nil:
		return unknown(found[1], "member", namesOf(t))
	case errors.As(err, &wrong):
		return refuse(http.StatusBadRequest, BadRequest, "%s is a %s, which it cannot be", wrong.Field, wrong.Value)
	}
	var span *spanError
	if errors.As(err, &span) {
		return refuse(http.StatusBadRequest, BadRequest, "%v", span)
	}
	return refuse(http.StatusBadRequest, BadRequest, "the body is no JSON of this request: %v", err)
}

// namesOf are the names that a body may have.
func namesOf(t reflect.Type) (names []string) {
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
