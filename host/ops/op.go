// Package ops is what a person can do to a running host, from the command line, the page or
// any other client of its HTTP API. An operation is a value that carries its deed: a struct
// that says how it travels, with a method that does it in an [Env], a run of a host. Read
// [Op], [Operation] and [Service] first; the operations are in the packages below, one for
// each service, one for the run as a whole (run) and one for messages of any service
// (messages). Package all lists them.
//
// An operation embeds [Op] with the type of its answer. The tag of Op is the route, the
// fields are the parameters:
//
//	type CreateHub struct {
//		ops.Op[HubCreated] `route:"PUT /eventhubs/hub" status:"201" needs:"eventhubs" body:"json"`
//
//		Hub        string `query:"hub,required" json:"-"`
//		Partitions int    `json:"partitions,omitempty"`
//	}
//
//	func (in CreateHub) Do(ctx context.Context, e *ops.Env) (HubCreated, error)
//
// Tags of Op: route is method and path below [Prefix]; status the one of success, 200
// unless it is there; needs the embedded service without which the operation is refused;
// body "json" makes a body of the fields with JSON names, and fault begins the refusal of
// a wrong one; limit is the longest body in bytes, -1 for one whose length the operation
// judges, 1 MiB unless it is there; clock "own" is for an operation that looks after the
// clock by itself (see [Operation]); verb is the first word of its command, beside which that
// has the name of the service, and short what that does; effect is what it does to a run,
// where the method does not say it (see [Effect]).
//
// An operation may be a step of scenarios, and is that alone without a route:
//
//	ops.Op[QueuePurged] `route:"DELETE /queues/{name}/messages" step:"purge"`
//	Queue string `path:"name" step:"queue,place"`
//
// is the step purge: {queue: NAME}. A member with "place" names an entity of the service; of
// operations with the same step it says which is meant. One with "entity" names another one.
//
// Tags of a field: path, query or header is where it is and its name there, "required"
// for one that has to be; body "raw" is the whole body. A number or duration can have min,
// max and default, and hint with fault, which is the text of a refusal, or want, which is its
// end: "want a number of 1 or more". Only with the latter a command refuses before it asks the
// host.
//
// A field with usage is a flag of commands; usage is its description there, and for clients
// too unless the field has a comment. It is called like the parameter unless flag has another
// name. Parameters that are required are arguments of commands, in their order, and so are
// fields with arg, which may be left out; the body is the last one. unit "iso" is a duration
// that is kept as Service Bus writes it, and split "," lets one flag have several values.
//
// These descriptions, and the comments of operations, answers and fields, are the words of the
// OpenAPI description, which a test of package all makes from them.
package ops

import (
	"cmp"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"
)

// Prefix is the path below which all operations are.
const Prefix = "/admin/redeliver"

// MaxBody limits the body of an operation that says nothing else, in bytes.
const MaxBody = 1 << 20

// Op makes an operation of the struct that embeds it. Out is the answer, a value that
// is sent as JSON, or [None] or [Stream].
type Op[Out any] struct{}

func (Op[Out]) answer() (out Out) { return out }

// Request is what a client asks for: the parameters of an operation whose answer is an Out.
type Request[Out any] interface{ answer() Out }

// None is the answer of an operation that has only a status.
type None struct{}

// Route is what the tag of an operation says.
type Route struct {
	Name         string // of the operation: "CreateHub"
	Method, Path string // empty: it is a step of scenarios only
	Status       int
	Needs        string // an embedded service, or ""
	JSON         bool   // the body is JSON of the operation's fields
	Limit        int64  // of the body; below 0: the operation has one
	OwnClock     bool   // it looks after the clock by itself
	Step         string // of scenarios, or ""
	Verb         string // first word of its command, or ""
	Short        string // what the command does, for one that says no more
	Effect       Effect
	In, Out      reflect.Type
}

// Effect is what an operation does to a run.
type Effect string

// An operation reads when its method is GET, destroys when it is DELETE, and changes
// otherwise, unless its tag says another one.
const (
	Reads    Effect = "reads"
	Changes  Effect = "changes"
	Destroys Effect = "destroys" // it takes away, moves or breaks what a host has
)

// RouteOf is the route of an operation. It panics on a wrong tag.
func RouteOf[Out any](in Request[Out]) Route {
	route := routeOf(reflect.TypeOf(in))
	route.Out = reflect.TypeFor[Out]()
	return route
}

func routeOf(t reflect.Type) Route {
	op, _ := t.FieldByName("Op")
	out := Route{Name: t.Name(), Status: http.StatusOK, Needs: op.Tag.Get("needs"), JSON: op.Tag.Get("body") == "json", OwnClock: op.Tag.Get("clock") == "own", Limit: MaxBody, Verb: op.Tag.Get("verb"), Short: op.Tag.Get("short"), Effect: Effect(op.Tag.Get("effect")), In: t, Step: op.Tag.Get("step")}
	var found bool
	if out.Method, out.Path, found = strings.Cut(op.Tag.Get("route"), " "); !found && out.Step == "" {
		panic(fmt.Sprintf("operation %s has no route", t))
	}
	if out.Effect == "" {
		out.Effect = map[string]Effect{http.MethodGet: Reads, http.MethodDelete: Destroys}[out.Method]
		out.Effect = cmp.Or(out.Effect, Changes)
	}
	for tag, set := range map[string]func(int64){
		"status": func(n int64) { out.Status = int(n) }, "limit": func(n int64) { out.Limit = n },
	} {
		if text, ok := op.Tag.Lookup(tag); ok {
			set(number(text))
		}
	}
	return out
}

// number is a number in a tag.
func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

// Service is the first word of the path: whom the operation is about.
func (r Route) Service() string {
	service, _, _ := strings.Cut(strings.TrimPrefix(r.Path, "/"), "/")
	return service
}

// Error is the refusal of an operation, and the body of the answer that reports it.
type Error struct {
	Status int    `json:"-"`
	Text   string `json:"error"`
	Hint   string `json:"hint,omitempty"`
	Code   string `json:"code,omitempty"` // for programs: not_found, conflict
}

func (e *Error) Error() string { return e.Text }

// codes are what refusals of a status have in common.
var codes = map[int]string{ // read only
	http.StatusBadRequest: "bad_request", http.StatusUnauthorized: "unauthorized", http.StatusForbidden: "forbidden", http.StatusNotFound: "not_found",
	http.StatusMethodNotAllowed: "unknown_path", http.StatusConflict: "conflict", http.StatusRequestEntityTooLarge: "too_large", http.StatusTooManyRequests: "too_many",
	http.StatusInternalServerError: "internal", http.StatusServiceUnavailable: "not_ready", http.StatusInsufficientStorage: "disk_full",
}

// Told is the error as a caller has it: with a code, the one of its status unless it has its
// own.
func (e *Error) Told() *Error {
	out := *e
	if out.Code == "" {
		out.Code = codes[out.Status]
	}
	return &out
}
