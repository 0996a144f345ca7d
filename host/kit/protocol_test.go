//clock:outside the tests are clients of the kit

package kit_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/kit"
)

// Every refusal is JSON with a code that the list has, and says what was meant.
func TestRefusals(t *testing.T) {
	t.Parallel()
	c := start(t)
	h := c.host(pack(nil))
	down := c.host(pack(nil))
	down.post("/crash", nil)
	for _, row := range []struct {
		method, path string
		body         any
		status       int
		code         kit.Code
		text         string
	}{
		{"GET", "/", nil, 404, kit.UnknownPath, "there is no operation GET /"},
		{"POST", "/kit/host", nil, 404, kit.UnknownPath, "there is no operation POST /kit/host"},
		{"PUT", "/kit/hosts", nil, 404, kit.UnknownPath, "there is no operation PUT /kit/hosts"},
		{"POST", h.path + "/drve", nil, 404, kit.UnknownPath, "/drve"},
		{"GET", h.path + "/admin/redeliver/nothing", nil, 404, kit.UnknownPath, "there is no operation GET /admin/redeliver/nothing"},
		{"GET", h.path + "/admin/redeliver/queues/none/messages", nil, 404, kit.NotFound, "none"},
		{"POST", "/kit/hosts/h99/drive", object{"idle": true}, 404, kit.UnknownHost, `there is no host "h99"`},
		{"GET", "/kit/hosts/h99/admin/redeliver/status", nil, 404, kit.UnknownHost, `there is no host "h99"`},
		{"GET", "/kit/hosts/h99/http/api/x", nil, 404, kit.UnknownHost, `there is no host "h99"`},
		{"POST", "/kit/hosts", object{"functons": object{}}, 400, kit.BadRequest, `"functons" is no member of this request; did you mean "functions"?`},
		{"POST", "/kit/hosts", object{"seed": -1}, 400, kit.BadRequest, "seed is a number -1, which it cannot be"},
		{"POST", "/kit/hosts", object{"functions": object{"A": object{"handler": "fail"}}, "seed": 1 << 53}, 400, kit.BadRequest, "want at most 9007199254740991"},
		{"POST", "/kit/hosts", object{}, 400, kit.BadRequest, "the host has no functions"},
		{"POST", "/kit/hosts", object{"app": "shop"}, 400, kit.BadRequest, `app "shop" is a relative path`},
		{"POST", "/kit/hosts", object{"app": "/nowhere/at/all"}, 409, kit.AppInvalid, "there is no folder"},
		{"POST", "/kit/hosts", object{"functions": object{"A": object{"triger": object{}}}}, 400, kit.BadRequest, `did you mean "trigger"?`},
		{"POST", "/kit/hosts", object{"functions": object{"A": object{"trigger": object{"type": "queueTrigger"}, "handler": "fail"}}}, 409, kit.AppInvalid, "queueName"},
		{"POST", "/kit/hosts", object{"functions": object{"A": object{"trigger": object{"type": "queueTrigger", "queueName": "a"}, "handler": object{"attached": true}}}}, 400, kit.BadRequest, `in a host with "attached": true`},
		{"POST", "/kit/hosts", "{", 400, kit.BadRequest, "the body is no JSON"},
		{"POST", h.path + "/drive", nil, 400, kit.BadRequest, "say one of by, jump, next, idle and until: 0 are there"},
		{"POST", h.path + "/drive", object{"idle": true, "next": true}, 400, kit.BadRequest, "2 are there"},
		{"POST", h.path + "/drive", object{"by": 30}, 400, kit.BadRequest, "30 is no span of time"},
		{"POST", h.path + "/drive", object{"by": "soon"}, 400, kit.BadRequest, `"soon" is no span of time`},
		{"POST", h.path + "/drive", object{"by": "-5s"}, 400, kit.BadRequest, `"-5s" is below zero, and time moves forward only`},
		{"POST", h.path + "/drive", object{"by": "200000d"}, 400, kit.BadRequest, `"200000d" is no span of time`},
		{"POST", h.path + "/drive", object{"by": nil}, 400, kit.BadRequest, "by is null: give it a value, or leave it out"},
		{"POST", h.path + "/drive", object{"by": "1s", "horizon": "1s"}, 400, kit.BadRequest, "horizon is for until and idle"},
		{"POST", h.path + "/drive", object{"idle": true, "horizon": "0s"}, 400, kit.BadRequest, "horizon is zero"},
		{"POST", h.path + "/drive", object{"idle": true, "after": 3}, 400, kit.BadRequest, "after is for until"},
		{"POST", h.path + "/drive", object{"until": object{"settled": true}, "after": 999}, 400, kit.BadRequest, "after is 999, and the journal's last record is 2"},
		{"POST", h.path + "/drive", `{"idle":true} {}`, 400, kit.BadRequest, "the body goes on after its object"},
		{"POST", h.path + "/drive", object{"until": object{"kind": "settled", "function": nil}}, 400, kit.BadRequest, "until.function is null"},
		{"POST", h.path + "/drive", object{"until": object{"status": "faild"}}, 400, kit.BadRequest, `did you mean "failed"?`},
		{"POST", h.path + "/drive", object{"until": object{"level": "warnin"}}, 400, kit.BadRequest, `did you mean "warning"?`},
		{"POST", h.path + "/drive", object{"until": object{"source": "parcel"}}, 404, kit.NotFound, `nothing is called "parcel"; did you mean "parcels"?`},
		{"POST", h.path + "/drive", object{"until": object{"decision": "/poisond/"}}, 400, kit.BadRequest, `no delivery is settled as "/poisond/"`},
		{"POST", h.path + "/drive", object{"until": object{"kind": "/settled"}}, 400, kit.BadRequest, `no record is of kind "/settled"`},
		{"POST", h.path + "/records", object{"pattern": nil}, 400, kit.BadRequest, "pattern is null"},
		{"POST", h.path + "/restart", object{"now": true}, 400, kit.BadRequest, "the request has a body, and the operation takes none"},
		{"GET", h.path + "/attempts?fuction=Pack", nil, 400, kit.BadRequest, `"fuction" is no parameter of this request; did you mean "function"?`},
		{"GET", h.path + "/attempts?function=Pack&function=Ship", nil, 400, kit.BadRequest, `the parameter "function" stands there 2 times`},
		{"GET", h.path + "/holds?function=Pack", nil, 400, kit.BadRequest, `"function" is no parameter of this request; it has none`},
		{"POST", h.path + "/clock/wait", object{"for": "-3s"}, 400, kit.BadRequest, `"-3s" is below zero`},
		{"POST", h.path + "/crash", object{"nth": 3}, 409, kit.StepFailed, "it needs function and point"},
		{"POST", h.path + "/crash", object{"function": "Pack", "point": "beforeSettle", "nth": 0}, 400, kit.BadRequest, "crash.nth"},
		{"POST", h.path + "/crash", object{"function": "", "point": ""}, 400, kit.BadRequest, "is empty"},
		{"POST", h.path + "/crash", object{"instance": -1}, 400, kit.BadRequest, "crash.instance"},
		{"POST", h.path + "/expire-locks", object{}, 400, kit.BadRequest, "entity is missing"},
		{"POST", "/kit/hosts", object{"functions": object{"A": object{"handler": "fail"}}, "seed": nil}, 400, kit.BadRequest, "seed is null"},
		{"POST", "/kit/hosts", object{"functions": object{"A": object{"handler": "fail"}}, "settings": object{"MODE": nil}}, 400, kit.BadRequest, "settings.MODE is null"},
		{"POST", "/kit/hosts", object{"functions": object{"A": object{"handler": []any{}}}}, 400, kit.BadRequest, "functions.A.handler is an empty list"},
		{"POST", h.path + "/drive", object{"until": object{}}, 400, kit.BadRequest, "until is empty"},
		{"POST", h.path + "/drive", object{"until": object{"poisned": "Pack"}}, 400, kit.BadRequest, `did you mean "poisoned"?`},
		{"POST", h.path + "/drive", object{"until": object{"poisoned": "Pak"}}, 404, kit.NotFound, `did you mean "Pack"?`},
		{"POST", h.path + "/drive", object{"until": object{"poisoned": 7}}, 400, kit.BadRequest, "want the name of a function, or true"},
		{"POST", h.path + "/drive", object{"until": object{"poisoned": "Pack", "settled": "Pack"}}, 400, kit.BadRequest, "stands alone"},
		{"POST", h.path + "/drive", object{"until": object{"kind": "setled"}}, 400, kit.BadRequest, `did you mean "settled"?`},
		{"POST", h.path + "/drive", object{"until": object{"decision": "poisond"}}, 400, kit.BadRequest, `did you mean "poisoned"?`},
		{"POST", h.path + "/drive", object{"until": object{"function": "Pac"}}, 404, kit.NotFound, `did you mean "Pack"?`},
		{"POST", h.path + "/drive", object{"until": object{"message": "/(/"}}, 400, kit.BadRequest, "is not a regular expression"},
		{"POST", h.path + "/expect", object{"then": object{"function": object{}}}, 400, kit.BadRequest, `did you mean "functions"?`},
		{"POST", h.path + "/expect", object{"functions": object{}}, 400, kit.BadRequest, `"functions" is no member of this request`},
		{"GET", h.path + "/attempts?function=Pak", nil, 404, kit.NotFound, `did you mean "Pack"?`},
		{"GET", h.path + "/attempts?function=", nil, 404, kit.NotFound, `the app has no function ""`},
		{"POST", h.path + "/drive", object{"until": object{"deadLettered": "parcls"}}, 404, kit.NotFound, `there is no Service Bus entity "parcls"`},
		{"POST", h.path + "/records", object{"pattern": object{}}, 400, kit.BadRequest, "pattern is empty"},
		{"POST", h.path + "/records", object{"pattern": object{"kidn": "settled"}}, 400, kit.BadRequest, `pattern.kidn: no record has this member; did you mean "kind"?`},
		{"POST", h.path + "/records", object{"pattern": object{"kind": "setled"}}, 400, kit.BadRequest, `pattern.kind: no record is of kind "setled"; did you mean "settled"?`},
		{"POST", h.path + "/records", object{"pattern": object{"function": "Pak"}}, 404, kit.NotFound, `did you mean "Pack"?`},
		{"POST", h.path + "/records", object{"pattern": object{"attempt": "1"}}, 400, kit.BadRequest, `pattern.attempt: no record has "1" here: want a whole number of 1 or more`},
		{"POST", h.path + "/records", object{"pattern": object{"kind": "attempt_ended", "status": "faild"}}, 400, kit.BadRequest, `no attempt ends as "faild"; did you mean "failed"?`},
		{"POST", h.path + "/drive", object{"until": object{"attempt": 0}}, 400, kit.BadRequest, "until.attempt: no record has 0 here"},
		{"POST", h.path + "/drive", object{"until": object{"kind": 7}}, 400, kit.BadRequest, "until.kind: no record has 7 here"},
		{"POST", h.path + "/start", nil, 409, kit.StepFailed, "no crash was asked for"},
		{"POST", h.path + "/step", object{"step": object{"start": true}}, 409, kit.StepFailed, "no crash was asked for"},
		{"POST", h.path + "/call", object{"function": "Pak"}, 404, kit.NotFound, `did you mean "Pack"?`},
		{"POST", h.path + "/crash", object{"function": "Pack", "point": "betweenAttemps"}, 400, kit.BadRequest, "betweenAttempts"},
		{"POST", h.path + "/crash", object{"function": "Pak", "point": "betweenAttempts"}, 409, kit.StepFailed, `did you mean "Pack"?`},
		{"POST", h.path + "/step", object{"step": object{"sned": object{}}}, 400, kit.BadRequest, `did you mean "send"?`},
		{"POST", h.path + "/step", object{"step": object{"send": object{"queue": "parcel", "body": "x"}}}, 409, kit.StepFailed, `did you mean "parcels"?`},
		{"POST", h.path + "/expire-locks", object{"entity": "parcels"}, 409, kit.StepFailed, `there is no Service Bus entity "parcels"`},
		{"POST", down.path + "/drive", object{"idle": true}, 409, kit.HostDown, "the host has crashed"},
		{"POST", down.path + "/call", object{"function": "Pack"}, 409, kit.HostDown, "the host has crashed"},
	} {
		status, out := c.ask(row.method, row.path, row.body)
		text := fmt.Sprint(out["error"], out["hint"])
		if status != row.status || out["code"] != string(row.code) || !strings.Contains(text, row.text) {
			t.Errorf("%s %s %v:\n got %d %v %s\nwant %d %s %q", row.method, row.path, row.body, status, out["code"], text, row.status, row.code, row.text)
		}
		if code, _ := out["code"].(string); !slices.Contains(kit.Codes(), kit.Code(code)) {
			t.Errorf("%s %s: code %q is none of the list", row.method, row.path, code)
		}
	}
	stranger := *c
	stranger.token = "another"
	if status, out := stranger.ask("GET", h.path+"/attempts", nil); status != 401 || out["code"] != string(kit.Unauthorized) {
		t.Errorf("without the token: %d %v", status, out)
	}
	if got := len(h.get("/attempts")["list"].([]any)); got != 0 {
		t.Errorf("refusals started %d attempts", got)
	}
}

// A drive stops where it says, and time moves by nothing else.
func TestDrive(t *testing.T) {
	t.Parallel()
	c := start(t)
	h := c.host(pack(object{"retry": fixed}))
	begins := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(out object, stopped string, want time.Duration) {
		t.Helper()
		now, err := time.Parse(time.RFC3339Nano, fmt.Sprint(out["now"]))
		if err != nil || out["stopped"] != stopped || now.Sub(begins) != want {
			t.Errorf("got %v at %v, want %s at %v", out["stopped"], now.Sub(begins), stopped, want)
		}
	}
	h.send("parcels", "1")
	at(h.post("/drive", object{"by": "0s"}), "met", 0)
	if got := h.deliveries("Pack"); got != "[1]" {
		t.Errorf("a send has made deliveries %s", got)
	}
	at(h.post("/drive", object{"by": "00:00:10"}), "met", 10*time.Second)
	at(h.post("/drive", object{"next": true}), "met", 30*time.Second)
	at(h.post("/drive", object{"until": object{"kind": "attempt_ended", "attempt": 3}}), "met", time.Minute)
	at(h.post("/drive", object{"until": object{"kind": "attempt_ended", "attempt": 9}, "horizon": "1m"}), "horizon", 2*time.Minute)
	out := h.post("/drive", object{"until": object{"kind": "settled"}, "after": 0})
	at(out, "met", 2*time.Minute) // which exists already
	if out := h.post("/drive", object{"until": object{"poisoned": true}}); out["stopped"] != "met" || out["now"] != out["record"].(object)["time"] {
		t.Errorf("after the record %v it is %v", out["record"], out["now"])
	}
	if out := h.post("/drive", object{"idle": true}); out["stopped"] != "idle" {
		t.Errorf("idle: %v", out)
	}
	before := h.post("/drive", object{"by": "0s"})["now"]
	h.send("parcels", "2")
	h.post("/crash", object{"function": "Pack", "point": "betweenAttempts"})
	if out := h.post("/drive", object{"by": "1m"}); out["stopped"] != "crashed" {
		t.Errorf("a drive into a crash: %v", out)
	}
	if before == nil {
		t.Error("no time")
	}
	if got := h.post("/expect", object{"then": object{"functions": object{"Pack": object{"exists": false}}}}); got["failures"] == nil {
		t.Errorf("a dead host is looked at: %v", got)
	}
}

// What a handler that is slow, or a test that has given up, leaves behind: calls beside a drive
// enqueue and look, a second drive is refused, and a drive whose caller has left stops.
func TestBesideADrive(t *testing.T) {
	t.Parallel()
	c := start(t)
	h := c.host(object{"functions": object{"Pack": object{
		"trigger": object{"type": "queueTrigger", "queueName": "parcels"}, "handler": object{"do": "fail"},
		"retry": object{"strategy": "fixedDelay", "maxRetryCount": -1, "delayInterval": "00:00:00.0010000"},
	}}})
	h.send("parcels", "1")
	ctx, leave := context.WithCancel(context.Background())
	left := make(chan error)
	go func() {
		for { // the ones below may have the turn
			r, err := http.NewRequestWithContext(ctx, "POST", c.a.Address+h.path+"/drive", strings.NewReader(`{"by":"300d"}`))
			if err == nil {
				r.Header.Set("Authorization", "Bearer "+c.token)
				var resp *http.Response
				if resp, err = http.DefaultClient.Do(r); err == nil {
					_ = resp.Body.Close()
				}
			}
			if err != nil {
				left <- err
				return
			}
		}
	}()
	for {
		status, out := c.ask("POST", h.path+"/drive", object{"by": "0s"})
		if status == 409 && out["code"] == string(kit.Busy) {
			break // the first one is under way
		}
		if status != 200 {
			t.Fatalf("a second drive: %d %v", status, out)
		}
	}
	h.send("others", "2") // only enqueues: no deadlock
	leave()
	if err := <-left; err == nil {
		t.Error("a drive that was left has answered")
	}
	for {
		status, out := c.ask("POST", h.path+"/drive", object{"by": "0s"})
		if status == 200 {
			break // the turn is free again, long before its 300 days
		}
		if out["code"] != string(kit.Busy) {
			t.Fatalf("after it: %d %v", status, out)
		}
	}
	c.must("DELETE", h.path, nil)
}

// A host ends though a drive of somebody else is under way.
func TestEndDuringADrive(t *testing.T) {
	t.Parallel()
	c := start(t)
	h := c.host(object{"functions": object{"Pack": object{
		"trigger": object{"type": "queueTrigger", "queueName": "parcels"}, "handler": "fail",
		"retry": object{"strategy": "fixedDelay", "maxRetryCount": -1, "delayInterval": "00:00:00.0010000"},
	}}})
	h.send("parcels", "1")
	done := make(chan int)
	go func() {
		status, _ := c.ask("POST", h.path+"/drive", object{"by": "300d"})
		done <- status
	}()
	c.must("DELETE", h.path, nil)
	if status := <-done; status == 200 {
		t.Error("a drive of a host that has ended is done")
	}
}

// A fault is for the app: what the test sends does not meet it. One that nothing meets is told
// at the end.
func TestFaults(t *testing.T) {
	t.Parallel()
	c := start(t)
	h := c.host(pack(nil))
	h.post("/admin/redeliver/faults?service=queue&operation=Put&times=1", nil)
	h.send("parcels", "7")
	h.post("/drive", object{"until": object{"poisoned": "Pack"}}) // whose move is a Put that fails once
	if out := h.must("DELETE", h.path, nil); out["failures"] != nil {
		t.Errorf("a fault that was met is told: %v", out)
	}
	h = c.host(pack(nil))
	h.post("/step", object{"step": object{"fault": object{"queue": "parcels", "operation": "Delete"}}})
	out := h.must("DELETE", h.path, nil)
	if !strings.Contains(fmt.Sprint(out), "the fault still waits") {
		t.Errorf("an unmet fault: %v", out)
	}
}

// Requests of functions move time as far as the answer needs it.
func TestHTTPFunctions(t *testing.T) {
	t.Parallel()
	h := start(t).host(object{"functions": object{"Quote": object{
		"trigger": object{"type": "httpTrigger", "authLevel": "anonymous", "methods": []string{"get", "post"}}, "retry": fixed,
		"handler": []any{object{"do": "fail", "times": 2}, object{"do": "succeed", "status": 201, "body": object{"price": 7}}},
	}}})
	status, text := h.raw("POST", h.path+"/http/api/Quote?for=me", `{"weight":1}`)
	if status != 201 || strings.TrimSpace(string(text)) != `{"price":7}` {
		t.Errorf("got %d %s", status, text)
	}
	if got := h.deliveries("Quote"); got != "[3]" {
		t.Errorf("attempts %s", got)
	}
	out := h.post("/call", object{"function": "Quote"})
	if out["succeeded"] != true {
		t.Errorf("call: %v", out)
	}
}

// The same seed and steps give the same journal, byte for byte, in any number of hosts at a
// time.
func TestSameJournal(t *testing.T) {
	t.Parallel()
	c := start(t)
	play := func(seed int) string {
		options := pack(object{"retry": object{"strategy": "exponentialBackoff", "maxRetryCount": 4, "minimumInterval": "00:00:01", "maximumInterval": "00:01:00"}})
		options["seed"] = seed
		h := c.host(options)
		for i := range 3 {
			h.send("parcels", fmt.Sprint(i))
		}
		h.post("/drive", object{"idle": true})
		_, text := h.raw("GET", h.path+"/admin/redeliver/journal", nil)
		c.must("DELETE", h.path, nil)
		return string(text)
	}
	want := play(7)
	if strings.Count(want, "attempt_ended") != 75 {
		t.Errorf("%d attempts", strings.Count(want, "attempt_ended"))
	}
	runs := 200
	if testing.Short() {
		runs = 20
	}
	got := make(chan string)
	for range 4 {
		go func() {
			for range runs / 4 {
				got <- play(7)
			}
		}()
	}
	for range runs {
		if text := <-got; text != want {
			t.Fatalf("another journal:\n%s\nwant\n%s", text, want)
		}
	}
	if play(8) == want {
		t.Error("another seed gives the same journal")
	}
}

// Records are of all runs of a host, and a pattern is compared as that of a wait.
func TestRecords(t *testing.T) {
	t.Parallel()
	c := start(t)
	h := c.host(pack(nil))
	h.send("parcels", "1")
	h.post("/restart", nil)
	h.post("/drive", object{"until": object{"poisoned": "Pack"}})
	for _, row := range []struct {
		pattern object
		want    int
	}{
		{object{"kind": "attempt_ended", "function": "Pack"}, 5},
		{object{"kind": "attempt_ended", "status": "succeeded"}, 0},
		{object{"kind": "settled", "decision": "/poison/"}, 1},
	} {
		if got := len(h.post("/records", object{"pattern": row.pattern})["list"].([]any)); got != row.want {
			t.Errorf("%v: %d records, want %d", row.pattern, got, row.want)
		}
	}
	if got := len(h.post("/records", nil)["list"].([]any)); got < 20 {
		t.Errorf("%d records in all", got)
	}
}

// A refusal of the kit is told apart from what a function answers, even in its words.
func TestRefusedRequests(t *testing.T) {
	t.Parallel()
	c := start(t)
	options := object{"functions": object{"Ask": object{
		"trigger": object{"type": "httpTrigger", "authLevel": "anonymous"},
		"handler": []any{object{"do": "succeed", "status": 409, "body": object{"code": "host_down", "error": "no"}}},
	}}}
	h, down := c.host(options), c.host(options)
	down.post("/crash", nil)
	for _, row := range []struct{ path, want string }{
		{h.path + "/http/api/Ask", "409 "},
		{h.path + "/http/api/nothing", "404 "},
		{down.path + "/http/api/Ask", "409 host_down"},
		{h.path + "/httpapi/Ask", "404 unknown_path"},
		{"/kit/hosts/h99/http/api/Ask", "404 unknown_host"},
	} {
		r, err := http.NewRequest("GET", c.a.Address+row.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+c.token)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if got := fmt.Sprint(resp.StatusCode, " ", resp.Header.Get("Redeliver-Refusal")); got != row.want {
			t.Errorf("GET %s: %q, want %q", row.path, got, row.want)
		}
	}
}

// A request of a function reaches the host with the path that it has, or is refused: the kit's own
// redirection would be taken for the function's answer.
func TestPathsOfRequests(t *testing.T) {
	t.Parallel()
	c := start(t)
	h := c.host(object{"functions": object{"Quote": object{"trigger": object{"type": "httpTrigger", "authLevel": "anonymous"}, "handler": "succeed"}}})
	for _, path := range []string{"/api//quote", "/api/x/../quote", "//api/quote"} {
		r, err := http.NewRequest(http.MethodGet, c.a.Address+h.path+"/http"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+c.token)
		got, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = got.Body.Close()
		if got.StatusCode == http.StatusTemporaryRedirect {
			t.Errorf("%s: %d %v", path, got.StatusCode, got.Header)
		}
	}
}

// A setting that a clone does not have is given by the test, and the refusal says so.
func TestSettingsOfAClone(t *testing.T) {
	t.Parallel()
	k := start(t)
	trigger := object{"type": "serviceBusTrigger", "queueName": "%QUEUE%", "connection": "Bus"}
	functions := object{"Ship": object{"trigger": trigger, "handler": "succeed"}}
	status, out := k.ask("POST", "/kit/hosts", object{"functions": functions})
	if hint := fmt.Sprint(out["hint"]); status != 409 || !strings.Contains(hint, "a test gives what local.settings.json does not have") {
		t.Errorf("%d %v", status, out)
	}
	k.host(object{"functions": functions, "settings": object{"QUEUE": "parcels", "Bus": "Endpoint=sb://localhost;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true;"}})
}
