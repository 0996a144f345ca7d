package timer_test

import (
	"strings"
	"testing"

	"github.com/redeliver/redeliver/triggers/timer"
)

// A feature of Quartz that this grammar lacks is named in the error; names of days
// and months with the same letters are read.
func TestQuartz(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"0 0 12 * * ?", "0 0 12 ? * *", "0 0 12 L * *", "0 0 12 15W * *", "0 0 12 LW * *", "0 0 12 * * 6L", "0 0 12 * * 6#2"} {
		if _, err := timer.ParseSchedule(text); err == nil || !strings.Contains(err.Error(), "Quartz") {
			t.Errorf("%s: got %v, want an error that names Quartz", text, err)
		}
	}
	for _, text := range []string{"0 0 12 * * WED", "0 0 12 * JUL *", "0 0 12 * APR-JUL WED"} {
		if _, err := timer.ParseSchedule(text); err != nil {
			t.Errorf("%s: got %v", text, err)
		}
	}
}
