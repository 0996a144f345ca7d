// Orders is a small function app: orders come in over HTTP, wait in a queue, are
// processed, and leave an invoice to send. Some orders fail, which is the point:
//
//	redeliver start functions/samples/orders
//	redeliver send queue orders '{"id":"7","fail":true}'
//
// The policy in host.json (4 retries) covers every function but SendInvoice, which
// has its own in SendInvoice/function.json.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/redeliver/redeliver/functions"
)

// Order is the message on the queue "orders".
type Order struct {
	ID   string `json:"id"`
	Fail bool   `json:"fail,omitempty"` // make processing fail, every time
	// Flaky makes the first attempts of a delivery fail, and then one succeed.
	Flaky int `json:"flaky,omitempty"`
}

// Invoice is the message on the queue "invoices".
type Invoice struct {
	Order string `json:"order"`
}

var errPayment = errors.New("payment service unavailable")

func main() { functions.Main(app()) }

func app() *functions.App {
	app := functions.New()
	app.HTTP("PlaceOrder", placeOrder,
		functions.Route("orders"), functions.Methods(http.MethodPost), functions.AuthLevel(functions.AuthAnonymous),
		functions.QueueOutput("orders", "orders"))
	app.Queue("ProcessOrder", "orders", processOrder, functions.QueueOutput("invoices", "invoices"))
	functions.QueueJSON(app, "SendInvoice", "invoices", sendInvoice) // its function.json has the retry policy
	app.Timer("Heartbeat", "0 */5 * * * *", heartbeat)
	return app
}

// placeOrder answers POST /api/orders and puts the order on the queue.
func placeOrder(w http.ResponseWriter, r *http.Request) {
	var order Order
	if err := json.NewDecoder(r.Body).Decode(&order); err != nil || order.ID == "" {
		http.Error(w, `want {"id":"..."}`, http.StatusBadRequest) // an answer, not a failure
		return
	}
	if err := functions.SetOutput(r.Context(), "orders", order); err != nil {
		functions.Fail(r.Context(), err)
		return
	}
	w.WriteHeader(http.StatusAccepted)
	fmt.Fprintf(w, "order %s accepted\n", order.ID)
}

// processOrder handles one order. A plain error is tried again by the policy,
// and after the last attempt by the queue; Permanent is not worth another
// attempt in this delivery.
func processOrder(ctx context.Context, m functions.QueueMessage) error {
	var order Order
	if err := m.Decode(&order); err != nil {
		return functions.Permanent(fmt.Errorf("not an order: %w", err))
	}
	log := functions.Logger(ctx).With("order", order.ID)
	if retry := functions.Retry(ctx); retry != nil && retry.LastAttempt() {
		log.WarnContext(ctx, "last attempt of this delivery")
	}
	if order.Fail {
		return errPayment
	}
	if retry := functions.Retry(ctx); retry != nil && retry.RetryCount < order.Flaky {
		return errPayment
	}
	log.InfoContext(ctx, "order processed")
	return functions.SetOutput(ctx, "invoices", Invoice{Order: order.ID})
}

// sendInvoice receives its message decoded; what is no invoice fails before it.
func sendInvoice(ctx context.Context, invoice Invoice) error {
	functions.Logger(ctx).InfoContext(ctx, "invoice sent", "order", invoice.Order)
	return nil
}

func heartbeat(ctx context.Context, t functions.TimerInfo) error {
	functions.Logger(ctx).InfoContext(ctx, "still here", "past_due", t.IsPastDue)
	return nil
}
