package bindingtest

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
)

// busAdminTests are the rules of spec messaging 1.1 and of
// servicebus.Admin.
var busAdminTests = []busTest{
	{"QueueDefaults", false, func(b *busBench) {
		b.queue(busQueue{Name: "q"})
		q := b.info("Q").Queue
		if q.Name != "q" || q.LockDuration != time.Minute || q.MaxDeliveryCount != 10 || q.DuplicateDetectionHistoryTimeWindow != 10*time.Minute ||
			q.Status != servicebus.StatusActive || q.MaxSizeInMegabytes != 1024 || q.RequiresSession || q.DeadLetteringOnMessageExpiration || q.ForwardTo != "" {
			b.Errorf("defaults = %+v", q)
		}
		if e := q.EnableBatchedOperations; e != nil && !*e {
			b.Error("EnableBatchedOperations = false, want true")
		}
	}},
	{"SettingsComeThrough", false, func(b *busBench) {
		b.queue(busQueue{Name: "target"})
		b.queue(busQueue{
			Name: "q", LockDuration: 90 * time.Second, MaxDeliveryCount: 7, DefaultMessageTimeToLive: time.Hour, DeadLetteringOnMessageExpiration: true,
			RequiresDuplicateDetection: true, DuplicateDetectionHistoryTimeWindow: 20 * time.Minute, ForwardDeadLetteredMessagesTo: "target",
			AutoDeleteOnIdle: 24 * time.Hour, UserMetadata: "mine",
		})
		q := b.info("q").Queue
		if q.LockDuration != 90*time.Second || q.MaxDeliveryCount != 7 || q.DefaultMessageTimeToLive != time.Hour || !q.DeadLetteringOnMessageExpiration ||
			!q.RequiresDuplicateDetection || q.DuplicateDetectionHistoryTimeWindow != 20*time.Minute || q.ForwardDeadLetteredMessagesTo != "target" ||
			q.AutoDeleteOnIdle != 24*time.Hour || q.UserMetadata != "mine" {
			b.Errorf("settings = %+v", q)
		}
	}},
	{"NamesAreTakenOnce", false, func(b *busBench) {
		b.queue(busQueue{Name: "Name"})
		b.topic(servicebus.Topic{Name: "t"})
		b.subscription(servicebus.Subscription{Topic: "t", Name: "s"}, nil)
		b.do(func(ctx context.Context) {
			_, err := b.Namespace.CreateQueue(ctx, busQueue{Name: "name"})
			b.fails("CreateQueue", err, bindings.ErrAlreadyExists)
			_, err = b.Namespace.CreateTopic(ctx, servicebus.Topic{Name: "NAME"})
			b.fails("CreateTopic", err, bindings.ErrAlreadyExists)
			_, err = b.Namespace.CreateSubscription(ctx, servicebus.Subscription{Topic: "T", Name: "S"}, nil)
			b.fails("CreateSubscription", err, bindings.ErrAlreadyExists)
			_, err = b.Namespace.CreateRule(ctx, "t", "s", servicebus.Rule{Name: "$default"})
			b.fails("CreateRule", err, bindings.ErrAlreadyExists)
		})
	}},
	{"MissingIsNotFound", false, func(b *busBench) {
		b.queue(busQueue{Name: "q"})
		b.topic(servicebus.Topic{Name: "t"})
		b.subscription(servicebus.Subscription{Topic: "t", Name: "s"}, nil)
		n := b.Namespace
		b.do(func(ctx context.Context) {
			_, err := n.GetQueue(ctx, "x")
			b.fails("GetQueue", err, bindings.ErrNotFound)
			_, err = n.GetQueue(ctx, "t")
			b.fails("GetQueue of a topic", err, bindings.ErrNotFound)
			_, err = n.UpdateQueue(ctx, busQueue{Name: "x"})
			b.fails("UpdateQueue", err, bindings.ErrNotFound)
			b.fails("DeleteQueue", n.DeleteQueue(ctx, "x"), bindings.ErrNotFound)
			_, err = n.GetTopic(ctx, "q")
			b.fails("GetTopic of a queue", err, bindings.ErrNotFound)
			b.fails("DeleteTopic", n.DeleteTopic(ctx, "x"), bindings.ErrNotFound)
			_, err = n.GetSubscription(ctx, "t", "x")
			b.fails("GetSubscription", err, bindings.ErrNotFound)
			_, err = n.CreateSubscription(ctx, servicebus.Subscription{Topic: "x", Name: "s"}, nil)
			b.fails("CreateSubscription", err, bindings.ErrNotFound)
			b.fails("DeleteSubscription", n.DeleteSubscription(ctx, "t", "x"), bindings.ErrNotFound)
			_, err = n.GetRule(ctx, "t", "s", "x")
			b.fails("GetRule", err, bindings.ErrNotFound)
			b.fails("DeleteRule", n.DeleteRule(ctx, "t", "s", "x"), bindings.ErrNotFound)
			_, err = n.CreateQueue(ctx, busQueue{Name: "new", ForwardTo: "x"})
			b.fails("CreateQueue that forwards to nothing", err, bindings.ErrNotFound)
		})
	}},
	{"SettingsHaveLimits", false, func(b *busBench) {
		long := strings.Repeat("x", servicebus.MaxUserMetadata+1)
		b.do(func(ctx context.Context) {
			for what, q := range map[string]busQueue{
				"lock duration":    {LockDuration: 5*time.Minute + time.Second},
				"deliveries":       {MaxDeliveryCount: -1},
				"window":           {DuplicateDetectionHistoryTimeWindow: 8 * 24 * time.Hour},
				"idle":             {AutoDeleteOnIdle: 4 * time.Minute},
				"metadata":         {UserMetadata: long},
				"status":           {Status: "Sleepy"},
				"session forwards": {RequiresSession: true, ForwardTo: "q"},
			} {
				q.Name = "limits"
				if _, err := b.Namespace.CreateQueue(ctx, q); err == nil {
					b.Errorf("CreateQueue with a bad %s succeeded", what)
				}
			}
			if _, err := b.Namespace.CreateQueue(ctx, busQueue{Name: "a b"}); err == nil {
				b.Error("CreateQueue with a bad name succeeded")
			}
		})
	}},
	{"UpdateReplacesSettings", false, func(b *busBench) {
		b.queue(busQueue{Name: "q", MaxDeliveryCount: 7, UserMetadata: "mine"})
		b.do(func(ctx context.Context) {
			_, err := b.Namespace.UpdateQueue(ctx, busQueue{Name: "Q", MaxDeliveryCount: 1})
			b.must("UpdateQueue", err)
			_, err = b.Namespace.UpdateQueue(ctx, busQueue{Name: "q", RequiresSession: true})
			if err == nil {
				b.Error("UpdateQueue of requiresSession succeeded")
			}
			_, err = b.Namespace.UpdateQueue(ctx, busQueue{Name: "q", RequiresDuplicateDetection: true})
			if err == nil {
				b.Error("UpdateQueue of requiresDuplicateDetection succeeded")
			}
		})
		if q := b.info("q"); q.Name != "q" || q.MaxDeliveryCount != 1 || q.UserMetadata != "" {
			b.Errorf("after the update: %+v", q.Queue)
		}
		b.sendText("q", "a")
		r := b.receiver("q")
		b.abandon(r, b.receiveOne(r))
		b.expectReason(b.receiveOne(b.receiver("q"+dlq)), "MaxDeliveryCountExceeded")
	}},
	{"StatusForbids", false, func(b *busBench) {
		b.queue(busQueue{Name: "q"})
		b.sendText("q", "a")
		for _, test := range []struct {
			status         servicebus.Status
			sends, receive bool
		}{
			{servicebus.StatusDisabled, false, false},
			{servicebus.StatusSendDisabled, false, true},
			{servicebus.StatusReceiveDisabled, true, false},
			{servicebus.StatusActive, true, true},
		} {
			b.do(func(ctx context.Context) {
				_, err := b.Namespace.UpdateQueue(ctx, busQueue{Name: "q", Status: test.status})
				b.must("UpdateQueue", err)
			})
			_, err := b.tryReceiver("q", nil)
			for what, c := range map[string]struct {
				err  error
				want bool
			}{"Send": {b.trySend("q", text1("b")), test.sends}, "Receiver": {err, test.receive}} {
				if c.want {
					b.must(what+" while "+string(test.status), c.err)
				} else {
					b.fails(what+" while "+string(test.status), c.err, messaging.ErrEntityDisabled)
				}
			}
		}
	}},
	{"DeletedWithEverything", false, func(b *busBench) {
		b.topic(servicebus.Topic{Name: "t"})
		b.subscription(servicebus.Subscription{Topic: "t", Name: "s"}, nil)
		b.sendText("t", "a")
		r := b.receiver("t/Subscriptions/s")
		b.must("DeleteTopic", b.call(func(ctx context.Context) error { return b.Namespace.DeleteTopic(ctx, "T") }))
		b.fails("Receive after the deletion", b.call(func(ctx context.Context) error { _, err := r.Receive(ctx, 1, b.Quiet); return err }), bindings.ErrNotFound)
		b.topic(servicebus.Topic{Name: "t"})
		b.do(func(ctx context.Context) {
			list, err := b.Namespace.ListSubscriptions(ctx, "t")
			b.must("ListSubscriptions", err)
			if len(list) != 0 {
				b.Errorf("a new topic has %d subscriptions", len(list))
			}
		})
	}},
	{"ListsAreSorted", false, func(b *busBench) {
		for _, name := range []string{"zebra", "Beta", "alpha"} {
			b.queue(busQueue{Name: name})
			b.topic(servicebus.Topic{Name: "t-" + name})
			b.subscription(servicebus.Subscription{Topic: "t-zebra", Name: name}, nil)
		}
		var got [][]string
		b.do(func(ctx context.Context) {
			qs, err := b.Namespace.ListQueues(ctx)
			b.must("ListQueues", err)
			ts, err := b.Namespace.ListTopics(ctx)
			b.must("ListTopics", err)
			ss, err := b.Namespace.ListSubscriptions(ctx, "T-Zebra")
			b.must("ListSubscriptions", err)
			names := make([][]string, 3)
			for i := range qs {
				names[0], names[1], names[2] = append(names[0], qs[i].Name), append(names[1], strings.TrimPrefix(ts[i].Name, "t-")), append(names[2], ss[i].Name)
			}
			got = names
			if ts[2].SubscriptionCount != 3 {
				b.Errorf("SubscriptionCount = %d, want 3", ts[2].SubscriptionCount)
			}
		})
		for _, names := range got {
			if !slices.Equal(names, []string{"alpha", "Beta", "zebra"}) {
				b.Errorf("names = %q, want alpha, Beta, zebra", names)
			}
		}
	}},
	{"RulesAreKept", false, func(b *busBench) {
		b.topic(servicebus.Topic{Name: "t"})
		b.subscription(servicebus.Subscription{Topic: "t", Name: "s"}, nil)
		n := b.Namespace
		b.do(func(ctx context.Context) {
			r, err := n.GetRule(ctx, "t", "s", servicebus.DefaultRule)
			b.must("GetRule", err)
			if r.Name != "$Default" || r.Filter.Kind != servicebus.TrueFilter && r.Filter.SQL.Expression != "1=1" {
				b.Errorf("default rule = %+v", r)
			}
			_, err = n.CreateRule(ctx, "t", "s", *sqlRule("mine", "size = 5", "SET x = 1"))
			b.must("CreateRule", err)
			_, err = n.CreateRule(ctx, "t", "s", *sqlRule("bad", "size = = 5", ""))
			b.fails("CreateRule with a filter that does not parse", err, bindings.ErrInvalidArgument)
			_, err = n.CreateRule(ctx, "t", "s", *sqlRule("long", "a = '"+strings.Repeat("x", servicebus.MaxSQLExpression)+"'", ""))
			if err == nil {
				b.Error("CreateRule with a long expression succeeded")
			}
			_, err = n.UpdateRule(ctx, "t", "s", *correlate("Mine", servicebus.Correlation{Subject: of("x")}))
			b.must("UpdateRule", err)
			list, err := n.ListRules(ctx, "t", "s")
			b.must("ListRules", err)
			if len(list) != 2 || list[1].Name != "mine" || list[1].Filter.Kind != servicebus.CorrelationFilter || list[1].Action != nil {
				b.Errorf("ListRules = %+v", list)
			}
		})
	}},
}
