//clock:outside the tests are clients of the kit

package kit_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/kit"
)

// unlimited has functions that may take more than the usual 30 minutes of virtual time.
var unlimited = object{"host": object{"functionTimeout": "-1"}} // read only

// A handler that waits for virtual time does not hold it still: it moves on in a call that
// moves it, the handler runs again at its time, and holds time still again.
func TestHandlersWaitForTime(t *testing.T) {
	t.Parallel()
	h := start(t).attach(object{}, map[string]func(*peerCall) error{
		"Nap": func(c *peerCall) error {
			for range 3 {
				c.log("before")
				if out := c.wait(object{"for": "00:05:00"}); out["stopped"] != "met" {
					return fmt.Errorf("the wait ended as %v", out)
				}
			}
			out := c.wait(object{"until": "2030-01-01T00:20:00Z"})
			c.log(fmt.Sprint("it is ", out["now"]))
			return nil
		},
	})
	h.send("nap", "1") // answers though the handler waits
	if at := h.get("/holds")["list"].([]any)[0].(object)["waitsUntil"]; at != "2030-01-01T00:05:00Z" {
		t.Errorf("the handler waits until %v", at)
	}
	out := h.post("/drive", object{"until": object{"completed": "Nap"}})
	if out["stopped"] != "met" || out["now"] != "2030-01-01T00:20:00Z" {
		t.Errorf("drive: %v", out)
	}
	var times []string
	for _, r := range h.post("/records", object{"pattern": object{"kind": "handler_log"}})["list"].([]any) {
		times = append(times, fmt.Sprint(r.(object)["time"].(string)[11:19], " ", r.(object)["message"]))
	}
	if got := strings.Join(times, ", "); got != "00:00:00 before, 00:05:00 before, 00:10:00 before, 00:20:00 it is 2030-01-01T00:20:00Z" {
		t.Errorf("lines: %s", got)
	}
	if a := h.get("/attempts")["list"].([]any); len(a) != 1 || a[0].(object)["status"] != "succeeded" {
		t.Errorf("attempts: %v", a)
	}
}

// A call says the host's time with each call of a handler, and where it can be waited for
// without the token.
func TestClockOfHandlers(t *testing.T) {
	t.Parallel()
	told := make(chan map[string]string, 2)
	h := start(t).attach(object{"start": "2031-05-06T07:08:09Z", "host": unlimited["host"]}, map[string]func(*peerCall) error{
		"Nap": func(c *peerCall) error {
			told <- c.attributes
			own := *c.client
			own.token, own.a.Address = "", c.attributes["redeliver.clock"]
			_, out := own.ask("POST", "/wait", object{"invocation": c.invocation, "for": "90m"})
			c.log(fmt.Sprint(out["stopped"], " ", out["now"]))
			return nil
		},
	})
	h.send("nap", "1")
	h.post("/drive", object{"until": object{"completed": "Nap"}})
	if got := (<-told)["redeliver.now"]; got != "2031-05-06T07:08:09.0000000Z" {
		t.Errorf("the handler was told %q", got)
	}
	if line := h.record(t, object{"kind": "handler_log"}); line["message"] != "met 2031-05-06T08:38:09Z" {
		t.Errorf("it says %v", line["message"])
	}
	own := *h.client
	own.token = ""
	for _, path := range []string{"/kit/clock/nobody/wait", "/kit/clock/wait", "/kit/clock/"} {
		if status, out := own.ask("POST", path, object{"for": "1s"}); status != 404 || out["code"] != string(kit.UnknownHost) {
			t.Errorf("POST %s: %d %v", path, status, out)
		}
	}
}

// A wait ends with its invocation: when the function's time is over, and when the host ends.
func TestWaitsEndWithTheirInvocation(t *testing.T) {
	t.Parallel()
	c := start(t)
	ends := make(chan string, 4)
	nap := map[string]func(*peerCall) error{
		"Nap": func(c *peerCall) error {
			out := c.wait(object{"for": "2h"})
			ends <- fmt.Sprint(out["stopped"], " ", out["now"])
			return errors.New("interrupted")
		},
	}
	h := c.attach(object{"host": object{"functionTimeout": "00:30:00"}}, nap)
	h.send("nap", "1")
	if out := h.post("/drive", object{"until": object{"settled": "Nap"}}); out["now"] != "2030-01-01T00:30:00Z" {
		t.Errorf("drive: %v", out)
	}
	if got := <-ends; got != "cancelled 2030-01-01T00:30:00Z" {
		t.Errorf("a wait past the function's time: %s", got)
	}
	if a := h.get("/attempts")["list"].([]any)[0].(object); a["status"] != "timed_out" {
		t.Errorf("the attempt: %v", a)
	}
	h = c.attach(object{}, nap)
	h.send("nap", "1")
	c.must("DELETE", h.path, nil)
	if got := <-ends; got != "cancelled 2030-01-01T00:00:10Z" { // what a host leaves its handlers when it stops
		t.Errorf("a wait in a host that ends: %s", got)
	}
	h = c.attach(object{}, nap)
	h.send("nap", "1")
	h.post("/crash", nil)
	if got := <-ends; got != "cancelled 2030-01-01T00:00:00Z" {
		t.Errorf("a wait in a host that crashes: %s", got)
	}
}

// Another wait of an invocation replaces the one before; a caller that leaves waits no more.
func TestWaitsReplaced(t *testing.T) {
	t.Parallel()
	leave, again, replaced := make(chan context.CancelFunc, 1), make(chan bool), make(chan bool)
	h := start(t).attach(unlimited, map[string]func(*peerCall) error{
		"Nap": func(c *peerCall) error {
			first := make(chan object, 1)
			go func() { first <- c.wait(object{"for": "2h"}); close(replaced) }()
			<-again
			second := c.wait(object{"for": "1h"})
			c.log(fmt.Sprint((<-first)["stopped"], " ", second["stopped"], " ", second["now"]))
			ctx, end := context.WithCancel(context.Background())
			leave <- end
			r, err := http.NewRequestWithContext(ctx, "POST", c.a.Address+c.path+"/clock/wait", strings.NewReader(fmt.Sprintf(`{"for":"5h","invocation":%q}`, c.invocation)))
			if err == nil {
				r.Header.Set("Authorization", "Bearer "+c.token)
				_, err = http.DefaultClient.Do(r)
			}
			if !errors.Is(err, context.Canceled) {
				c.t.Errorf("the wait that was left: %v", err)
			}
			return nil
		},
	})
	h.send("nap", "1") // which is answered when the handler sleeps
	close(again)
	<-replaced
	if out := h.post("/drive", object{"by": "61m"}); out["now"] != "2030-01-01T01:01:00Z" {
		t.Errorf("drive: %v", out)
	}
	if hold := h.get("/holds")["list"].([]any)[0].(object); hold["waitsUntil"] != "2030-01-01T06:00:00Z" {
		t.Errorf("it waits until %v", hold["waitsUntil"])
	}
	(<-leave)()
	h.follow("attempt_ended") // the handler has returned
	if line := h.record(t, object{"kind": "handler_log"}); line["message"] != "replaced met 2030-01-01T01:00:00Z" {
		t.Errorf("it says %v", line["message"])
	}
	if out := h.post("/drive", object{"until": object{"completed": "Nap"}}); out["now"] != "2030-01-01T01:01:00Z" {
		t.Errorf("the wait that was left has moved time: %v", out)
	}
}

// A wait that drives moves time by itself while no other call does, as far as it has to.
func TestWaitsThatDrive(t *testing.T) {
	t.Parallel()
	woken := make(chan object, 1)
	h := start(t).attach(unlimited, map[string]func(*peerCall) error{
		"Nap": func(c *peerCall) error {
			woken <- c.wait(object{"for": "2h", "drive": true})
			return nil
		},
	})
	h.send("nap", "1")
	if out := <-woken; out["stopped"] != "met" || out["now"] != "2030-01-01T02:00:00Z" {
		t.Errorf("the wait: %v", out)
	}
	if out := h.post("/drive", object{"until": object{"completed": "Nap"}}); out["stopped"] != "met" || out["now"] != "2030-01-01T02:00:00Z" {
		t.Errorf("drive: %v", out)
	}
	if out := h.post("/clock/wait", object{"for": "1h", "drive": true}); out["now"] != "2030-01-01T03:00:00Z" {
		t.Errorf("a wait of the test: %v", out)
	}
	if out := h.post("/drive", object{"by": "0s"}); out["now"] != "2030-01-01T03:00:00Z" {
		t.Errorf("after it: %v", out)
	}
}

// A wait of no invocation is a tick: nothing moves time for it, and it is served on the way.
func TestTicks(t *testing.T) {
	t.Parallel()
	c := start(t)
	h := c.host(pack(nil))
	ticked := make(chan object, 2)
	tick := func() { ticked <- h.post("/clock/wait", object{"until": "2030-01-01T01:00:00Z"}) }
	go tick()
	h.send("parcels", "1")
	if out := h.post("/drive", object{"until": object{"poisoned": "Pack"}}); out["now"] != "2030-01-01T00:00:00.4Z" {
		t.Errorf("drive: %v", out)
	}
	select {
	case out := <-ticked:
		t.Errorf("a tick has come early: %v", out)
	default:
	}
	h.post("/drive", object{"by": "2h"})
	if out := <-ticked; out["stopped"] != "met" {
		t.Errorf("the tick: %v", out)
	}
	late := c.host(pack(nil))
	go func() {
		_, out := c.ask("POST", late.path+"/clock/wait", object{"for": "1h"})
		ticked <- out
	}()
	c.must("DELETE", late.path, nil)
	if out := <-ticked; out["stopped"] != "cancelled" && out["code"] != string(kit.UnknownHost) {
		t.Errorf("a tick in a host that has ended: %v", out)
	}
}

// The same seed gives the same journal, though handlers that wait take real time as they like.
func TestSameJournalOfWaits(t *testing.T) {
	t.Parallel()
	c := start(t)
	play := func(n int) string {
		nap := func(span string) func(*peerCall) error {
			return func(c *peerCall) error {
				for i := range 3 {
					time.Sleep(time.Duration((n*7+i*3)%5) * time.Millisecond / 5)
					c.log(fmt.Sprint("round ", i))
					c.wait(object{"for": span})
				}
				if len(c.input)%2 == 0 {
					return errors.New("no bed")
				}
				return nil
			}
		}
		h := c.attach(object{"seed": 5}, map[string]func(*peerCall) error{"Nap": nap("1m"), "Doze": nap("90s"), "Rest": nap("1m")})
		for _, queue := range []string{"nap", "doze", "rest"} {
			h.post("/step", object{"step": object{"send": object{"queue": queue, "bodies": []any{1, 2, 30}}}})
		}
		h.post("/drive", object{"idle": true})
		text := h.journal()
		c.must("DELETE", h.path, nil)
		return text
	}
	want := play(0)
	if n := strings.Count(want, "handler_log"); n < 27 {
		t.Fatalf("%d lines of handlers:\n%s", n, want)
	}
	for i := range 8 {
		if got := play(i); got != want {
			t.Fatalf("run %d has another journal:\n%s\nwant\n%s", i, got, want)
		}
	}
}

// What cannot be is refused.
func TestRefusedWaits(t *testing.T) {
	t.Parallel()
	h := start(t).host(pack(nil))
	for _, row := range []struct {
		body   object
		status int
		code   kit.Code
		text   string
	}{
		{object{}, 400, kit.BadRequest, "say one of for and until"},
		{object{"for": "1m", "until": "2030-01-01T00:00:00Z"}, 400, kit.BadRequest, "say one of for and until"},
		{object{"for": 60}, 400, kit.BadRequest, "60 is no span of time"},
		{object{"for": "1m", "invocaton": "x"}, 400, kit.BadRequest, `did you mean "invocation"?`},
		{object{"for": "1m", "invocation": "x"}, 404, kit.NotFound, `no handler runs for invocation "x"`},
	} {
		status, out := h.ask("POST", h.path+"/clock/wait", row.body)
		if status != row.status || out["code"] != string(row.code) || !strings.Contains(fmt.Sprint(out["error"]), row.text) {
			t.Errorf("%v: %d %v, want %d %s %q", row.body, status, out, row.status, row.code, row.text)
		}
	}
}
