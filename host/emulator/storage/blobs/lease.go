package blobs

import (
	"fmt"
	"strings"
	"time"

	blobapi "github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
)

// lease is the lease of a blob or container as it is kept. Its state follows
// from it and the time. The zero value is available.
//
// Rules: spec storage 17.4; Blob Service REST API, "Lease Blob". Methods that
// change it return the lease that follows.
type lease struct {
	ID       string
	Duration time.Duration // as acquired; blob.InfiniteLease
	Until    time.Time     // end of a lease that is not infinite
	Breaks   time.Time     // end of the break period; zero: is not being broken
	Stale    bool          // something was written after the end (S-12)
}

// leaseState is the platform's name of a state.
type leaseState string

const (
	leaseAvailable leaseState = "available"
	leaseLeased    leaseState = "leased"
	leaseBreaking  leaseState = "breaking"
	leaseBroken    leaseState = "broken"
	leaseExpired   leaseState = "expired"
)

func (l lease) state(now time.Time) leaseState {
	switch {
	case l.ID == "":
		return leaseAvailable
	case !l.Breaks.IsZero() && now.Before(l.Breaks):
		return leaseBreaking
	case !l.Breaks.IsZero():
		return leaseBroken
	case l.Duration == blobapi.InfiniteLease || now.Before(l.Until):
		return leaseLeased
	}
	return leaseExpired
}

// is reports whether id is the lease's, in any form of a GUID.
func (l lease) is(id string) bool { return l.ID != "" && guid(l.ID) == guid(id) }

func (l lease) start(now time.Time) lease {
	l.Breaks, l.Until, l.Stale = time.Time{}, time.Time{}, false
	if l.Duration != blobapi.InfiniteLease {
		l.Until = now.Add(l.Duration)
	}
	return l
}

func (l lease) acquire(now time.Time, d time.Duration, proposed string, newID func() string) (lease, error) {
	if d != blobapi.InfiniteLease && (d < blobapi.MinLease || d > blobapi.MaxLease) {
		return l, blobError(storage.CodeInvalidHeaderValue, "lease duration %v: want %v to %v, or infinite", d, blobapi.MinLease, blobapi.MaxLease)
	}
	if proposed != "" && !isGUID(proposed) {
		return l, blobError(storage.CodeInvalidHeaderValue, "lease identifier %q: want a GUID", proposed)
	}
	switch l.state(now) {
	case leaseLeased:
		if !l.is(proposed) {
			return l, blobError(storage.CodeLeaseAlreadyPresent, "")
		}
	case leaseBreaking:
		if l.is(proposed) {
			return l, blobError(storage.CodeLeaseIsBreakingAndCannotBeAcquired, "")
		}
		return l, blobError(storage.CodeLeaseAlreadyPresent, "")
	}
	if proposed == "" {
		proposed = newID()
	}
	return lease{ID: guid(proposed), Duration: d}.start(now), nil
}

func (l lease) renew(now time.Time, id string) (lease, error) {
	state := l.state(now)
	switch {
	case !l.is(id):
	case state == leaseLeased, state == leaseExpired && !l.Stale:
		return l.start(now), nil
	case state == leaseBreaking, state == leaseBroken:
		return l, blobError(storage.CodeLeaseIsBrokenAndCannotBeRenewed, "")
	}
	return l, blobError(storage.CodeLeaseIDMismatchWithLeaseOperation, "")
}

func (l lease) change(now time.Time, id, proposed string) (lease, error) {
	if !isGUID(proposed) {
		return l, blobError(storage.CodeInvalidHeaderValue, "lease identifier %q: want a GUID", proposed)
	}
	switch l.state(now) {
	case leaseLeased:
		if l.is(id) || l.is(proposed) {
			l.ID = guid(proposed)
			return l, nil
		}
	case leaseBreaking:
		if l.is(proposed) {
			return l, blobError(storage.CodeLeaseIsBreakingAndCannotBeChanged, "")
		}
	default:
		return l, blobError(storage.CodeLeaseNotPresentWithLeaseOperation, "")
	}
	return l, blobError(storage.CodeLeaseIDMismatchWithLeaseOperation, "")
}

// release works in every state but available: the holder of the identifier may
// clean up the rest of the lease.
func (l lease) release(id string) (lease, error) {
	if !l.is(id) {
		return l, blobError(storage.CodeLeaseIDMismatchWithLeaseOperation, "")
	}
	return lease{}, nil
}

// breakUp starts the break period, or shortens it, and returns how long the
// lease holds still, rounded to seconds (Azurite: LokiBlobMetadataStore): who waits as
// long finds it broken.
func (l lease) breakUp(now time.Time, period *time.Duration) (lease, time.Duration, error) {
	if period != nil && (*period < 0 || *period > blobapi.MaxBreakPeriod) {
		return l, 0, blobError(storage.CodeInvalidHeaderValue, "break period %v: want 0 to %v", *period, blobapi.MaxBreakPeriod)
	}
	end := now // of the lease, unless it is shortened
	switch l.state(now) {
	case leaseAvailable:
		return l, 0, blobError(storage.CodeLeaseNotPresentWithLeaseOperation, "")
	case leaseBroken:
		return l, 0, nil
	case leaseBreaking:
		end = l.Breaks
	case leaseLeased:
		switch {
		case l.Duration != blobapi.InfiniteLease:
			end = l.Until
		case period != nil:
			end = now.Add(*period)
		}
	}
	if period != nil {
		if asked := now.Add(*period); asked.Before(end) {
			end = asked
		}
	}
	l.Breaks, l.Stale = end, false
	return l, end.Sub(now).Round(time.Second), nil
}

// leaseCodes are the answers to an operation that brings the wrong identifier.
type leaseCodes struct{ mismatch, notPresent storage.Code }

// Of operations on blobs and on containers.
func blobLeaseCodes() leaseCodes {
	return leaseCodes{storage.CodeLeaseIDMismatchWithBlobOperation, storage.CodeLeaseNotPresentWithBlobOperation}
}

func containerLeaseCodes() leaseCodes {
	return leaseCodes{storage.CodeLeaseIDMismatchWithContainerOperation, storage.CodeLeaseNotPresentWithContainerOperation}
}

// allows checks the identifier that an operation brings, if it brings one.
func (l lease) allows(now time.Time, id string, codes leaseCodes) error {
	if id == "" {
		return nil
	}
	switch state := l.state(now); {
	case state != leaseLeased && state != leaseBreaking:
		return blobError(codes.notPresent, "")
	case !l.is(id):
		return blobError(codes.mismatch, "")
	}
	return nil
}

// guards is allows for what an active lease forbids to everybody else.
func (l lease) guards(now time.Time, id string, codes leaseCodes) error {
	if state := l.state(now); id == "" && (state == leaseLeased || state == leaseBreaking) {
		return blobError(storage.CodeLeaseIDMissing, "")
	}
	return l.allows(now, id, codes)
}

// written is the lease after a write: one that has ended cannot be renewed any
// more, and nothing is left of it if the whole blob was replaced.
func (l lease) written(now time.Time, replaced bool) lease {
	switch state := l.state(now); {
	case state != leaseExpired && state != leaseBroken:
	case replaced:
		return lease{}
	default:
		l.Stale = true
	}
	return l
}

func (l lease) properties(now time.Time) blobapi.LeaseProperties {
	state := l.state(now)
	p := blobapi.LeaseProperties{State: string(state), Status: "unlocked"}
	if state == leaseLeased || state == leaseBreaking {
		p.Status = "locked"
	}
	switch {
	case state != leaseLeased:
	case l.Duration == blobapi.InfiniteLease:
		p.Duration = "infinite"
	default:
		p.Duration = "fixed"
	}
	return p
}

// isGUID accepts the forms that clients write: 32 hexadecimal digits, with or
// without dashes, braces or parentheses.
func isGUID(s string) bool { return guidDigits(s) != "" }

// guid is a GUID in the form of the service's answers; other text is unchanged.
func guid(s string) string {
	digits := guidDigits(s)
	if digits == "" {
		return s
	}
	return strings.ToLower(digits[:8] + "-" + digits[8:12] + "-" + digits[12:16] + "-" + digits[16:20] + "-" + digits[20:])
}

// guidDigits returns the 32 digits of a GUID, and no digits of other text.
func guidDigits(s string) string {
	if n := len(s); n > 2 && (s[0] == '{' && s[n-1] == '}' || s[0] == '(' && s[n-1] == ')') {
		s = s[1 : n-1]
	}
	if len(s) == 36 {
		if s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
			return ""
		}
		s = strings.ReplaceAll(s, "-", "")
	}
	if len(s) != 32 || strings.Trim(s, "0123456789abcdefABCDEF") != "" {
		return ""
	}
	return s
}

// blobError returns the service's failure with that code, and with a text that
// says more than the usual one if format is not empty.
func blobError(code storage.Code, format string, args ...any) *storage.Error {
	err := storage.NewError(code)
	if format != "" {
		err.Text = fmt.Sprintf(format, args...)
	}
	return err
}
