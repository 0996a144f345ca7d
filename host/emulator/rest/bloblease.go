package rest

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings/blob"
)

func leaseContainer(c *Call) error { return lease(c, c.container()) }

func leaseBlob(c *Call) error { return lease(c, c.blob()) }

// breakByDeletion is the first version whose signatures to delete break leases too
// (docs: Create an account SAS, Create a service SAS).
const breakByDeletion = "2017-07-29"

// lease serves the five lease operations on a container or a blob.
func lease(c *Call, on blob.Leasable) error {
	action := strings.ToLower(c.R.Header.Get("X-Ms-Lease-Action"))
	if !c.access.allows("w") && (action != "break" || c.Signature().field("sv") < breakByDeletion) {
		return ErrNotAuthorized("Permission", "permission")
	}
	cond, refused := c.conditions("")
	if refused != nil {
		return refused
	}
	id, proposed := cond.LeaseID, c.R.Header.Get("X-Ms-Proposed-Lease-Id")
	cond.LeaseID = ""
	do, refused := leaseAction(c.asked(), action, on, id, proposed, cond)
	if refused != nil {
		return refused
	}
	var l *blob.Lease
	err := c.Inside(func(ctx context.Context) (err error) {
		l, err = do(ctx)
		return err
	})
	if err != nil {
		return err
	}
	c.pinLease(action, l)
	c.Headers().version(l.ETag, l.LastModified)
	if l.ID != "" {
		c.W.Header().Set("X-Ms-Lease-Id", l.ID)
	}
	if action == "break" {
		c.W.Header().Set("X-Ms-Lease-Time", strconv.Itoa(int(l.Remaining/time.Second)))
	}
	return c.Answer(leaseStatus[action], nil)
}

// pinOfLease is the key under which the clock is pinned for a lease.
func (c *Call) pinOfLease() string {
	return "lease of " + strings.Join(c.Path, "/") + " of " + c.Account.Name
}

// pinLease keeps the clock from jumping over a lease that has an end.
func (c *Call) pinLease(action string, l *blob.Lease) {
	key := c.pinOfLease()
	switch action {
	case "acquire":
		duration, _ := c.asked().leaseDuration() // it was good
		c.front.pins.Hold(key, duration)         // an infinite one is negative
	case "renew":
		c.front.pins.Again(key)
	case "release":
		c.front.pins.Release(key)
	case "break":
		c.front.pins.Hold(key, l.Remaining)
	}
}

func (a asked) leaseDuration() (time.Duration, *Error) {
	const name = "X-Ms-Lease-Duration"
	text := a.Get(name)
	if text == "" {
		return 0, errMissingHeader("x-ms-lease-duration")
	}
	n, err := strconv.Atoi(text)
	switch {
	case err == nil && n == -1:
		return blob.InfiniteLease, nil
	case err != nil || n < int(blob.MinLease/time.Second) || n > int(blob.MaxLease/time.Second):
		return 0, errInvalidHeader("x-ms-lease-duration", text)
	}
	return time.Duration(n) * time.Second, nil
}

// breakPeriod returns nil if the request does not name one.
func (a asked) breakPeriod() (*time.Duration, *Error) {
	n, refused := a.number("X-Ms-Lease-Break-Period")
	if refused != nil || n == nil {
		return nil, refused
	}
	if *n > int64(blob.MaxBreakPeriod/time.Second) {
		return nil, errInvalidHeader("x-ms-lease-break-period", strconv.FormatInt(*n, 10))
	}
	d := time.Duration(*n) * time.Second
	return &d, nil
}

// leaseStatus are the answers to what is done with a lease.
var leaseStatus = map[string]int{ // read only
	"acquire": http.StatusCreated, "renew": http.StatusOK, "change": http.StatusOK, "release": http.StatusOK, "break": http.StatusAccepted,
}

// leaseAction is what a request asks to do with the lease of something.
func leaseAction(a asked, action string, on blob.Leasable, id, proposed string, cond *blob.Conditions) (do func(ctx context.Context) (*blob.Lease, error), refused *Error) {
	switch action {
	case "acquire":
		duration, err := a.leaseDuration()
		if err != nil {
			return nil, err
		}
		do = func(ctx context.Context) (*blob.Lease, error) {
			return on.AcquireLease(ctx, duration, proposed, cond)
		}
	case "renew":
		do = func(ctx context.Context) (*blob.Lease, error) { return on.RenewLease(ctx, id, cond) }
	case "change":
		if proposed == "" {
			return nil, errMissingHeader("x-ms-proposed-lease-id")
		}
		do = func(ctx context.Context) (*blob.Lease, error) { return on.ChangeLease(ctx, id, proposed, cond) }
	case "release":
		do = func(ctx context.Context) (*blob.Lease, error) { return on.ReleaseLease(ctx, id, cond) }
	case "break":
		period, err := a.breakPeriod()
		if err != nil {
			return nil, err
		}
		do = func(ctx context.Context) (*blob.Lease, error) { return on.BreakLease(ctx, period, cond) }
	case "":
		return nil, errMissingHeader("x-ms-lease-action")
	default:
		return nil, errInvalidHeader("x-ms-lease-action", a.Get("X-Ms-Lease-Action"))
	}
	if id == "" && (action == "renew" || action == "change" || action == "release") {
		return nil, errMissingHeader("x-ms-lease-id")
	}
	return do, nil
}
