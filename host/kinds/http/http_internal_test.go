package http

import (
	"testing"

	"github.com/redeliver/redeliver/host/app"
)

// A call by hand has the address of its function, where that has one without values.
func TestByHand(t *testing.T) {
	t.Parallel()
	a := &app.App{}
	for route, want := range map[string]string{
		"":                      "shop/Orders",
		"orders/all":            "shop/orders/all",
		"orders/{id?}":          "shop/orders",
		"orders/{id:int?}":      "shop/orders",
		"orders/{day=mon}":      "shop/orders",
		"{*rest}":               "shop",
		"orders/{id}":           "admin/functions/Orders",
		"orders/{id}/{part?}":   "admin/functions/Orders",
		"orders/{id:length(2)}": "admin/functions/Orders",
	} {
		a.Config.HTTP.RoutePrefix = "shop"
		f := &app.Function{Name: "Orders", Trigger: &app.Binding{Type: "httpTrigger", Props: map[string]any{"route": route}}}
		if got := byHand(a, f); got != want {
			t.Errorf("%q: got %q, want %q", route, got, want)
		}
	}
}
