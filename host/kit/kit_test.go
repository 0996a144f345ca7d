//clock:outside the tests are clients of the kit

package kit_test

import (
	"fmt"
	"strings"
	"testing"
)

// pack is a function without code that fails.
func pack(more object) object {
	f := object{"trigger": object{"type": "queueTrigger", "queueName": "parcels"}, "handler": "fail"}
	for name, value := range more {
		f[name] = value
	}
	return object{"functions": object{"Pack": f}}
}

var fixed = object{"strategy": "fixedDelay", "maxRetryCount": 4, "delayInterval": "00:00:30"} // read only

// A queue message is poison after five deliveries, and the run can be asked about all of it.
func TestPoison(t *testing.T) {
	t.Parallel()
	h := start(t).host(pack(nil))
	h.send("parcels", `{"id":7}`)
	out := h.post("/drive", object{"until": object{"poisoned": "Pack"}})
	if out["stopped"] != "met" || out["record"].(object)["decision"] != "poisoned" || out["seq"] != out["record"].(object)["seq"] {
		t.Errorf("drive until poisoned: %v", out)
	}
	if got := h.deliveries("Pack"); got != "[1 1 1 1 1]" {
		t.Errorf("deliveries %s", got)
	}
	if out := h.post("/expect", object{"then": object{
		"functions": object{"Pack": object{"deliveries": []int{1, 1, 1, 1, 1}, "ends": "poisoned"}},
		"queues":    object{"parcels-poison": []any{object{"id": 7}}},
	}}); len(out) != 0 {
		t.Errorf("what holds: %v", out)
	}
	out = h.post("/expect", object{"then": object{"functions": object{"Pack": object{"attempts": 4}}}})
	text, _ := out["text"].(string)
	for _, want := range []string{"functions.Pack.attempts: Pack made another number of attempts\n  want  4\n  got   5", "delivery 1 of 5", "seed 1; again with REDELIVER_SEED=1"} {
		if !strings.Contains(text, want) {
			t.Errorf("the failure does not say %q:\n%s", want, text)
		}
	}
	if out := h.must("DELETE", h.path, nil); len(out) != 0 {
		t.Errorf("the end: %v", out)
	}
}

// A crash between attempts begins the count anew.
func TestCrashBetweenAttempts(t *testing.T) {
	t.Parallel()
	h := start(t).host(pack(object{"retry": fixed}))
	h.post("/crash", object{"function": "Pack", "point": "betweenAttempts", "nth": 3})
	h.send("parcels", "7")
	h.post("/start", nil)
	if out := h.post("/drive", object{"until": object{"poisoned": "Pack"}}); out["stopped"] != "met" {
		t.Errorf("drive: %v", out)
	}
	if got := h.deliveries("Pack"); got != "[3 5 5 5 5]" {
		t.Errorf("deliveries %s", got)
	}
}

// Ten deliveries of five attempts, then the dead-letter queue.
func TestDeadLetter(t *testing.T) {
	t.Parallel()
	h := start(t).host(object{"functions": object{"Ship": object{
		"trigger": object{"type": "serviceBusTrigger", "queueName": "parcels", "connection": "AzureWebJobsServiceBus"}, "retry": fixed, "handler": "fail",
	}}})
	h.post("/step", object{"step": object{"send": object{"serviceBus": "parcels", "body": object{"id": 7}, "messageId": "m7"}}})
	if out := h.post("/drive", object{"until": object{"deadLettered": "parcels"}}); out["stopped"] != "met" {
		t.Errorf("drive: %v", out)
	}
	if got := h.deliveries("Ship"); got != "[5 5 5 5 5 5 5 5 5 5]" {
		t.Errorf("deliveries %s", got)
	}
	list := h.get("/attempts?function=Ship")["list"].([]any)
	last := list[len(list)-1].(object)
	if got := fmt.Sprint([]any{last["delivery"], last["attempt"], last["retryCount"], last["maxRetryCount"], last["decision"], last["status"]}); got != "[10 5 4 4 exhausted failed]" {
		t.Errorf("the last attempt is %s", got)
	}
	if out := h.post("/drive", object{"until": object{"deadLettered": true}}); out["stopped"] != "idle" || !strings.Contains(fmt.Sprint(out["text"]), "nothing is left to happen") {
		t.Errorf("a second one: %v", out)
	}
}
