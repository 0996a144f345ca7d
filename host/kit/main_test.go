//clock:outside the tests are clients of the kit

package kit_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/host/hosttest/leaktest"
	"github.com/redeliver/redeliver/host/kit"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// client is a kit of a language, as small as one can be.
type client struct {
	t     testing.TB
	a     kit.Announcement
	token string
}

// start starts a kit until the test ends.
func start(t testing.TB) *client {
	t.Helper()
	k, err := kit.New(kit.Options{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	return &client{t, k.Announcement(), k.Announcement().Token}
}

// object is a value of JSON.
type object = map[string]any

// ask sends a request and returns its status and answer.
func (c *client) ask(method, path string, body any) (int, object) {
	c.t.Helper()
	status, text := c.raw(method, path, body)
	var out object
	if len(text) > 0 {
		if err := json.Unmarshal(text, &out); err != nil {
			out = object{}
			var list []any
			if json.Unmarshal(text, &list) != nil {
				c.t.Fatalf("%s %s: %d, no JSON: %s", method, path, status, text)
			}
			out["list"] = list
		}
	}
	return status, out
}

func (c *client) raw(method, path string, body any) (int, []byte) {
	c.t.Helper()
	var reader io.Reader
	switch body := body.(type) {
	case nil:
	case string:
		reader = strings.NewReader(body)
	default:
		text, err := json.Marshal(body)
		if err != nil {
			c.t.Fatal(err)
		}
		reader = bytes.NewReader(text)
	}
	r, err := http.NewRequest(method, c.a.Address+path, reader)
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return resp.StatusCode, text
}

// must is ask for what must succeed.
func (c *client) must(method, path string, body any) object {
	c.t.Helper()
	status, out := c.ask(method, path, body)
	if status >= 300 {
		c.t.Fatalf("%s %s: %d %v", method, path, status, out)
	}
	return out
}

// test is the host of one test.
type test struct {
	*client
	path string
}

func (c *client) host(options object) *test {
	c.t.Helper()
	out := c.must("POST", "/kit/hosts", options)
	return &test{c, "/kit/hosts/" + out["id"].(string)}
}

func (h *test) post(path string, body any) object {
	h.t.Helper()
	return h.must("POST", h.path+path, body)
}
func (h *test) get(path string) object { h.t.Helper(); return h.must("GET", h.path+path, nil) }

// send sends a message to a queue by the control API.
func (h *test) send(queue, body string) {
	h.t.Helper()
	h.post("/admin/redeliver/queues/"+queue+"/messages", body)
}

// deliveries are the numbers of attempts in each delivery.
func (h *test) deliveries(function string) string {
	h.t.Helper()
	var counts []int
	last := ""
	for _, a := range h.get("/attempts?function=" + function)["list"].([]any) {
		id := fmt.Sprint(a.(object)["messageId"], a.(object)["delivery"])
		if id != last {
			counts = append(counts, 0)
		}
		last = id
		counts[len(counts)-1]++
	}
	return fmt.Sprint(counts)
}
