//clock:outside the tests are clients of the kit

package kit_test

import (
	"fmt"
	"testing"
	"time"
)

// Waits see the records of all instances, each once, and stop when the record is there; what an
// instance has lost in a crash is lost, and every instance that has crashed starts again.
func TestInstances(t *testing.T) {
	t.Parallel()
	app := func(handler any) object {
		out := pack(object{"handler": handler})
		out["instances"] = true
		return out
	}
	t.Run("waits", func(t *testing.T) {
		h := start(t).host(app("fail"))
		h.post("/instances", nil)
		for m := range 4 {
			h.send("parcels", fmt.Sprint(m))
		}
		seen := map[any]bool{}
		for m := range 4 {
			out := h.post("/drive", object{"until": object{"poisoned": "Pack"}})
			if out["stopped"] != "met" {
				t.Fatalf("poisoned message %d of 4: %v, %v", m+1, out["stopped"], out["text"])
			}
			record := out["record"].(object)
			if id := record["message_id"]; seen[id] {
				t.Errorf("message %v is waited for twice", id)
			} else {
				seen[id] = true
			}
			at, _ := time.Parse(time.RFC3339, fmt.Sprint(record["time"]))
			if now, err := time.Parse(time.RFC3339, fmt.Sprint(out["now"])); err != nil || !now.Equal(at) {
				t.Errorf("the record is of %v, and it is %v", record["time"], out["now"])
			}
		}
		if out := h.post("/drive", object{"until": object{"poisoned": "Pack"}}); out["stopped"] != "idle" {
			t.Errorf("a fifth one: %v", out)
		}
		if status, out := h.ask("POST", h.path+"/drive", object{"until": object{"poisoned": true}, "after": 1}); status != 400 {
			t.Errorf("after a number of several journals: %d %v", status, out)
		}
	})
	for _, c := range []struct {
		name  string
		crash object
	}{
		{"a point", object{"function": "Pack", "point": "beforeHandler"}},
		{"the first", object{"function": "Pack", "point": "beforeHandler", "instance": 1}},
		{"the second", object{"function": "Pack", "point": "beforeHandler", "instance": 2}},
	} {
		t.Run("crash of "+c.name, func(t *testing.T) {
			h := start(t).host(app("fail"))
			h.post("/instances", nil)
			h.post("/crash", c.crash)
			h.send("parcels", "7")
			h.post("/start", nil)
			if out := h.post("/drive", object{"until": object{"poisoned": "Pack"}}); out["stopped"] != "met" {
				t.Errorf("drive: %v, %v", out["stopped"], out["text"])
			}
			count := map[any]int{}
			for _, a := range h.get("/attempts")["list"].([]any) {
				count[a.(object)["status"]]++
			}
			if fmt.Sprint(count) != "map[failed:4 lost:1]" {
				t.Errorf("attempts: %v", count)
			}
			if out := h.get("/holds")["list"].([]any); len(out) > 0 {
				t.Errorf("time is held by %v", out)
			}
		})
	}
	t.Run("a crash of the second at once", func(t *testing.T) {
		h := start(t).host(app("succeed"))
		h.post("/instances", nil)
		h.post("/crash", object{"instance": 2})
		h.post("/start", nil)
		h.must("DELETE", h.path+"/instances/1", nil)
		h.send("parcels", "7")
		h.post("/drive", object{"until": object{"completed": "Pack"}})
		if list := h.get("/attempts")["list"].([]any); len(list) != 1 || list[0].(object)["deliveryId"] != "2.2/d1" {
			t.Errorf("the second instance, started again, alone: %v", list)
		}
	})
	t.Run("one that is dead", func(t *testing.T) {
		h := start(t).host(pack(nil))
		h.post("/crash", object{"function": "Pack", "point": "beforeHandler"})
		h.send("parcels", "7")
		if got := h.get("/attempts")["list"].([]any)[0].(object)["status"]; got != "lost" {
			t.Errorf("the attempt of a host that has crashed is %v", got)
		}
	})
}
