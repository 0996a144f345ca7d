package durabletask

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings/durable"
)

// maxBody limits the bodies of requests, in bytes: the platform's limit of a request to a host.
const maxBody = 104_857_600

// A request is one request to the API, inside the clock.
type request struct {
	*API
	door  Door
	r     *http.Request
	hub   durable.Hub
	body  []byte
	query url.Values // names in lower case
	parts []string   // of the path below the API's
}

// split is the path below the API's, in parts that are decoded once.
func split(path string, door Door) (parts []string, below bool) {
	rest, below := cutFold(path, HookPath)
	if !below && door == RPC {
		rest, below = cutFold(path, RPCPath)
	}
	if !below || rest != "" && rest[0] != '/' {
		return nil, false
	}
	return strings.Split(strings.TrimSuffix(strings.TrimPrefix(rest, "/"), "/"), "/"), true
}

func cutFold(path, prefix string) (rest string, found bool) {
	if len(path) < len(prefix) || !strings.EqualFold(path[:len(prefix)], prefix) {
		return "", false
	}
	return path[len(prefix):], true
}

// serve finds the route of a request (spec durable 8.2).
func (q *request) serve(ctx context.Context) *answer {
	switch strings.ToLower(q.parts[0]) {
	case "orchestrators":
		if q.r.Method == http.MethodPost && (len(q.parts) == 2 || len(q.parts) == 3) {
			return q.start(ctx)
		}
	case "instances":
		return q.instances(ctx)
	case "entities":
		return q.entities(ctx)
	case "makeprimary":
		if len(q.parts) == 1 {
			return status(http.StatusOK)
		}
	}
	return status(http.StatusNotFound)
}

func (q *request) instances(ctx context.Context) *answer {
	method := q.r.Method
	switch len(q.parts) {
	case 1:
		switch method {
		case http.MethodGet:
			return q.list(ctx)
		case http.MethodDelete:
			return q.purgeAll(ctx)
		}
	case 2:
		switch method {
		case http.MethodGet:
			return q.get(ctx, q.parts[1])
		case http.MethodDelete:
			return q.purge(ctx, q.parts[1])
		}
	case 3:
		if method == http.MethodPost {
			return q.control(ctx, q.parts[1], strings.ToLower(q.parts[2]))
		}
	case 4:
		if method == http.MethodPost && strings.EqualFold(q.parts[2], "raiseEvent") {
			return q.raise(ctx, q.parts[1], q.parts[3])
		}
	}
	return status(http.StatusNotFound)
}

func (q *request) control(ctx context.Context, id, op string) *answer {
	switch op {
	case "terminate", "suspend", "resume":
		return q.command(ctx, id, durable.Command(op))
	case "rewind":
		return q.rewind(ctx, id)
	case "restart":
		return q.restart(ctx, id)
	case "restartwithoptions":
		return q.restartWithOptions(ctx, id)
	}
	return status(http.StatusNotFound)
}

func (q *request) entities(ctx context.Context) *answer {
	name, key := "", ""
	if len(q.parts) > 1 {
		name = q.parts[1]
	}
	if len(q.parts) > 2 {
		key = q.parts[2]
	}
	switch n := len(q.parts); {
	case n > 3:
	case q.r.Method == http.MethodGet && n == 3:
		return q.entity(ctx, name, key)
	case q.r.Method == http.MethodGet:
		return q.listEntities(ctx, name)
	case q.r.Method == http.MethodPost && n > 1:
		return q.signal(ctx, durable.EntityID{Name: strings.ToLower(name), Key: key}, q.query.Get("op"))
	case q.r.Method == http.MethodDelete && n == 3:
		return q.signal(ctx, durable.EntityID{Name: strings.ToLower(name), Key: key}, "delete")
	}
	return status(http.StatusNotFound)
}

// fold has the names of a query in lower case; of several values of a name the first is
// taken, but for lists.
func fold(query url.Values) url.Values {
	out := url.Values{}
	for name, values := range query {
		name = strings.ToLower(name)
		out[name] = append(out[name], values...)
	}
	return out
}

// flag is a truth value of the query; one that cannot be read is as if not given.
func (q *request) flag(name string, otherwise bool) bool {
	if v, err := strconv.ParseBool(strings.ToLower(q.query.Get(name))); err == nil {
		return v
	}
	return otherwise
}

// number is a number of the query that is above zero, or 0.
func (q *request) number(name string) int {
	n, err := strconv.Atoi(strings.TrimSpace(q.query.Get(name)))
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// seconds is a number of seconds of the query, fractions included.
func (q *request) seconds(name string) (d time.Duration, given bool) {
	n, err := strconv.ParseFloat(q.query.Get(name), 64)
	const most = 10 * 365 * 24 * 3600 // beyond it a duration has no room
	if err != nil || !(n >= 0 && n <= most) {
		return 0, false
	}
	return time.Duration(n * float64(time.Second)), true
}

// layouts are the forms of times that are read; without a zone they are UTC.
var layouts = []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02", "2006-01-02 15:04:05Z07:00"} // read only

// time is a time of the query; one that cannot be read is as if not given.
func (q *request) time(name string) time.Time {
	text := strings.TrimSpace(q.query.Get(name))
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}

// statuses are the states that the query names; unknown names are skipped.
func (q *request) statuses() (list []durable.Status) {
	for _, value := range q.query["runtimestatus"] {
		for name := range strings.SplitSeq(value, ",") {
			name = strings.TrimSpace(name)
			if s, ok := durable.ParseStatus(name); ok && s.String() == name { // the platform skips "completed"
				list = append(list, s)
			}
		}
	}
	return list
}

// by names the asker, for the journal.
func (q *request) by() string {
	if q.door == RPC {
		return "rpc"
	}
	return "http"
}

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	return io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
}

// writeReadError answers a request whose body could not be read.
func writeReadError(w http.ResponseWriter, err error) {
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	}
	w.WriteHeader(http.StatusBadRequest)
}
