package eventgrid_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/journal"
)

// final stands for a wait that does not come: the event is given up at once.
const final = -time.Second

// specWait is the wait after the first attempt, read off the tables of the
// specification: 0 for a success, final for an event that is given up.
func specWait(current, function, container bool, status int) time.Duration {
	switch status {
	case 200, 201, 202, 203, 204:
		return 0
	case 400:
		if current || container {
			return final
		}
		return 5 * time.Minute
	case 413:
		if current || container {
			return final
		}
	case 401:
		if current && !function {
			return final
		}
		return 5 * time.Minute
	case 403:
		if current {
			return final
		}
		return 5 * time.Minute
	case 404:
		if !current || function {
			return 5 * time.Minute
		}
	case 408:
		return 2 * time.Minute
	case 503:
		return 30 * time.Second
	}
	return 10 * time.Second
}

// specOutcome is the word for a status.
func specOutcome(status int) string {
	switch status {
	case 200, 201, 202, 203, 204:
		return "Delivered"
	case 400:
		return "BadRequest"
	case 401:
		return "Unauthorized"
	case 403:
		return "Forbidden"
	case 404:
		return "NotFound"
	case 408:
		return "TimedOut"
	case 413:
		return "PayloadTooLarge"
	case 429:
		return "Busy"
	}
	if status >= 500 {
		return "Busy"
	}
	return "Aborted"
}

// Every status that there is, under both editions, to functions and web hooks, with
// and without a place for dead letters.
func TestEveryStatus(t *testing.T) {
	t.Parallel()
	for _, current := range []bool{false, true} {
		for _, function := range []bool{false, true} {
			for _, container := range []bool{false, true} {
				t.Run(fmt.Sprintf("current=%v function=%v container=%v", current, function, container), func(t *testing.T) {
					t.Parallel()
					rules := eventgrid.Rules{}
					if current {
						rules.Schedule = eventgrid.ScheduleCurrent
					}
					b := newBench(t, rules)
					b.answer = func(_ context.Context, url string, r *eventgrid.Request) (*eventgrid.Response, error) {
						if r.Type != eventgrid.Notification {
							return handshake(r), nil
						}
						code, err := strconv.Atoi(url[strings.LastIndexByte(url, '/')+1:])
						return &eventgrid.Response{Status: code}, err
					}
					for code := 100; code < 600; code++ {
						s := eventgrid.Subscription{Name: strconv.Itoa(code), MaxDeliveryAttempts: 2}
						if container {
							s.DeadLetterContainer = "dead"
						}
						if function {
							s.Function = s.Name
						} else {
							s.Endpoint = "http://127.0.0.1:1/" + s.Name
						}
						b.subscribe(s)
					}
					b.calls = nil
					b.publish("e")
					b.clk.Run(day)
					times, ends := map[string][]time.Duration{}, map[string]string{}
					for _, c := range b.calls {
						code := c.To[strings.LastIndexByte(c.To, '/')+1:]
						times[code] = append(times[code], c.At)
					}
					for _, r := range b.records {
						switch code := strings.TrimPrefix(r.Source, "orders/"); {
						case r.Kind == journal.EventAttempted && ends[code] == "":
							ends[code] = r.Status
						case r.Kind == journal.EventDropped, r.Kind == journal.DeadLettered:
							ends[code] += " " + string(r.Kind) + " " + r.Cause
						}
					}
					for code := 100; code < 600; code++ {
						key, wait := strconv.Itoa(code), specWait(current, function, container, code)
						want, end := []time.Duration{0}, specOutcome(code)
						gone := " event_dropped "
						if container {
							gone = " dead_lettered "
						}
						switch {
						case wait == final:
							end += gone + "UndeliverableDueToClientError"
						case wait > 0:
							want = append(want, wait)
							end += gone + "MaxDeliveryAttemptsExceeded"
						}
						if fmt.Sprint(times[key]) != fmt.Sprint(want) {
							t.Errorf("%d: attempts at %v, want %v", code, times[key], want)
						}
						if ends[key] != end {
							t.Errorf("%d: %q, want %q", code, ends[key], end)
						}
					}
				})
			}
		}
	}
}

// specTimes are the attempts at an endpoint that always answers 500.
func specTimes(current bool) []time.Duration {
	steps := []time.Duration{10 * time.Second, 30 * time.Second, time.Minute, 5 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour}
	if current {
		steps = append(steps, 3*time.Hour, 6*time.Hour, 12*time.Hour)
	}
	times := []time.Duration{0}
	for i := range 40 {
		step := steps[min(i, len(steps)-1)]
		times = append(times, times[i]+step)
	}
	return times
}

// The first of the two limits to be reached wins; the dead letter is written five
// minutes after the last attempt, or when the life of the event ends.
func TestLimits(t *testing.T) {
	t.Parallel()
	for _, current := range []bool{false, true} {
		for _, ttl := range []int{1, 2, 30, 46, 47, 1426, 1427, 1439, 1440} {
			t.Run(fmt.Sprintf("current=%v ttl=%d", current, ttl), func(t *testing.T) {
				t.Parallel()
				rules := eventgrid.Rules{}
				if current {
					rules.Schedule = eventgrid.ScheduleCurrent
				}
				b := newBench(t, rules)
				b.answer = status(500)
				for attempts := 1; attempts <= 30; attempts++ {
					name := strconv.Itoa(attempts)
					b.subscribe(eventgrid.Subscription{Name: name, Function: name, MaxDeliveryAttempts: attempts, EventTimeToLiveInMinutes: ttl, DeadLetterContainer: "dead"})
				}
				b.publish("e")
				b.clk.Run(day)
				times, ends := map[string][]time.Duration{}, map[string]string{}
				for _, c := range b.calls {
					times[c.To] = append(times[c.To], c.At)
				}
				for _, r := range b.records {
					if r.Kind == journal.DeadLettered {
						ends[strings.TrimPrefix(r.Source, "orders/")] = fmt.Sprint(r.Time.Sub(start), " ", r.Cause, " ", r.DeliveryCount)
					}
				}
				life := time.Duration(ttl) * time.Minute
				for attempts := 1; attempts <= 30; attempts++ {
					want := specTimes(current)[:attempts]
					reason, end := "MaxDeliveryAttemptsExceeded", want[attempts-1]+5*time.Minute
					for i, at := range want {
						if at > life {
							want, reason = want[:i], "TimeToLiveExceeded"
							end = max(life, want[i-1]+5*time.Minute)
							break
						}
					}
					name := strconv.Itoa(attempts)
					if got := rules.Schedule.Tries(attempts, life, 0); got != len(want) {
						t.Errorf("Tries(%d, %s) = %d, want %d", attempts, life, got, len(want))
					}
					if fmt.Sprint(times[name]) != fmt.Sprint(want) {
						t.Errorf("%d attempts allowed: at %v, want %v", attempts, times[name], want)
					}
					if line := fmt.Sprint(end, " ", reason, " ", len(want)); ends[name] != line {
						t.Errorf("%d attempts allowed: end %q, want %q", attempts, ends[name], line)
					}
				}
			})
		}
	}
}

// An attempt that is due at the very end of an event's life is made.
func TestAttemptAtTheEnd(t *testing.T) {
	t.Parallel()
	b := newBench(t, eventgrid.Rules{})
	b.answer = status(404)
	b.subscribe(eventgrid.Subscription{Name: "s", Function: "F", EventTimeToLiveInMinutes: 10})
	b.publish("e")
	b.clk.Run(day)
	if got := strings.Join(b.times(), " "); got != "0s 5m0s 10m0s" {
		t.Errorf("attempts at %s, want 0s 5m0s 10m0s", got)
	}
	if got := b.trace(journal.EventDropped); len(got) != 1 || got[0] != "10m0s event_dropped e 3 TimeToLiveExceeded" {
		t.Errorf("end %v", got)
	}
}

// Limits outside of the allowed are refused when the subscription is made.
func TestLimitsRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t, eventgrid.Rules{})
	for _, s := range []eventgrid.Subscription{
		{MaxDeliveryAttempts: -1}, {MaxDeliveryAttempts: 31}, {MaxDeliveryAttempts: 1 << 40},
		{EventTimeToLiveInMinutes: -1}, {EventTimeToLiveInMinutes: 1441}, {EventTimeToLiveInMinutes: 1 << 60},
	} {
		s.Name, s.Function = "s", "F"
		err := b.try(func(ctx context.Context) error { _, err := b.grid.Subscribe(ctx, "orders", s); return err })
		if err == nil || !strings.Contains(err.Error(), "allowed are 1 to") {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

// Jitter of 0, 10 and 50 percent: no wait is shorter than its step or its minimum,
// or longer than that plus its percentage; 0 percent adds nothing.
func TestJitterPercentages(t *testing.T) {
	t.Parallel()
	for _, percent := range []int{0, 10, 50} {
		for _, code := range []int{500, 404, 408, 503} {
			t.Run(fmt.Sprint(percent, " ", code), func(t *testing.T) {
				t.Parallel()
				b := newBench(t, eventgrid.Rules{JitterPercent: percent})
				b.answer = status(code)
				for i := range 20 {
					b.subscribe(eventgrid.Subscription{Name: strconv.Itoa(i), Function: strconv.Itoa(i)})
				}
				b.publish("e")
				b.clk.Run(day)
				last, n, longer := map[string]time.Duration{}, map[string]int{}, 0
				for _, c := range b.calls {
					n[c.To]++
					if n[c.To] == 1 {
						continue
					}
					steps := specTimes(false)
					least := max(steps[n[c.To]-1]-steps[n[c.To]-2], specWait(false, true, false, code))
					wait := c.At - last[c.To]
					if wait < least || wait > least+least*time.Duration(percent)/100 {
						t.Fatalf("wait %d is %s, want %s and at most %d %% more", n[c.To]-1, wait, least, percent)
					}
					if wait > least {
						longer++
					}
					last[c.To] = c.At
				}
				if (longer > 0) != (percent > 0) {
					t.Errorf("%d waits are longer than their step", longer)
				}
			})
		}
	}
}
