package web_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/emulator/servicebus/setting"
	"github.com/redeliver/redeliver/host/ops/eventgrid"
	"github.com/redeliver/redeliver/host/ops/servicebus"
)

func TestControlDeleteBus(t *testing.T) {
	t.Parallel()
	d := open(t, app(plainHostJSON), nil, nil)
	const entity = prefix + "/servicebus/entity?path="
	d.want(201, "PUT", entity+"orders", `{"lockDuration":"PT30S"}`)
	d.want(201, "PUT", entity+"events", `{"topic":true}`)
	d.want(201, "PUT", entity+"events/Subscriptions/all", "")
	d.want(201, "PUT", entity+"events/Subscriptions/some", "")
	for range 2 {
		d.want(201, "POST", prefix+"/servicebus/messages?path=events", "x")
	}
	for _, row := range []struct {
		path string
		want servicebus.EntityDeleted
	}{
		{"orders", servicebus.EntityDeleted{Path: "orders", Kind: setting.Queue}},
		{"events/Subscriptions/all", servicebus.EntityDeleted{Path: "events/Subscriptions/all", Kind: setting.Subscription, Messages: 2}},
		{"events", servicebus.EntityDeleted{Path: "events", Kind: setting.Topic, Subscriptions: 1, Messages: 2}},
	} {
		if diff := cmp.Diff(row.want, get[servicebus.EntityDeleted](d, 200, "DELETE", entity+row.path, "")); diff != "" {
			t.Errorf("delete of %s (-want +got):\n%s", row.path, diff)
		}
		d.want(404, "DELETE", entity+row.path, "")
	}
	d.want(400, "DELETE", entity+"orders/$DeadLetterQueue", "")
	d.want(400, "DELETE", entity+"a%20b", "")
	d.want(400, "DELETE", entity, "")
}

func TestControlDeleteGrid(t *testing.T) {
	t.Parallel()
	d := open(t, app(gridHostJSON), gridHandlers(), nil)
	const topic, subscription = prefix + "/eventgrid/topic?topic=", prefix + "/eventgrid/subscription?topic="
	d.want(201, "PUT", topic+"news", "")
	d.want(201, "PUT", subscription+"news&name=all", `{"function":"OnOrder"}`)
	d.want(404, "DELETE", subscription+"news&name=none", "")
	d.want(404, "DELETE", subscription+"news", "")
	d.want(404, "DELETE", topic+"none", "")
	if diff := cmp.Diff(eventgrid.GridDeleted{Topic: "news", Subscription: "all"}, get[eventgrid.GridDeleted](d, 200, "DELETE", subscription+"news&name=all", "")); diff != "" {
		t.Errorf("subscription (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(eventgrid.GridDeleted{Topic: "shop", Subscriptions: 1}, get[eventgrid.GridDeleted](d, 200, "DELETE", topic+"SHOP", "")); diff != "" {
		t.Errorf("topic (-want +got):\n%s", diff)
	}
	d.want(404, "POST", prefix+"/eventgrid/events?topic=shop", "{}")
}
