package scenario_test

import (
	"os/exec"
	"strings"
	"testing"
)

// A function that the worker cannot load fails all its attempts, as one whose handler
// throws does. A scenario that does not name it in error ends with the reason; one that does
// may say where its messages go.
func TestUnloadedIsNoPoison(t *testing.T) {
	t.Parallel()
	const poisoned = `app: app
when: [{send: {queue: parcels, body: x}}]
then: {functions: {Ship: {attempts: 5, ends: poisonedEXPECTED}}, queues: {parcels-poison: [x]}}
`
	for program, of := range map[string]struct {
		file    string
		sources map[string]string // what is wrong with it, and the words that say so
	}{
		"node": {"index.js", map[string]string{
			"require('left-pad'); module.exports = async () => {};": "Cannot find module 'left-pad': run \"npm install\"",
			"throw new Error('config missing');":                    "config missing",
			"exports.one = 1; exports.two = 2;":                     "Unable to determine function entry point",
			"this is ( no program":                                  "Unexpected identifier",
		}},
		"python3": {"__init__.py", map[string]string{
			"import left_pad\ndef main(item):\n    raise Exception()": "No module named 'left_pad'",
			"raise Exception('config missing')":                       "config missing",
			"def other(item):\n    raise Exception()":                 "main",
			"def main(item -> None:":                                  "SyntaxError",
		}},
	} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(program); err != nil {
				t.Skipf("there is no %s in PATH", program)
			}
			for source, why := range of.sources {
				for expected, red := range map[string]string{
					"":                            why,
					`, inError: "cannot load"`:    "",
					`, inError: "another reason"`: "Ship is not in error so",
				} {
					got := inFolder(t, map[string]string{
						"app/host.json":          `{"version": "2.0"}`,
						"app/Ship/function.json": `{"scriptFile": "` + of.file + `", "bindings": [{"type": "queueTrigger", "direction": "in", "name": "item", "queueName": "parcels"}]}`,
						"app/Ship/" + of.file:    source,
						"a.scenario.yaml":        strings.Replace(poisoned, "EXPECTED", expected, 1),
					})
					if red == "" && got != "" || !strings.Contains(got, red) {
						t.Errorf("%s\nwith %q it says %q, want %q", source, expected, got, red)
					}
				}
			}
		})
	}
}
