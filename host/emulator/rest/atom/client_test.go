package atom_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"
	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings/servicebus"
)

const maximum = "P10675199DT2H48M5.4775807S"

func statusOf(err error) int {
	if e, ok := errors.AsType[*azcore.ResponseError](err); ok {
		return e.StatusCode
	}
	return 0
}

// TestClientQueues walks through every operation on queues with the official client.
func TestClientQueues(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	c, ctx := d.client(), t.Context()

	created, err := c.CreateQueue(ctx, "Orders/new", nil)
	if err != nil {
		t.Fatal(err)
	}
	defaults := admin.QueueProperties{
		LockDuration: to.Ptr("PT1M"), MaxSizeInMegabytes: to.Ptr[int32](1024), RequiresDuplicateDetection: to.Ptr(false), RequiresSession: to.Ptr(false),
		DefaultMessageTimeToLive: to.Ptr(maximum), DeadLetteringOnMessageExpiration: to.Ptr(false), DuplicateDetectionHistoryTimeWindow: to.Ptr("PT10M"),
		MaxDeliveryCount: to.Ptr[int32](10), EnableBatchedOperations: to.Ptr(true), Status: to.Ptr(admin.EntityStatusActive), AutoDeleteOnIdle: to.Ptr(maximum),
		EnablePartitioning: to.Ptr(false), MaxMessageSizeInKilobytes: to.Ptr[int64](256),
	}
	if diff := cmp.Diff(defaults, created.QueueProperties); diff != "" {
		t.Errorf("a queue without settings (-want +got):\n%s", diff)
	}
	if _, err := c.CreateQueue(ctx, "orders/NEW", nil); statusOf(err) != http.StatusConflict {
		t.Errorf("create again: %v, want 409", err)
	}

	if _, err := c.CreateQueue(ctx, "target", nil); err != nil {
		t.Fatal(err)
	}
	all := admin.QueueProperties{
		LockDuration: to.Ptr("PT2M30S"), MaxSizeInMegabytes: to.Ptr[int32](2048), RequiresDuplicateDetection: to.Ptr(true), RequiresSession: to.Ptr(false),
		DefaultMessageTimeToLive: to.Ptr("P14D"), DeadLetteringOnMessageExpiration: to.Ptr(true), DuplicateDetectionHistoryTimeWindow: to.Ptr("PT20S"),
		MaxDeliveryCount: to.Ptr[int32](100), EnableBatchedOperations: to.Ptr(false), Status: to.Ptr(admin.EntityStatusSendDisabled), AutoDeleteOnIdle: to.Ptr("PT5M"),
		EnablePartitioning: to.Ptr(false), ForwardTo: to.Ptr("target"), ForwardDeadLetteredMessagesTo: to.Ptr("sb://elsewhere.servicebus.windows.net/Orders/new"),
		UserMetadata: to.Ptr(`<a & "b">` + "\r\n"), MaxMessageSizeInKilobytes: to.Ptr[int64](1024),
	}
	want := all
	want.ForwardTo = to.Ptr("sb://" + hostName + "/target")
	full, err := c.CreateQueue(ctx, "full", &admin.CreateQueueOptions{Properties: &all})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, full.QueueProperties); diff != "" {
		t.Errorf("a queue with all settings (-want +got):\n%s", diff)
	}

	// An update sends the description that the service reported.
	changed := full.QueueProperties
	changed.LockDuration, changed.MaxDeliveryCount, changed.ForwardTo = to.Ptr("PT30S"), to.Ptr[int32](3), nil
	d.clk.Advance(time.Minute)
	updated, err := c.UpdateQueue(ctx, "FULL", changed, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(changed, updated.QueueProperties); diff != "" {
		t.Errorf("after the update (-want +got):\n%s", diff)
	}
	changed.RequiresSession = to.Ptr(true)
	if _, err := c.UpdateQueue(ctx, "full", changed, nil); statusOf(err) != http.StatusBadRequest {
		t.Errorf("update of requiresSession: %v, want 400", err)
	}
	if _, err := c.UpdateQueue(ctx, "missing", admin.QueueProperties{}, nil); statusOf(err) != http.StatusNotFound {
		t.Errorf("update of a missing queue: %v, want 404", err)
	}

	got, err := c.GetQueue(ctx, "full", nil)
	if err != nil || got == nil || *got.MaxDeliveryCount != 3 {
		t.Errorf("get: %v, %v", got, err)
	}
	if got, err := c.GetQueue(ctx, "missing", nil); got != nil || err != nil {
		t.Errorf("get of a missing queue: %v, %v; want nil, nil", got, err)
	}
	runtime, err := c.GetQueueRuntimeProperties(ctx, "full", nil)
	if err != nil {
		t.Fatal(err)
	}
	if !runtime.CreatedAt.Equal(start) || !runtime.UpdatedAt.Equal(start.Add(time.Minute)) {
		t.Errorf("created %v, updated %v", runtime.CreatedAt, runtime.UpdatedAt)
	}

	if _, err := c.DeleteQueue(ctx, "full", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := c.DeleteQueue(ctx, "full", nil); statusOf(err) != http.StatusNotFound {
		t.Errorf("delete again: %v, want 404", err)
	}
}

// TestPartitionedSize: a partitioned entity has sixteen times the size that was asked
// for, and keeps it when what was reported comes back (azure-sdk-for-go,
// azservicebus/admin live tests QueueWithMaxValues and CreateQueue_Standard).
func TestPartitionedSize(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	c, ctx := d.client(), t.Context()
	size, yes := to.Ptr[int32](4096), to.Ptr(true)
	created, err := c.CreateQueue(ctx, "q", &admin.CreateQueueOptions{Properties: &admin.QueueProperties{EnablePartitioning: yes, MaxSizeInMegabytes: size}})
	if err != nil {
		t.Fatal(err)
	}
	updated, err := c.UpdateQueue(ctx, "q", created.QueueProperties, nil)
	if err != nil {
		t.Fatal(err)
	}
	topic, err := c.CreateTopic(ctx, "t", &admin.CreateTopicOptions{Properties: &admin.TopicProperties{EnablePartitioning: yes}})
	if err != nil {
		t.Fatal(err)
	}
	for what, got := range map[string][2]int32{
		"created": {*created.MaxSizeInMegabytes, 64 << 10}, "updated": {*updated.MaxSizeInMegabytes, 64 << 10}, "default of a topic": {*topic.MaxSizeInMegabytes, 16 << 10},
	} {
		if got[0] != got[1] {
			t.Errorf("%s: %d MB, want %d", what, got[0], got[1])
		}
	}
}

// TestClientCounts shows the counts of every state of a message.
func TestClientCounts(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	d.create("orders", "topic1", "topic1/Subscriptions/all")
	d.do(func(ctx context.Context) {
		for _, m := range []*servicebus.Message{
			{MessageID: "1"}, {MessageID: "2"}, {MessageID: "3"}, {MessageID: "4", ScheduledEnqueueTime: start.Add(time.Hour)},
		} {
			for _, entity := range []string{"orders", "topic1"} {
				if err := d.ns.Send(ctx, entity, m); err != nil {
					t.Fatal(err)
				}
			}
		}
		r, err := d.ns.Receiver(ctx, "orders", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close(ctx)
		messages, err := r.Receive(ctx, 2, 0)
		if err != nil || len(messages) != 2 {
			t.Fatalf("received %d: %v", len(messages), err)
		}
		if err := r.DeadLetter(ctx, messages[0], "spoilt", "", nil); err != nil {
			t.Fatal(err)
		}
		if err := r.Defer(ctx, messages[1], nil); err != nil {
			t.Fatal(err)
		}
	})
	c := d.client()
	q, err := c.GetQueueRuntimeProperties(t.Context(), "orders", nil)
	if err != nil {
		t.Fatal(err)
	}
	if q.ActiveMessageCount != 1 || q.DeadLetterMessageCount != 1 || q.ScheduledMessageCount != 1 || q.TransferDeadLetterMessageCount != 0 || q.TotalMessageCount != 4 {
		t.Errorf("queue: %+v", q.QueueRuntimeProperties)
	}
	if q.SizeInBytes == 0 || !q.AccessedAt.Equal(start) {
		t.Errorf("size %d, accessed %v", q.SizeInBytes, q.AccessedAt)
	}
	topic, err := c.GetTopicRuntimeProperties(t.Context(), "topic1", nil)
	if err != nil {
		t.Fatal(err)
	}
	if topic.ScheduledMessageCount != 1 || topic.SubscriptionCount != 1 || topic.SQLFilterCount != 1 || topic.CorrelationFilterCount != 0 {
		t.Errorf("topic: %+v", topic.TopicRuntimeProperties)
	}
	sub, err := c.GetSubscriptionRuntimeProperties(t.Context(), "topic1", "all", nil)
	if err != nil {
		t.Fatal(err)
	}
	if sub.ActiveMessageCount != 3 || sub.TotalMessageCount != 3 {
		t.Errorf("subscription: %+v", sub.SubscriptionRuntimeProperties)
	}
}

// TestClientTopics walks through topics and subscriptions.
func TestClientTopics(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	c, ctx := d.client(), t.Context()
	props := admin.TopicProperties{
		MaxSizeInMegabytes: to.Ptr[int32](2048), RequiresDuplicateDetection: to.Ptr(true), DefaultMessageTimeToLive: to.Ptr("PT3M"),
		DuplicateDetectionHistoryTimeWindow: to.Ptr("PT4M"), EnableBatchedOperations: to.Ptr(true), Status: to.Ptr(admin.EntityStatusActive),
		AutoDeleteOnIdle: to.Ptr("PT7M"), EnablePartitioning: to.Ptr(false), SupportOrdering: to.Ptr(true), UserMetadata: to.Ptr("mine"),
		MaxMessageSizeInKilobytes: to.Ptr[int64](256),
	}
	topic, err := c.CreateTopic(ctx, "events", &admin.CreateTopicOptions{Properties: &props})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(props, topic.TopicProperties); diff != "" {
		t.Errorf("topic (-want +got):\n%s", diff)
	}
	props.UserMetadata, props.Status = to.Ptr("other"), to.Ptr(admin.EntityStatusSendDisabled)
	if updated, err := c.UpdateTopic(ctx, "events", props, nil); err != nil || *updated.UserMetadata != "other" || *updated.Status != admin.EntityStatusSendDisabled {
		t.Errorf("update: %+v, %v", updated, err)
	}
	if got, err := c.GetTopic(ctx, "missing", nil); got != nil || err != nil {
		t.Errorf("get of a missing topic: %v, %v; want nil, nil", got, err)
	}
	if _, err := c.CreateQueue(ctx, "EVENTS", nil); statusOf(err) != http.StatusConflict {
		t.Errorf("a queue with the topic's name: %v, want 409", err)
	}

	if _, err := c.CreateQueue(ctx, "target", nil); err != nil {
		t.Fatal(err)
	}
	sub := admin.SubscriptionProperties{
		LockDuration: to.Ptr("PT3M"), RequiresSession: to.Ptr(false), DefaultMessageTimeToLive: to.Ptr("PT8M"), DeadLetteringOnMessageExpiration: to.Ptr(true),
		EnableDeadLetteringOnFilterEvaluationExceptions: to.Ptr(false), MaxDeliveryCount: to.Ptr[int32](11), Status: to.Ptr(admin.EntityStatusActive),
		AutoDeleteOnIdle: to.Ptr("PT10M"), ForwardTo: to.Ptr("target"), ForwardDeadLetteredMessagesTo: to.Ptr("target"), EnableBatchedOperations: to.Ptr(false),
		UserMetadata: to.Ptr("some"),
		DefaultRule:  &admin.RuleProperties{Name: "first", Filter: &admin.SQLFilter{Expression: "color = @c", Parameters: map[string]any{"@c": "red"}}},
	}
	created, err := c.CreateSubscription(ctx, "events", "all", &admin.CreateSubscriptionOptions{Properties: &sub})
	if err != nil {
		t.Fatal(err)
	}
	want := sub
	want.DefaultRule = nil
	want.ForwardTo, want.ForwardDeadLetteredMessagesTo = to.Ptr("sb://"+hostName+"/target"), to.Ptr("sb://"+hostName+"/target")
	if diff := cmp.Diff(want, created.SubscriptionProperties); diff != "" {
		t.Errorf("subscription (-want +got):\n%s", diff)
	}
	rule, err := c.GetRule(ctx, "events", "all", "first", nil)
	if err != nil || rule == nil {
		t.Fatalf("first rule: %v, %v", rule, err)
	}
	if diff := cmp.Diff(sub.DefaultRule.Filter, rule.Filter); diff != "" {
		t.Errorf("first rule (-want +got):\n%s", diff)
	}
	want.MaxDeliveryCount = to.Ptr[int32](2)
	if updated, err := c.UpdateSubscription(ctx, "events", "all", want, nil); err != nil || *updated.MaxDeliveryCount != 2 {
		t.Errorf("update: %+v, %v", updated, err)
	}
	if _, err := c.CreateSubscription(ctx, "events", "all", nil); statusOf(err) != http.StatusConflict {
		t.Errorf("create again: %v, want 409", err)
	}
	if _, err := c.CreateSubscription(ctx, "missing", "all", nil); statusOf(err) != http.StatusNotFound {
		t.Errorf("create below a missing topic: %v, want 404", err)
	}
	if got, err := c.GetSubscription(ctx, "events", "missing", nil); got != nil || err != nil {
		t.Errorf("get of a missing subscription: %v, %v; want nil, nil", got, err)
	}
	if _, err := c.DeleteSubscription(ctx, "events", "missing", nil); statusOf(err) != http.StatusNotFound {
		t.Errorf("delete of a missing subscription: %v, want 404", err)
	}
	if _, err := c.DeleteSubscription(ctx, "events", "all", nil); err != nil {
		t.Error(err)
	}
	if _, err := c.DeleteTopic(ctx, "events", nil); err != nil {
		t.Error(err)
	}
}

// TestClientRules sends every kind of filter and value through the official client.
func TestClientRules(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	d.create("topic1", "topic1/Subscriptions/all")
	c, ctx := d.client(), t.Context()
	when := time.Date(2024, 5, 6, 7, 8, 9, 123456700, time.UTC)
	values := map[string]any{"@text": "<x>", "@int": int64(7), "@double": 1.5, "@bool": true, "@time": when}
	for name, r := range map[string]admin.RuleProperties{
		"true":  {Filter: &admin.TrueFilter{}},
		"false": {Filter: &admin.FalseFilter{}},
		"sql":   {Filter: &admin.SQLFilter{Expression: "a = @text OR b < @int", Parameters: values}},
		"correlation": {Filter: &admin.CorrelationFilter{
			ContentType: to.Ptr("1"), CorrelationID: to.Ptr("2"), MessageID: to.Ptr("3"), ReplyTo: to.Ptr("4"), ReplyToSessionID: to.Ptr("5"),
			SessionID: to.Ptr("6"), Subject: to.Ptr("7"), To: to.Ptr(""), ApplicationProperties: map[string]any{"p": "v", "n": int64(1)},
		}},
		"action": {Filter: &admin.TrueFilter{}, Action: &admin.SQLAction{Expression: "SET a = @text", Parameters: map[string]any{"@text": "x"}}},
	} {
		created, err := c.CreateRule(ctx, "topic1", "all", &admin.CreateRuleOptions{Name: &name, Filter: r.Filter, Action: r.Action})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		r.Name = name
		if diff := cmp.Diff(r, created.RuleProperties); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if _, err := c.CreateRule(ctx, "topic1", "all", &admin.CreateRuleOptions{}); statusOf(err) != http.StatusConflict {
		t.Errorf("a rule without a name is $Default, which exists: %v, want 409", err)
	}
	if _, err := c.CreateRule(ctx, "topic1", "all", &admin.CreateRuleOptions{Name: to.Ptr("bad"), Filter: &admin.SQLFilter{Expression: "a ="}}); statusOf(err) != http.StatusBadRequest {
		t.Errorf("an expression that does not parse: %v, want 400", err)
	}
	updated, err := c.UpdateRule(ctx, "topic1", "all", admin.RuleProperties{Name: "sql", Filter: &admin.FalseFilter{}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(admin.RuleProperties{Name: "sql", Filter: &admin.FalseFilter{}}, updated.RuleProperties); diff != "" {
		t.Errorf("update (-want +got):\n%s", diff)
	}
	if _, err := c.DeleteRule(ctx, "topic1", "all", "$Default", nil); err != nil {
		t.Error(err)
	}
	if got, err := c.GetRule(ctx, "topic1", "all", "$Default", nil); got != nil || err != nil {
		t.Errorf("get of a missing rule: %v, %v; want nil, nil", got, err)
	}
	var names []string
	for pager := c.NewListRulesPager("topic1", "all", &admin.ListRulesOptions{MaxPageSize: 2}); pager.More(); {
		page, err := pager.NextPage(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Rules {
			names = append(names, r.Name)
		}
	}
	if diff := cmp.Diff([]string{"action", "correlation", "false", "sql", "true"}, names); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
}

// TestClientLists pages through everything there is to list.
func TestClientLists(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	d.create("a", "b", "c", "topic1", "topic2", "topic3", "topic1/Subscriptions/x", "topic1/Subscriptions/y", "topic1/Subscriptions/z")
	c, ctx := d.client(), t.Context()
	for _, size := range []int32{0, 1, 2, 3, 5} {
		got := map[string][]string{}
		for p := c.NewListQueuesPager(&admin.ListQueuesOptions{MaxPageSize: size}); p.More(); {
			page, err := p.NextPage(ctx)
			if err != nil {
				t.Fatal(err)
			}
			for _, q := range page.Queues {
				got["queues"] = append(got["queues"], q.QueueName)
			}
		}
		for p := c.NewListTopicsRuntimePropertiesPager(&admin.ListTopicsRuntimePropertiesOptions{MaxPageSize: size}); p.More(); {
			page, err := p.NextPage(ctx)
			if err != nil {
				t.Fatal(err)
			}
			for _, q := range page.TopicRuntimeProperties {
				got["topics"] = append(got["topics"], q.TopicName)
			}
		}
		for p := c.NewListSubscriptionsRuntimePropertiesPager("topic1", &admin.ListSubscriptionsRuntimePropertiesOptions{MaxPageSize: size}); p.More(); {
			page, err := p.NextPage(ctx)
			if err != nil {
				t.Fatal(err)
			}
			for _, q := range page.SubscriptionRuntimeProperties {
				got["subscriptions"] = append(got["subscriptions"], q.TopicName+"/"+q.SubscriptionName)
			}
		}
		want := map[string][]string{"queues": {"a", "b", "c"}, "topics": {"topic1", "topic2", "topic3"}, "subscriptions": {"topic1/x", "topic1/y", "topic1/z"}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("pages of %d (-want +got):\n%s", size, diff)
		}
	}
}

func TestClientNamespace(t *testing.T) {
	t.Parallel()
	c := newServer(t, nil).client()
	got, err := c.GetNamespaceProperties(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := admin.NamespaceProperties{Name: "sbemulatorns", SKU: "Standard", CreatedTime: start, ModifiedTime: start}
	if diff := cmp.Diff(want, got.NamespaceProperties); diff != "" {
		t.Errorf("namespace (-want +got):\n%s", diff)
	}
}
