package hosttest

import (
	"context"
	"net/http"

	"github.com/redeliver/redeliver/host/ops"
)

// Do does an operation of the control API on the host: what a command or the page does, such
// as
//
//	hosttest.Do(h, queues.RedriveQueue{Queue: "orders-poison"})
//
// Deliveries that it starts run before Do returns; time does not move, unless the operation
// moves it. An operation that is refused ends the test, and so does one that the host of a
// test does not have. Fields are taken as they are: one that has a default in a request has
// none here. Package all of host/ops lists the operations.
func Do[Out any](h *Host, in ops.Operation[Out]) (out Out) {
	h.tb.Helper()
	out, refused := Try(h, in)
	if refused != nil {
		text := refused.Text
		if refused.Hint != "" {
			text += "; " + refused.Hint
		}
		h.tb.Fatalf("hosttest: %s: %s", ops.RouteOf(in).Name, text)
	}
	return out
}

// Try is Do for an operation that may be refused.
func Try[Out any](h *Host, in ops.Operation[Out]) (out Out, refused *ops.Error) {
	h.tb.Helper()
	deed := ops.Of(in)
	if !deed.Offered(Env(h)) {
		return out, &ops.Error{Status: http.StatusNotFound, Text: "the host of a test does not have this operation"}
	}
	err := deed.Check(in)
	var answer any
	if err == nil {
		answer, err = Perform(h, deed, func(any) error { return nil })
	}
	if err != nil {
		return out, deed.Refused(Env(h), deed.NamesIn(in), err)
	}
	return answer.(Out), nil
}

// Perform is Do for an operation of a list; read reads the parameters into a pointer to it. The
// error is the one of the service.
func Perform(h *Host, deed ops.Deed, read func(in any) error) (answer any, err error) {
	h.tb.Helper()
	return deed.Do(context.Background(), Env(h), read)
}

// Env is the run of the host as operations see it.
func Env(h *Host) *ops.Env {
	return &ops.Env{Host: h.Host, Turn: h.do, Services: h.table.Services(), Faults: h.faults}
}
