package rest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// pinned are the names of the pins that keep the pace Auto from jumping.
func (b *bench) pinned() (out []string) {
	for _, w := range b.clk.Waiting() {
		if w.For == "pin" {
			kind, _, _ := strings.Cut(w.Name, " ")
			out = append(out, kind)
		}
	}
	return out
}

// A client pins the clock: by a received message until it is deleted or
// released, and by a lease with an end until it is released.
func TestClientsPinTheClock(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	want := func(b *bench, when string, pins ...string) {
		t.Helper()
		if diff := cmp.Diff(pins, b.pinned()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
	}
	b.create("orders")
	b.put("orders", "a")
	b.put("orders", "b")
	want(b, "put")
	ms := b.want(200, "", "GET", "/orders/messages?numofmessages=2", "").messages(t)
	want(b, "received", "message", "message")
	b.want(204, "", "DELETE", "/orders/messages/"+ms[0].MessageID+query("popreceipt", *ms[0].PopReceipt), "")
	want(b, "one deleted", "message")
	renewed := b.want(204, "", "PUT", "/orders/messages/"+ms[1].MessageID+query("popreceipt", *ms[1].PopReceipt, "visibilitytimeout", "60"), "")
	want(b, "renewed", "message")
	b.want(204, "", "PUT", "/orders/messages/"+ms[1].MessageID+query("popreceipt", renewed.Header.Get("X-Ms-Popreceipt"), "visibilitytimeout", "0"), "")
	want(b, "released")
	b.create("other")
	for _, q := range []string{"orders", "other"} {
		b.want(201, "", "POST", "/"+q+"/messages", message("c"))
		b.want(200, "", "GET", "/"+q+"/messages?numofmessages=32", "")
	}
	want(b, "received from two queues", "message", "message", "message")
	b.want(204, "", "DELETE", "/orders/messages", "")
	want(b, "one cleared", "message")
	b.want(204, "", "DELETE", "/other", "")
	want(b, "one deleted")

	blobs := newBlobBench(t)
	blobs.upload("/box/a", "text")
	act := func(action string, more ...string) (edit []func(*http.Request)) {
		edit = append(edit, header("X-Ms-Lease-Action", action))
		for i := 0; i < len(more); i += 2 {
			edit = append(edit, header(more[i], more[i+1]))
		}
		return edit
	}
	const lease, duration = "X-Ms-Lease-Id", "X-Ms-Lease-Duration"
	id := blobs.want(201, "", "PUT", "/box/a?comp=lease", "", act("acquire", duration, "15")...).Header.Get(lease)
	want(blobs, "leased", "lease")
	blobs.want(200, "", "PUT", "/box/a?comp=lease", "", act("renew", lease, id)...)
	want(blobs, "renewed", "lease")
	blobs.want(200, "", "PUT", "/box/a?comp=lease", "", act("release", lease, id)...)
	want(blobs, "released")
	blobs.want(201, "", "PUT", "/box/a?comp=lease", "", act("acquire", duration, "-1")...)
	want(blobs, "leased without end")
	for _, name := range []string{"/box/b", "/box/c"} {
		blobs.upload(name, "text")
		id = blobs.want(201, "", "PUT", name+"?comp=lease", "", act("acquire", duration, "15")...).Header.Get(lease)
	}
	want(blobs, "two leased", "lease", "lease")
	blobs.want(202, "", "DELETE", "/box/c", "", header(lease, id))
	want(blobs, "one deleted", "lease")
	blobs.want(202, "", "DELETE", "/box?restype=container", "")
	want(blobs, "container deleted")
}
