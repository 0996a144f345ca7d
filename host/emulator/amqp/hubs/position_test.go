package hubs

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings/eventhubs"
)

func TestParseSelector(t *testing.T) {
	t.Parallel()
	number := func(n int64) *int64 { return &n }
	for text, want := range map[string]*eventhubs.Position{
		"amqp.annotation.x-opt-offset > '-1'":          {Offset: "-1"},
		"amqp.annotation.x-opt-offset > '@latest'":     {Latest: true},
		"amqp.annotation.x-opt-offset >= '@latest'":    {Latest: true},
		"amqp.annotation.x-opt-offset >= '12'":         {Offset: "12", Inclusive: true},
		"amqp.annotation.x-opt-sequence-number > '7'":  {SequenceNumber: number(7)},
		"amqp.annotation.x-opt-sequence-number >= 7":   {SequenceNumber: number(7), Inclusive: true},
		"amqp.annotation.x-opt-enqueued-time > '1500'": {EnqueuedTime: time.UnixMilli(1500).UTC()},
		"amqp.annotation.x-opt-enqueued-time >1500":    {EnqueuedTime: time.UnixMilli(1500).UTC()},
		"":                                            nil,
		"amqp.annotation.x-opt-offset":                nil,
		"amqp.annotation.x-opt-offset > ":             nil,
		"amqp.annotation.x-opt-offset > ''":           nil,
		"amqp.annotation.x-opt-color > 'red'":         nil,
		"x-opt-offset > '1'":                          nil,
		"amqp.annotation.x-opt-sequence-number > 'x'": nil,
		"amqp.annotation.x-opt-enqueued-time > 'x'":   nil,
	} {
		got, err := parseSelector(text)
		if (err == nil) != (want != nil) {
			t.Errorf("%q: %+v, %v", text, got, err)
			continue
		}
		if want != nil {
			if diff := cmp.Diff(*want, got); diff != "" {
				t.Errorf("%q (-want +got):\n%s", text, diff)
			}
		}
	}
}

func FuzzParseSelector(f *testing.F) {
	f.Add("amqp.annotation.x-opt-offset > '-1'")
	f.Fuzz(func(_ *testing.T, text string) { _, _ = parseSelector(text) })
}
