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
	const want = `{"Last":"0001-01-01T00:00:00","Next":"2018-03-11T03:30:00.12-07:00","LastUpdated":"2018-03-10T02:30:00+00:00"}`
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

func TestInfo(t *testing.T) {
	t.Parallel()
	// workers.md, row "structured": the payload of a timer without a monitor.
	got := timer.Info(mustParse(t, "0 0 * * * *"), nil, false)
	if want := `{"Schedule":{"AdjustForDST":true},"ScheduleStatus":null,"IsPastDue":false}`; got.Text != want {
		t.Errorf("Info = %s, want %s", got.Text, want)
	}
}
