package bindingtest

import (
	"context"
	"time"

	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
)

func correlate(name string, f servicebus.Correlation) *servicebus.Rule {
	return &servicebus.Rule{Name: name, Filter: servicebus.Filter{Kind: servicebus.CorrelationFilter, Correlation: f}}
}

func sqlRule(name, filter, action string) *servicebus.Rule {
	r := &servicebus.Rule{Name: name, Filter: servicebus.Filter{Kind: servicebus.SQLFilter, SQL: servicebus.SQL{Expression: filter}}}
	if action != "" {
		r.Action = &servicebus.SQL{Expression: action}
	}
	return r
}

// busTopicTests are the rules of spec messaging 1.6.
var busTopicTests = []busTest{
	{"EverySubscriptionGetsACopy", false, func(b *busBench) {
		b.topic(servicebus.Topic{Name: "t"})
		b.send("t", text1("nobody wants it"))
		b.subscription(servicebus.Subscription{Topic: "t", Name: "one"}, nil)
		b.subscription(servicebus.Subscription{Topic: "T", Name: "Two"}, nil)
		b.sendText("t", "a")
		one, two := b.receiver("t/Subscriptions/one"), b.receiver("T/subscriptions/TWO")
		if b.Features.CreatedNames && two.Source() != "t/Subscriptions/Two" {
			b.Errorf("Source = %q, want t/Subscriptions/Two", two.Source())
		}
		m := b.receiveOne(one)
		b.expect("Receive", []*busReceived{m}, "a")
		b.deadLetter(one, m)
		b.expect("Receive", b.receive(two, 1), "a")
		b.expect("Receive", b.receive(b.receiver("t/Subscriptions/one"+dlq), 1), "a")
	}},
	{"CorrelationFilter", false, func(b *busBench) {
		b.topic(servicebus.Topic{Name: "t"})
		b.subscription(servicebus.Subscription{Topic: "t", Name: "s"}, correlate("r", servicebus.Correlation{
			Subject: of("Red"), Properties: map[string]any{"size": int64(5)},
		}))
		b.send("t",
			&busMessage{Body: []byte("both"), Subject: "Red", ApplicationProperties: map[string]any{"size": int32(5), "other": "x"}},
			&busMessage{Body: []byte("case"), Subject: "red", ApplicationProperties: map[string]any{"size": int64(5)}},
			&busMessage{Body: []byte("no property"), Subject: "Red"},
			&busMessage{Body: []byte("other value"), Subject: "Red", ApplicationProperties: map[string]any{"size": int64(6)}},
		)
		r := b.receiver("t/Subscriptions/s")
		b.expect("Receive", b.receive(r, 1), "both")
		b.receiveNone(r)
	}},
	{"CorrelationFilterFields", false, func(b *busBench) {
		b.topic(servicebus.Topic{Name: "t"})
		all := servicebus.Correlation{
			CorrelationID: of("c"), MessageID: of("m"), To: of("t"), ReplyTo: of("r"), Subject: of("s"),
			SessionID: of("i"), ReplyToSessionID: of("x"), ContentType: of("y"),
		}
		b.subscription(servicebus.Subscription{Topic: "t", Name: "s"}, correlate("r", all))
		full := busMessage{Body: []byte("all"), CorrelationID: "c", MessageID: "m", To: "t", ReplyTo: "r", Subject: "s", SessionID: of("i"), ReplyToSessionID: of("x"), ContentType: "y"}
		for _, spoil := range []func(m *busMessage){
			func(m *busMessage) { m.CorrelationID = "" }, func(m *busMessage) { m.MessageID = "z" }, func(m *busMessage) { m.To = "z" },
			func(m *busMessage) { m.ReplyTo = "z" }, func(m *busMessage) { m.Subject = "z" }, func(m *busMessage) { m.SessionID = nil },
			func(m *busMessage) { m.ReplyToSessionID = of("") }, func(m *busMessage) { m.ContentType = "z" },
		} {
			m := full
			spoil(&m)
			m.Body = []byte("spoilt")
			b.send("t", &m)
		}
		b.send("t", &full)
		b.expect("Receive", b.receive(b.receiver("t/Subscriptions/s"), 1), "all")
	}},
	{"RulesCombineByOr", false, func(b *busBench) {
		b.topic(servicebus.Topic{Name: "t"})
		b.subscription(servicebus.Subscription{Topic: "t", Name: "s"}, correlate("red", servicebus.Correlation{Subject: of("red")}))
		b.do(func(ctx context.Context) {
			_, err := b.Namespace.CreateRule(ctx, "t", "s", *correlate("five", servicebus.Correlation{Properties: map[string]any{"size": int64(5)}}))
			b.must("CreateRule", err)
		})
		five := map[string]any{"size": int64(5)}
		b.send("t", &busMessage{Body: []byte("1"), Subject: "red"}, &busMessage{Body: []byte("2"), ApplicationProperties: five},
			&busMessage{Body: []byte("3"), Subject: "red", ApplicationProperties: five}, &busMessage{Body: []byte("4"), Subject: "blue"})
		r := b.receiver("t/Subscriptions/s")
		b.expect("Receive", b.receive(r, 3), "1", "2", "3")
		b.receiveNone(r)
	}},
	{"RulesWithActionsMakeCopiesOfTheirOwn", false, func(b *busBench) {
		b.topic(servicebus.Topic{Name: "t"})
		b.subscription(servicebus.Subscription{Topic: "t", Name: "s"}, sqlRule("plain", "size > 1", ""))
		b.do(func(ctx context.Context) {
			for _, r := range []*servicebus.Rule{
				sqlRule("plain-too", "size > 2", ""), sqlRule("first", "size > 3", "SET size = size + 1; SET sys.Label = 'changed'"), sqlRule("second", "1=1", "REMOVE size"),
			} {
				_, err := b.Namespace.CreateRule(ctx, "t", "s", *r)
				b.must("CreateRule", err)
			}
		})
		b.send("t", &busMessage{Body: []byte("a"), Subject: "s", ApplicationProperties: map[string]any{"size": int64(5)}})
		r := b.receiver("t/Subscriptions/s")
		byRule := map[any]*busReceived{}
		for _, m := range b.receive(r, 3) {
			byRule[m.ApplicationProperties[servicebus.RuleName]] = m
		}
		b.receiveNone(r)
		if m := byRule[nil]; m == nil || m.ApplicationProperties["size"] != int64(5) || m.Subject != "s" {
			b.Errorf("copy for the rules without an action = %+v", m)
		}
		if m := byRule["first"]; m == nil || m.ApplicationProperties["size"] != int64(6) || m.Subject != "changed" {
			b.Errorf("copy of the rule first = %+v", m)
		}
		if m := byRule["second"]; m == nil || m.ApplicationProperties["size"] != nil {
			b.Errorf("copy of the rule second = %+v", m)
		}
	}},
	{"FilterThatFails", false, func(b *busBench) {
		b.topic(servicebus.Topic{Name: "t"})
		failing := sqlRule("r", "size / zero > 1", "")
		b.subscription(servicebus.Subscription{Topic: "t", Name: "on"}, failing)
		b.subscription(servicebus.Subscription{Topic: "t", Name: "off", DeadLetteringOnFilterEvaluationExceptions: of(false)}, failing)
		b.send("t", &busMessage{Body: []byte("a"), ApplicationProperties: map[string]any{"size": int64(1), "zero": int64(0)}})
		b.receiveNone(b.receiver("t/Subscriptions/on"))
		b.expectReason(b.receiveOne(b.receiver("t/Subscriptions/on"+dlq)), "FilterException")
		b.receiveNone(b.receiver("t/Subscriptions/off"))
		b.receiveNone(b.receiver("t/Subscriptions/off" + dlq))
	}},
	{"FalseFilterAndNoRules", false, func(b *busBench) {
		b.topic(servicebus.Topic{Name: "t"})
		b.subscription(servicebus.Subscription{Topic: "t", Name: "s"}, &servicebus.Rule{Name: "never", Filter: servicebus.Filter{Kind: servicebus.FalseFilter}})
		b.sendText("t", "a")
		r := b.receiver("t/Subscriptions/s")
		b.receiveNone(r)
		b.must("DeleteRule", b.call(func(ctx context.Context) error { return b.Namespace.DeleteRule(ctx, "t", "s", "NEVER") }))
		b.sendText("t", "b")
		b.receiveNone(r)
	}},
	{"TopicCutsTimeToLive", true, func(b *busBench) {
		b.topic(servicebus.Topic{Name: "t", DefaultMessageTimeToLive: time.Minute})
		b.subscription(servicebus.Subscription{Topic: "t", Name: "s", DefaultMessageTimeToLive: time.Hour}, nil)
		b.send("t", &busMessage{Body: []byte("a"), TimeToLive: time.Hour})
		m := b.receiveOne(b.receiver("t/Subscriptions/s"))
		if got := m.ExpiresAt.Sub(m.EnqueuedTime); got != time.Minute {
			b.Errorf("life = %v, want the topic's 1m", got)
		}
	}},
	{"TopicKeepsScheduledMessages", true, func(b *busBench) {
		b.topic(servicebus.Topic{Name: "t"})
		b.send("t", &busMessage{Body: []byte("a"), ScheduledEnqueueTime: b.Now().Add(time.Minute)})
		b.subscription(servicebus.Subscription{Topic: "t", Name: "late"}, nil) // sees what becomes active later
		r := b.receiver("t/Subscriptions/late")
		if ms := b.peek(r, 0, 10); len(ms) != 0 {
			b.Errorf("Peek on the subscription = %q, want none", bodies(ms))
		}
		b.Advance(time.Minute)
		b.expect("Receive", b.receive(r, 1), "a")
	}},
	{"TopicDetectsDuplicates", false, func(b *busBench) {
		b.topic(servicebus.Topic{Name: "t", RequiresDuplicateDetection: true})
		b.subscription(servicebus.Subscription{Topic: "t", Name: "s"}, nil)
		b.send("t", text1("a"))
		b.send("t", text1("a"))
		r := b.receiver("t/Subscriptions/s")
		b.expect("Receive", b.receive(r, 1), "a")
		b.receiveNone(r)
	}},
}

// busForwardTests are the rules of spec messaging 1.7.
var busForwardTests = []busTest{
	{"ForwardedMessage", false, func(b *busBench) {
		b.queue(busQueue{Name: "target"})
		b.sendText("target", "before", "and before")
		b.queue(busQueue{Name: "q", ForwardTo: "TARGET"})
		if got := b.info("q").ForwardTo; got != "target" {
			b.Errorf("ForwardTo = %q, want target, as it was created", got)
		}
		b.sendText("q", "a")
		_, err := b.tryReceiver("q", nil)
		b.fails("Receiver on a queue that forwards", err, messaging.ErrNotAllowed)
		r := b.receiver("target")
		m := b.receive(r, 3)[2]
		b.expect("Receive", []*busReceived{m}, "a")
		if m.EnqueuedSequenceNumber == 0 || m.SequenceNumber == m.EnqueuedSequenceNumber {
			b.Errorf("numbers %d, %d, want a new one and that of the first queue", m.SequenceNumber, m.EnqueuedSequenceNumber)
		}
		b.expectCount("of a forwarded message", m, 0)
		b.counts("q", servicebus.Counts{})
	}},
	{"ForwardingStopsAfterFourHops", false, func(b *busBench) {
		names := []string{"q0", "q1", "q2", "q3", "q4", "q5"}
		for i := len(names) - 1; i >= 0; i-- {
			q := busQueue{Name: names[i]}
			if i < len(names)-1 {
				q.ForwardTo = names[i+1]
			}
			b.queue(q)
		}
		b.sendText("q1", "four hops")
		b.sendText("q0", "five hops")
		r := b.receiver("q5")
		b.expect("Receive", b.receive(r, 1), "four hops")
		b.receiveNone(r)
		failed := "q4" + tdlq
		if !b.Features.TransferDLQ {
			failed = "q4" + dlq
		}
		m := b.receiveOne(b.receiver(failed))
		b.expect("Receive", []*busReceived{m}, "five hops")
		b.expectReason(m, "MaxTransferHopCountExceeded")
	}},
	{"TransferFailures", false, func(b *busBench) {
		failed := tdlq
		if !b.Features.TransferDLQ {
			failed = dlq
		}
		b.queue(busQueue{Name: "gone"})
		b.queue(busQueue{Name: "off"})
		b.queue(busQueue{Name: "full", MaxSizeInMegabytes: 1})
		for _, target := range []string{"gone", "off", "full"} {
			b.queue(busQueue{Name: "to-" + target, ForwardTo: target})
		}
		b.do(func(ctx context.Context) {
			b.must("DeleteQueue", b.Namespace.DeleteQueue(ctx, "gone"))
			_, err := b.Namespace.UpdateQueue(ctx, busQueue{Name: "off", Status: servicebus.StatusDisabled})
			b.must("UpdateQueue", err)
		})
		targets := []string{"gone", "off"}
		if b.Features.SmallEntities {
			targets = append(targets, "full")
			for range 4 {
				b.send("full", &busMessage{Body: make([]byte, 255<<10)})
			}
		}
		for _, target := range targets {
			b.send("to-"+target, &busMessage{MessageID: "m", Body: make([]byte, 100<<10)})
			m := b.receiveOne(b.receiver("to-" + target + failed))
			if reason, _ := m.ApplicationProperties[servicebus.DeadLetterReason].(string); reason == "" || m.MessageID != "m" {
				b.Errorf("after forwarding to %s: %q with reason %q", target, m.MessageID, reason)
			}
		}
		if b.Features.TransferDLQ {
			b.counts("to-gone", servicebus.Counts{TransferDeadLetter: 1})
		}
	}},
	{"DeadLettersAreForwarded", false, func(b *busBench) {
		b.queue(busQueue{Name: "target"})
		b.topic(servicebus.Topic{Name: "t"})
		b.subscription(servicebus.Subscription{Topic: "t", Name: "s", ForwardDeadLetteredMessagesTo: "target"}, nil)
		b.sendText("t", "a")
		r := b.receiver("t/Subscriptions/s")
		b.deadLetter(r, b.receiveOne(r))
		m := b.receiveOne(b.receiver("target"))
		b.expectReason(m, "reason")
		if m.DeadLetterSource != "t/Subscriptions/s" {
			b.Errorf("DeadLetterSource = %q, want t/Subscriptions/s", m.DeadLetterSource)
		}
	}},
	{"SubscriptionForwardsToATopic", false, func(b *busBench) {
		b.topic(servicebus.Topic{Name: "second"})
		b.subscription(servicebus.Subscription{Topic: "second", Name: "s"}, nil)
		b.topic(servicebus.Topic{Name: "first"})
		b.subscription(servicebus.Subscription{Topic: "first", Name: "s", ForwardTo: "second"}, nil)
		b.sendText("first", "a")
		b.expect("Receive", b.receive(b.receiver("second/Subscriptions/s"), 1), "a")
	}},
	{"MessagesLeaveWhenForwardingBegins", false, func(b *busBench) {
		b.queue(busQueue{Name: "target"})
		b.queue(busQueue{Name: "q"})
		b.sendText("q", "a", "b")
		b.do(func(ctx context.Context) {
			_, err := b.Namespace.UpdateQueue(ctx, busQueue{Name: "q", ForwardTo: "target"})
			b.must("UpdateQueue", err)
		})
		b.expect("Receive", b.receive(b.receiver("target"), 2), "a", "b")
	}},
	{"ScheduledMessageIsForwarded", true, func(b *busBench) {
		b.queue(busQueue{Name: "target"})
		b.queue(busQueue{Name: "q", ForwardTo: "target"})
		b.send("q", &busMessage{Body: []byte("a"), ScheduledEnqueueTime: b.Now().Add(time.Minute)})
		r := b.receiver("target")
		b.receiveNone(r)
		b.Advance(time.Minute)
		b.expect("Receive", b.receive(r, 1), "a")
	}},
}
