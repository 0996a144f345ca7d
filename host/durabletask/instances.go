package durabletask

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings/durable"
)

// tokenHeader has the token of a page of a list.
const tokenHeader = "X-Ms-Continuation-Token"

// get answers how an instance stands.
func (q *request) get(ctx context.Context, id string) *answer {
	read := durable.Read{History: q.flag("showhistory", false)}
	i, err := q.hub.Instance(ctx, id, read)
	if err == nil && q.door == RPC && !i.Status.Finished() {
		if err = q.hub.AllowPoll(ctx, id, pollStep); err == nil {
			i, err = q.hub.Instance(ctx, id, read)
		}
	}
	if err != nil {
		return failed(err)
	}
	return q.told(i)
}

// told is the status of an instance as an answer.
func (q *request) told(i *durable.Instance) *answer {
	body := q.status(i)
	switch {
	case i.Status == durable.Failed && q.flag("returninternalservererroronfailure", false):
		return status(http.StatusInternalServerError).with(body)
	case i.Status.Finished():
		return status(http.StatusOK).with(body)
	}
	return status(http.StatusAccepted).with(body).set("Location", q.origin()+q.r.URL.RequestURI()).set("Retry-After", q.retryAfter(5))
}

// list answers a page of the instances.
func (q *request) list(ctx context.Context) *answer {
	token, err := readToken(q.r.Header.Get(tokenHeader))
	if err != nil {
		return raised(http.StatusBadRequest, badArgument, err.Error(), "System.ArgumentException")
	}
	page, next, err := q.hub.Instances(ctx, durable.Query{
		From: q.time("createdtimefrom"), To: q.time("createdtimeto"), Statuses: q.statuses(), Prefix: q.query.Get("instanceidprefix"),
		Top: q.number("top"), Token: token, Entities: true,
	})
	if err != nil {
		return failed(err)
	}
	list := make([]statusJSON, 0, len(page))
	for _, i := range page {
		list = append(list, q.status(i))
	}
	return q.paged(status(http.StatusOK).with(list), next)
}

// paged is a page of a list with the token of the next one. After the last one the RPC server
// sends an empty token, and the web hook none.
func (q *request) paged(a *answer, next string) *answer {
	if next == "" && q.door == WebHook {
		return a
	}
	return a.set(tokenHeader, base64.RawURLEncoding.EncodeToString([]byte(next)))
}

func readToken(text string) (string, error) {
	token, err := base64.RawURLEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil {
		return "", fmt.Errorf("the continuation token %q is not one of this host's", text)
	}
	return string(token), nil
}

// deleted is the answer of a purge.
type deleted struct {
	InstancesDeleted int `json:"instancesDeleted"`
}

// purge removes an instance.
func (q *request) purge(ctx context.Context, id string) *answer {
	n, err := q.hub.Purge(ctx, id, q.by())
	var refusal *durable.Error
	switch {
	case errors.As(err, &refusal) && refusal.Code == durable.CodeWrongState:
		return status(http.StatusPreconditionFailed).with(fmt.Sprintf("Only orchestrations in a terminal state can be purged, but the orchestration with instance ID %s has status %s", id, refusal.Status))
	case err != nil && !(durable.Is(err, durable.CodeNotFound) && strings.HasPrefix(id, "@")):
		return failed(err)
	case n == 0 && !strings.HasPrefix(id, "@"):
		return status(http.StatusNotFound)
	}
	return status(http.StatusOK).with(deleted{n})
}

// purgeAll removes the instances that the query names.
func (q *request) purgeAll(ctx context.Context) *answer {
	from, to := q.time("createdtimefrom"), q.time("createdtimeto")
	if from.Equal(time.Time{}) {
		return status(http.StatusBadRequest).with("Please provide value for 'createdTimeFrom' parameter.")
	}
	if to.IsZero() {
		to = q.opts.Clock.Now()
	}
	n, err := q.hub.PurgeAll(ctx, durable.Query{From: from, To: to, Statuses: q.statuses()}, q.by())
	switch {
	case err != nil:
		return failed(err)
	case n == 0:
		return status(http.StatusNotFound)
	}
	return status(http.StatusOK).with(deleted{n})
}
