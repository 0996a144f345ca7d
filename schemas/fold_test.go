package schemas_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/redeliver/redeliver/schemas"
)

// TestFold: what the platform's configuration holds of a host.json in which keys stand
// twice. Source: host: HostJsonFileConfigurationSource.cs; every row but the last three
// was run on the platform's host, which logs its options and its allow list.
func TestFold(t *testing.T) {
	t.Parallel()
	const one = " stands here too: keys that differ only by case are one, and where both set a value the later one counts"
	const twice = "the key stands here twice, and the last one replaces the first"
	for name, c := range map[string]struct {
		text, want string
		warnings   []string
	}{
		"nothing twice": {`{"functions":["A"],"retry":{"strategy":"x"}}`, `{"functions":["A"],"retry":{"strategy":"x"}}`, nil},
		"objects merge on every level": {
			`{"extensions":{"queues":{"batchSize":1,"maxDequeueCount":7},"Queues":{"BatchSize":2}},"Extensions":{"queues":{"newBatchThreshold":3}}}`,
			`{"extensions":{"queues":{"batchSize":2,"maxDequeueCount":7,"newBatchThreshold":3}}}`,
			[]string{
				`host.json:1:70: extensions.Queues: found "Queues": "queues"` + one,
				`host.json:1:100: Extensions: found "Extensions": "extensions"` + one,
			},
		},
		"lists merge by index": {`{"functions":["A","B"],"Functions":["C"]}`, `{"functions":["C","B"]}`,
			[]string{`host.json:1:36: Functions: found "Functions": "functions"` + one}},
		"one spelling: the last replaces": {`{"extensions":{"queues":{"batchSize":1}},"extensions":{"queues":{"maxDequeueCount":7}}}`,
			`{"extensions":{"queues":{"maxDequeueCount":7}}}`, []string{`host.json:1:55: extensions: found "extensions": ` + twice}},
		"three, two of one spelling": {`{"extensions":{"queues":{"batchSize":1}},"Extensions":{"queues":{"maxDequeueCount":7}},"extensions":{"queues":{"newBatchThreshold":2}}}`,
			`{"extensions":{"queues":{"newBatchThreshold":2,"maxDequeueCount":7}}}`, []string{
				`host.json:1:55: Extensions: found "Extensions": "extensions"` + one,
				`host.json:1:101: extensions: found "extensions": ` + twice,
			}},
		"the version is no other key": {`{"version":"2.0","Version":"3.0"}`, `{"version":"2.0","Version":"3.0"}`, nil},
		"a value beside what is below": {`{"functions":["A"],"Functions":"B","a":"x","A":{"b":1}}`, `{"functions":["A"],"a":{"b":1}}`, []string{
			`host.json:1:32: Functions: found "Functions": "functions"` + one,
			`host.json:1:48: A: found "A": "a"` + one,
		}},
		"an empty object changes nothing": {`{"retry":{"strategy":"x"},"Retry":{}}`, `{"retry":{"strategy":"x"}}`,
			[]string{`host.json:1:35: Retry: found "Retry": "retry"` + one}},
		"a list and an object": {`{"functions":["A","B"],"Functions":{"1":"C","2":"D"}}`, `{"functions":{"0":"A","1":"C","2":"D"}}`,
			[]string{`host.json:1:36: Functions: found "Functions": "functions"` + one}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := parse(t, "host.json", c.text)
			if diff := cmp.Diff(texts(d.Fold(schemas.HostJSON)), c.warnings); diff != "" {
				t.Errorf("warnings (-got +want)\n%s", diff)
			}
			if got := string(d.JSON()); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if again := d.Fold(schemas.HostJSON); len(again) > 0 {
				t.Errorf("folded again: %v", texts(again))
			}
		})
	}
}

// TestFoldUnderAnOverride: a setting goes over all spellings of its key.
func TestFoldUnderAnOverride(t *testing.T) {
	t.Parallel()
	d := parse(t, "host.json", `{"extensions":{"queues":{"batchSize":1}},"Extensions":{"Queues":{"BatchSize":2}}}`)
	d.Fold(schemas.HostJSON)
	d.Override([]string{"EXTENSIONS", "queues", "batchSize"}, "9", "environment")
	if got, want := string(d.JSON()), `{"extensions":{"queues":{"batchSize":"9"}}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
