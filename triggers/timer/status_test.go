package timer_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/redeliver/redeliver/triggers/timer"
)

func TestStatusJSON(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("", -7*3600)
	s := timer.Status{Next: time.Date(2018, 3, 11, 3, 30, 0, 120_000_000, zone), LastUpdated: time.Date(2018, 3, 10, 2, 30, 0, 0, time.UTC)}
	const want = `{"Last":"0001-01-01T00:00:00-07:00","Next":"2018-03-11T03:30:00.12-07:00","LastUpdated":"2018-03-10T02:30:00+00:00"}`
	text, err := json.Marshal(s)
	if err != nil || string(text) != want {
		t.Fatalf("Marshal = %s, %v; want %s", text, err, want)
	}
	var back timer.Status
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if !back.Last.IsZero() || !back.Next.Equal(s.Next) || !back.LastUpdated.Equal(s.LastUpdated) {
		t.Errorf("read back: %+v, want %+v", back, s)
	}
	for _, bad := range []string{`{"Last":5}`, `{"Next":"soon"}`, `[]`} {
		if err := json.Unmarshal([]byte(bad), &back); err == nil {
			t.Errorf("Unmarshal(%s) gave no error", bad)
		}
	}
}

// The default date has an offset, and is read in every form (spec drift-2026 C-9).
func TestDefaultDate(t *testing.T) {
	t.Parallel()
	sydney, err := time.LoadLocation("Australia/Sydney")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		zone *time.Location
		want string
	}{
		{time.UTC, "0001-01-01T00:00:00+00:00"},
		{time.FixedZone("", 9*3600), "0001-01-01T09:00:00+09:00"},
		{time.FixedZone("", -7*3600), "0001-01-01T00:00:00-07:00"},
		{time.FixedZone("", 5*3600+1800), "0001-01-01T05:30:00+05:30"},
		{sydney, "0001-01-01T10:00:00+10:00"}, // daylight saving in January
	} {
		text, err := json.Marshal(timer.Status{Next: time.Date(2026, 1, 1, 0, 0, 0, 0, c.zone)})
		var got struct{ Last, LastUpdated string }
		if err != nil || json.Unmarshal(text, &got) != nil || got.Last != c.want || got.LastUpdated != c.want {
			t.Errorf("%s: %s, %v; want %s", c.zone, text, err, c.want)
		}
		if _, err := time.Parse(time.RFC3339, got.Last); err != nil {
			t.Error(err)
		}
		var back timer.Status
		if err := json.Unmarshal(text, &back); err != nil || !back.Last.IsZero() {
			t.Errorf("%s read back: %v, %v", c.zone, back.Last, err)
		}
	}
	for _, text := range []string{"0001-01-01T00:00:00", "0001-01-01T00:00:00Z", "0001-06-01T00:00:00+00:00", "0001-01-01T00:00:00+02:00"} {
		var s timer.Status
		if err := json.Unmarshal([]byte(`{"Last":"`+text+`","Next":"2026-01-01T00:00:00"}`), &s); err != nil || !s.Last.IsZero() || !s.Next.Equal(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)) {
			t.Errorf("%s: %v, %v", text, s, err)
		}
	}
}

func TestInfo(t *testing.T) {
	t.Parallel()
	// workers.md, row "structured": the payload of a timer without a monitor.
	got := timer.Info(mustParse(t, "0 0 * * * *"), nil, false)
	if want := `{"Schedule":{"AdjustForDST":true},"ScheduleStatus":null,"IsPastDue":false}`; got.Text != want {
		t.Errorf("Info = %s, want %s", got.Text, want)
	}
}
