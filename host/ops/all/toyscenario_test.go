package all_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/host/ops/all"
	"github.com/redeliver/redeliver/host/ops/toytest"
	"github.com/redeliver/redeliver/host/scenario"
)

// With its row a service has its steps, its places of faults and its expectations in scenarios.
func TestToyScenario(t *testing.T) {
	t.Parallel()
	const text = `functions: {Ship: {trigger: {type: queueTrigger, queueName: orders}, handler: succeed}}
when:
  - ring: {bell: door, body: knock}
  - ring: {bell: door, body: {id: 7}}
  - expect: {bells: {door: [knock, {id: 7}], tower: 0}}
  - fault: {bell: tower, operation: Silence, required: false}
  - purge: {bell: door}
  - ring: {bell: door, body: late}
then:
  bells: {door: 1}
  nothingElse: true
`
	for name, test := range map[string]struct{ old, new, want string }{
		"as it is":           {"", "", ""},
		"another word":       {"door: [knock,", "door: [knocks,", "when[2].expect.bells.door: bell \"door\" holds other messages\n  want  \"knocks\", \"{\\\"id\\\":7}\"\n  got   \"knock\", \"{\\\"id\\\":7}\""},
		"another number":     {"door: 1}", "door: 2}", "then.bells.door: bell \"door\" holds other messages\n  want  2\n  got   \"late\""},
		"a bell of a slip":   {"{bell: door, body: late}", "{bell: dor, body: late}", "when[5].ring.bell: there is no bell \"dor\"; did you mean \"door\"?"},
		"an expected slip":   {"bells: {door: 1}", "bells: {dor: 1}", "then.bells.dor: there is no bell \"dor\"; did you mean \"door\"?"},
		"a step of a slip":   {"- ring: {bell: door, body: late}", "- rng: {bell: door, body: late}", "when[5].rng"},
		"a member of a slip": {"{bell: door, body: late}", "{bell: door, bdy: late}", "when[5].ring.bdy"},
		"no bell":            {"{bell: door, body: late}", "{body: late}", "when[5].ring: the step names 0 places; allowed: one of bell"},
		"of another":         {"purge: {bell: door}", "purge: {bell: door, queue: orders}", "when[4].purge: found bell, queue: the step names 2 places; allowed: one of bell, container, cosmos, queue, serviceBus"},
		"nothing to purge":   {"fault: {bell: tower, operation: Silence, required: false}\n  - purge: {bell: door}", "purge: {bell: tower}", "when[3].purge: there is nothing to purge there"},
		"a fault":            {"operation: Silence, required: false}", "operation: Silence, error: stuck}\n  - purge: {bell: tower}", "when[4].purge: stuck"},
		"a fault of a slip":  {"operation: Silence,", "operation: Silnce,", "bells has no operation \"Silnce\"; did you mean \"Silence\"?"},
		"a fault of nothing": {"fault: {bell: tower,", "fault: {bell: towr,", "when[3].fault.bell: there is no bell \"towr\"; did you mean \"tower\"?"},
		"an unmet fault":     {", required: false}", "}", "when[3].fault: the fault still waits"},
		"something else":     {"  bells: {door: 1}\n", "", "then.nothingElse: bell \"door\" holds messages"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "bells.scenario.yaml")
			if err := os.WriteFile(file, []byte(strings.Replace(text, test.old, test.new, 1)), 0o600); err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			list, faults := scenario.LoadWith(append(all.Table(), toytest.New("door", "tower").Row()), file)
			for _, f := range faults {
				got.WriteString(f.Error() + "\n")
			}
			for _, s := range list {
				for _, f := range scenario.Run(t.Context(), s, nil).Failures {
					got.WriteString(f.String() + "\n")
				}
			}
			if test.want == "" && got.Len() > 0 || !strings.Contains(got.String(), test.want) {
				t.Errorf("got  %s\nwant %s in it", got.String(), test.want)
			}
		})
	}
}
