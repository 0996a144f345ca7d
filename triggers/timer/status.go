package timer

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"
)

// Status is the memory of a timer from one start of the host to the next. A zero
// time is the platform's default date: not known yet.
type Status struct {
	Last        time.Time // start of the last tick that was done
	Next        time.Time // the tick that is due, or overdue
	LastUpdated time.Time // the moment from which Next was computed
}

// StatusStore keeps the status of one timer. The platform's is the blob
// timers/{host ID}/Host.Functions.{function}/status in the container
// azure-webjobs-hosts. A store is used by one listener at a time.
type StatusStore interface {
	// Status returns what was stored last, or nil when nothing was.
	Status(ctx context.Context) (*Status, error)
	// SetStatus replaces what is stored.
	SetStatus(ctx context.Context, s Status) error
}

// Memory is a StatusStore that forgets with the process. The zero Memory is
// empty and ready; it is safe for concurrent use.
type Memory struct {
	mu     sync.Mutex
	stored *Status
}

// Status implements [StatusStore].
func (m *Memory) Status(context.Context) (*Status, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stored == nil {
		return nil, nil
	}
	s := *m.stored
	return &s, nil
}

// SetStatus implements [StatusStore].
func (m *Memory) SetStatus(_ context.Context, s Status) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stored = &s
	return nil
}

// tick is the unit of the platform's time: what is finer would not survive a
// status, and a changed time would look like a changed schedule.
const tick = 100 * time.Nanosecond

// timeForm is a time in JSON: local, with its offset and up to seven digits of a
// second.
const timeForm = "2006-01-02T15:04:05.9999999-07:00"

// statusJSON has the names of exttimer: ScheduleStatus.cs.
type statusJSON struct {
	Last        jsonTime
	Next        jsonTime
	LastUpdated jsonTime
}

// MarshalJSON writes {"Last":…,"Next":…,"LastUpdated":…}. Times have the offset
// of their location; a zero time is the default date in the location of the others.
func (s Status) MarshalJSON() ([]byte, error) {
	none := defaultDate(s.Next, s.LastUpdated, s.Last)
	text := func(t time.Time) string {
		if t.IsZero() {
			return none
		}
		return t.Format(timeForm)
	}
	return json.Marshal(struct{ Last, Next, LastUpdated string }{text(s.Last), text(s.Next), text(s.LastUpdated)})
}

// defaultDate is the first instant of the year 1 in the location of the first time that
// is set. West of UTC that would lie in the year before, and the clock stays at midnight
// (spec drift-2026 C-9).
func defaultDate(times ...time.Time) string {
	offset := 0
	for _, t := range times {
		if !t.IsZero() {
			offset = standardOffset(t)
			break
		}
	}
	first := time.Date(1, 1, 1, 0, 0, max(offset, 0), 0, time.FixedZone("", offset))
	return first.Format(timeForm)
}

// standardOffset is the offset of a location in the year of t, without daylight saving,
// in seconds: .NET knows no older one.
func standardOffset(t time.Time) int {
	at := time.Date(t.Year(), 1, 1, 0, 0, 0, 0, t.Location())
	if at.IsDST() {
		at = time.Date(t.Year(), 7, 1, 0, 0, 0, 0, t.Location())
	}
	_, offset := at.Zone()
	return offset
}

// UnmarshalJSON reads the forms that MarshalJSON and the platform write. A time
// without an offset is taken for UTC; a time in the year 1 is the default date, in
// any zone.
func (s *Status) UnmarshalJSON(data []byte) error {
	var j statusJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	*s = Status{time.Time(j.Last), time.Time(j.Next), time.Time(j.LastUpdated)}
	return nil
}

type jsonTime time.Time

func (t *jsonTime) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		at, err = time.Parse("2006-01-02T15:04:05.999999999", text)
	}
	if err != nil {
		return fmt.Errorf("%q is not a time of a schedule status", text)
	}
	if at.UTC().Year() <= 1 {
		at = time.Time{}
	}
	*t = jsonTime(at)
	return nil
}
