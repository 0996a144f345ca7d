package hosttest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/triggers"
)

// Request sends an HTTP request to the app and returns the response, 404 when
// no function matches, 503 when the host does not run. Time moves as far as the
// function's retries need it.
func (h *Host) Request(method, path, body string) *bindings.HTTPResponse {
	h.tb.Helper()
	return h.RequestContext(context.Background(), method, path, body)
}

// RequestFor is Request for a caller that waits so long for the answer and then
// goes away. It then returns nil, at that time.
func (h *Host) RequestFor(patience time.Duration, method, path, body string) *bindings.HTTPResponse {
	h.tb.Helper()
	if patience <= 0 {
		h.tb.Fatalf("hosttest: RequestFor: a caller who waits %v has no answer and asks for none", patience)
	}
	return h.SendRequest(&bindings.HTTPRequest{Method: method, URL: path, Body: []byte(body)}, patience)
}

// SendRequest is Request for a request with headers; its URL is a path. With patience it is
// RequestFor, and with 0 Request.
func (h *Host) SendRequest(q *bindings.HTTPRequest, patience time.Duration) *bindings.HTTPResponse {
	h.tb.Helper()
	if patience < 0 {
		h.tb.Fatalf("hosttest: SendRequest: the patience of %v is negative", patience)
	}
	return h.request(q, func() (context.Context, context.CancelFunc) {
		if patience == 0 {
			return context.Background(), nil
		}
		return h.Host.Clock().WithTimeout(context.Background(), patience)
	})
}

// RequestContext is Request for a caller who goes away when ctx ends. The end of a
// context that is not of the clock is seen when the host looks next: a caller who leaves
// at a certain time is RequestFor's.
func (h *Host) RequestContext(ctx context.Context, method, path, body string) *bindings.HTTPResponse {
	h.tb.Helper()
	return h.request(&bindings.HTTPRequest{Method: method, URL: path, Body: []byte(body)}, func() (context.Context, context.CancelFunc) { return ctx, nil })
}

func (h *Host) request(q *bindings.HTTPRequest, caller func() (ctx context.Context, leave context.CancelFunc)) *bindings.HTTPResponse {
	h.tb.Helper()
	if !strings.HasPrefix(q.URL, "/") {
		h.tb.Fatalf("hosttest: request of %q: want a path that begins with a slash, such as /api/Quote", q.URL)
	}
	var resp *bindings.HTTPResponse
	meant, unrouted := "", false
	h.drive(func() {
		ctx, leave := caller()
		if leave != nil {
			defer func() {
				if ctx.Err() != nil {
					resp = nil
				}
				leave()
			}()
		}
		route, err := h.Match(ctx, q.Method, strings.SplitN(q.URL, "?", 2)[0])
		switch {
		case errors.Is(err, host.ErrUnknownFunction):
			meant, unrouted = routeMeant(h, q.URL), !h.unjudged && h.ran() != nil && len(h.ran().Routed()) == 0
			resp = &bindings.HTTPResponse{StatusCode: http.StatusNotFound}
			return
		case err != nil:
			resp = &bindings.HTTPResponse{StatusCode: http.StatusServiceUnavailable}
			return
		}
		asked := *q
		asked.URL = "http://localhost:7071" + q.URL
		if asked.Header == nil {
			asked.Header = http.Header{}
		}
		resp = h.Serve(ctx, route, &asked)
	})
	if unrouted {
		h.tb.Fatalf("hosttest: request of %q: the app has no function that requests reach", q.URL)
	}
	if meant != "" {
		h.tb.Fatalf("hosttest: no function has the route of %q; did you mean %q?", q.URL, meant)
	}
	return resp
}

// Call runs a function for an input by hand, as the admin API does, and returns
// the result. Time moves as far as its retries need it.
func (h *Host) Call(function, input string) triggers.Result {
	h.tb.Helper()
	var res triggers.Result
	var err error
	of, own := h, function
	if names, hosts := hostsOf(h, function); len(hosts) > 0 {
		h.mustKnow(function)
		of = hosts[0]
		own = names[0][strings.LastIndexByte(names[0], '/')+1:]
	}
	h.drive(func() { res, err = of.Invoke(context.Background(), own, input) })
	if err != nil {
		h.tb.Fatalf("hosttest: call %s: %v%s", function, err, orMeant(function, functionNames(h)))
	}
	return res
}

// drive runs a call that waits inside the clock, and moves time until it
// returns.
func (h *Host) drive(call func()) {
	h.tb.Helper()
	if h.virtual == nil {
		call()
		return
	}
	group := clock.NewGroup(h.virtual, 0)
	done := false // written and read between turns
	var returned bool
	h.wait(func() {
		h.virtual.Do("test", func() {
			group.Go("call of the test", func() {
				defer func() { done = true }()
				call()
			})
		})
		returned = h.virtual.UntilQuiet(nil, func() bool { return done }, limit)
	})
	if !returned {
		h.tb.Fatalf("hosttest: the call has not returned until %v; waiting:\n%s", h.virtual.Now(), h.waiting())
	}
}

// Edit writes a file of the app and reloads it, as saving it in an editor would. name
// is a slash path from the app's folder, and may lead to a package that was copied with
// it ("../pay/pay.go"). It returns the reason when the edit is refused, and when a function
// is in error after it that was not before and that Options.InError does not name.
func (h *Host) Edit(name, text string) error {
	h.tb.Helper()
	if near := misnamed(name); near != "" {
		h.tb.Fatalf("hosttest: change of %q: no host reads a file of this name; did you mean %q?", name, near)
	}
	return h.change(name, true, func() error { return write(h.Dir(), name, text) })
}

// Remove removes a file of the app, or a folder with all that is in it, and reloads the
// app. It returns the reason as Edit does. What is not there ends the test.
func (h *Host) Remove(name string) error {
	h.tb.Helper()
	return h.change(name, false, func() error {
		path := filepath.Join(h.Dir(), filepath.FromSlash(name))
		if _, err := os.Lstat(path); err != nil {
			return fmt.Errorf("there is no file and no folder %q to remove%s", name, orMeant(name, beside(h.Dir(), name)))
		}
		return os.RemoveAll(path)
	})
}

// change changes a file of the app and reloads it. written says that it writes to the file
// that the name leads to.
func (h *Host) change(name string, written bool, make func() error) error {
	h.tb.Helper()
	path := filepath.Join(h.Dir(), filepath.FromSlash(name))
	switch {
	case h.copied == "":
		h.tb.Fatalf("hosttest: change of %q: the host runs %s itself; set Options.Files (an empty map is enough), and the host runs a copy", name, h.Dir())
	case path == h.copied || !below(path, h.copied):
		h.tb.Fatalf("hosttest: change of %q: it is not in the copy that the host runs, %s", name, h.copied)
	}
	err := own(h.copied, path, written)
	if err == nil {
		err = make()
	}
	if err != nil {
		h.tb.Fatalf("hosttest: %v", err)
	}
	if h.down {
		return nil // the next run reads it
	}
	before := h.inErrorNow()
	h.do("reload", func() { err = h.Reload(context.Background()) })
	if err == nil && h.ran() != nil {
		for _, f := range h.ran().Functions {
			if why := wrongWith(f); len(why) > 0 && !before[strings.ToLower(f.Name)] {
				return errors.New(strings.Join(why, "\n"))
			}
		}
	}
	return err
}

// inErrorNow are the functions, in lower case, that are in error, and those that may be.
func (h *Host) inErrorNow() map[string]bool {
	list := map[string]bool{}
	for _, name := range h.inError {
		list[strings.ToLower(name)] = true
	}
	if a := h.ran(); a != nil {
		for _, f := range a.Functions {
			if len(wrongWith(f)) > 0 {
				list[strings.ToLower(f.Name)] = true
			}
		}
	}
	return list
}

// Reset empties the services and the journal, ends the faults and starts the counters of IDs
// again: microseconds, instead of another host. Nothing may be in work.
func (h *Host) Reset() {
	h.tb.Helper()
	mustBeAlone(h, "Reset")
	h.settleUp()
	var err error
	h.do("reset", func() { err = h.Host.Reset() })
	if err != nil {
		h.tb.Fatalf("hosttest: %v", err)
	}
	h.faults.Clear(h.Host.Clock().Now())
	h.killAt.Store(nil)
	h.cursor, h.past, h.owed = 1, nil, nil
}
