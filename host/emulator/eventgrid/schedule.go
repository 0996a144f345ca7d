package eventgrid

import (
	"net/http"
	"time"
)

// Schedule is one edition of the retry rules: the switch eventGridSchedule.
type Schedule string

// The editions.
const (
	Schedule2019    Schedule = "2019"    // hourly in the end, every status is tried again
	ScheduleCurrent Schedule = "current" // every 12 hours in the end, some statuses are final
)

const (
	// ResponseLimit is how long an endpoint may take to answer.
	ResponseLimit = 30 * time.Second

	// LateLimit is how long after a request a success still cancels a retry that
	// waits.
	LateLimit = 3 * time.Minute

	// DefaultAttempts is the number of tries of a subscription that names none, and
	// the largest allowed.
	DefaultAttempts = 30

	// DefaultTimeToLive is the life of an event where a subscription names none, and
	// the longest allowed.
	DefaultTimeToLive = 1440 * time.Minute

	// DeadLetterDelay is the time between the last attempt and the write of the
	// dead letter.
	DeadLetterDelay = 5 * time.Minute

	// DeadLetterLimit is how long a container that cannot be written to is tried;
	// then the event is dropped.
	DeadLetterLimit = 4 * time.Hour

	// DeadLetterRetry is the time between two tries of such a container. It is our
	// own: the platform does not say.
	DeadLetterRetry = 5 * time.Minute
)

// step is the wait after failed attempt number attempt, from 1.
func (s Schedule) step(attempt int) time.Duration {
	first := [...]time.Duration{
		10 * time.Second, 30 * time.Second, time.Minute, 5 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour,
	}
	if attempt <= len(first) {
		return first[attempt-1]
	}
	if s != ScheduleCurrent {
		return time.Hour
	}
	switch attempt - len(first) {
	case 1:
		return 3 * time.Hour
	case 2:
		return 6 * time.Hour
	}
	return 12 * time.Hour
}

// Tries is how often an event is sent to an endpoint that always answers 500 after took,
// or not in time, within the limits of a subscription; zero limits are the defaults. An
// endpoint on probation gets it less often, and so does any where there is jitter.
func (s Schedule) Tries(attempts int, life, took time.Duration) int {
	if attempts == 0 {
		attempts = DefaultAttempts
	}
	if life == 0 {
		life = DefaultTimeToLive
	}
	answer := result{http.StatusInternalServerError, ""}
	if took >= ResponseLimit {
		took, answer = ResponseLimit, result{0, TimedOut}
	}
	n := 1
	for at := took + s.next(n, answer, true, 0, 0); n < attempts && at <= life; at += took + s.next(n, answer, true, 0, 0) {
		n++
	}
	return n
}

// minimum is the shortest wait after an answer. A request without an answer in
// time waits as one that was answered with 408.
func (s Schedule) minimum(r result, function bool) time.Duration {
	switch {
	case r.outcome == TimedOut:
		return 2 * time.Minute
	case r.status == http.StatusServiceUnavailable:
		return 30 * time.Second
	case r.status == http.StatusBadRequest && s != ScheduleCurrent:
		return 5 * time.Minute
	case r.status == http.StatusUnauthorized, r.status == http.StatusForbidden, r.status == http.StatusNotFound:
		if function || s != ScheduleCurrent {
			return 5 * time.Minute
		}
	}
	return 10 * time.Second
}

// final reports whether a status is not tried again: under the rules of 2019 only
// where there is a place for dead letters.
func (s Schedule) final(r result, function, deadLetter bool) bool {
	switch r.status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge:
		return deadLetter || s == ScheduleCurrent
	case http.StatusUnauthorized:
		return s == ScheduleCurrent && !function
	case http.StatusForbidden:
		return s == ScheduleCurrent
	}
	return false
}

// next is the wait after failed attempt number attempt: its step, or the minimum
// after the answer (5 minutes after a 404) if that is longer. chance, from 0 to 1,
// adds up to percent of the wait.
func (s Schedule) next(attempt int, r result, function bool, percent int, chance float64) time.Duration {
	wait := max(s.step(attempt), s.minimum(r, function))
	return wait + time.Duration(float64(wait)*float64(percent)/100*chance)
}
