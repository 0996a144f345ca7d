package atom_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"
	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings/servicebus"
)

// TestAuthorizationRulesAreKept: queues and topics report the rules that they were given,
// through updates too, and refuse the rules that the service refuses.
func TestAuthorizationRulesAreKept(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	c, ctx := d.client(), t.Context()
	rules := []admin.AuthorizationRule{
		{KeyName: to.Ptr("all"), PrimaryKey: to.Ptr("bGlzdGVu"), SecondaryKey: to.Ptr("c2Vjb25k"), AccessRights: []admin.AccessRight{admin.AccessRightManage, admin.AccessRightSend, admin.AccessRightListen}},
		{KeyName: to.Ptr("senders"), PrimaryKey: to.Ptr("c2VuZA=="), SecondaryKey: to.Ptr("b3RoZXI="), AccessRights: []admin.AccessRight{admin.AccessRightSend}},
	}
	same := func(what string, got []admin.AuthorizationRule, want ...admin.AuthorizationRule) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	queue, err := c.CreateQueue(ctx, "q", &admin.CreateQueueOptions{Properties: &admin.QueueProperties{AuthorizationRules: rules}})
	if err != nil {
		t.Fatal(err)
	}
	same("created queue", queue.AuthorizationRules, rules...)
	if got, err := c.GetQueue(ctx, "q", nil); err != nil {
		t.Error(err)
	} else {
		same("queue", got.AuthorizationRules, rules...)
	}
	queue.AuthorizationRules = rules[1:]
	updated, err := c.UpdateQueue(ctx, "q", queue.QueueProperties, nil)
	if err != nil {
		t.Fatal(err)
	}
	same("updated queue", updated.AuthorizationRules, rules[1])
	topic, err := c.CreateTopic(ctx, "t", &admin.CreateTopicOptions{Properties: &admin.TopicProperties{AuthorizationRules: rules}})
	if err != nil {
		t.Fatal(err)
	}
	same("created topic", topic.AuthorizationRules, rules...)

	made, err := c.CreateQueue(ctx, "made", &admin.CreateQueueOptions{Properties: &admin.QueueProperties{AuthorizationRules: []admin.AuthorizationRule{
		{KeyName: to.Ptr("listeners"), AccessRights: []admin.AccessRight{admin.AccessRightListen}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	if r := made.AuthorizationRules[0]; *r.PrimaryKey == "" || *r.SecondaryKey == "" || *r.PrimaryKey == *r.SecondaryKey {
		t.Errorf("keys %q and %q, want two that were made", *r.PrimaryKey, *r.SecondaryKey)
	}
	for name, refused := range map[string][]admin.AuthorizationRule{
		"manage alone": {{KeyName: to.Ptr("x"), AccessRights: []admin.AccessRight{admin.AccessRightManage}}},
		"no right":     {{KeyName: to.Ptr("x")}},
		"no such":      {{KeyName: to.Ptr("x"), AccessRights: []admin.AccessRight{"Read"}}},
		"no name":      {{AccessRights: []admin.AccessRight{admin.AccessRightSend}}},
		"twice":        {rules[0], rules[0]},
		"too many":     make([]admin.AuthorizationRule, 13),
	} {
		_, err := c.CreateQueue(ctx, "refused", &admin.CreateQueueOptions{Properties: &admin.QueueProperties{AuthorizationRules: refused}})
		if statusOf(err) != http.StatusBadRequest {
			t.Errorf("%s: %v, want 400", name, err)
		}
	}
}

// A client that names a rule of an entity needs its key, its right to manage, and
// time that is left.
func TestAuthorizationRulesAreEnforced(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	rules := []servicebus.AuthorizationRule{
		{KeyName: "all", PrimaryKey: "one", SecondaryKey: "two", Rights: []servicebus.Right{servicebus.Manage, servicebus.Send, servicebus.Listen}},
		{KeyName: "senders", PrimaryKey: "three", SecondaryKey: "four", Rights: []servicebus.Right{servicebus.Send}},
	}
	d.do(func(ctx context.Context) {
		if _, err := d.ns.CreateQueue(ctx, servicebus.Queue{Name: "q", AuthorizationRules: rules}); err != nil {
			t.Error(err)
		}
		if _, err := d.ns.CreateTopic(ctx, servicebus.Topic{Name: "t", AuthorizationRules: rules}); err != nil {
			t.Error(err)
		}
		if _, err := d.ns.CreateSubscription(ctx, servicebus.Subscription{Topic: "t", Name: "s"}, nil); err != nil {
			t.Error(err)
		}
	})
	later := time.Now().Add(time.Hour) //clock:outside tokens are made in real time
	for _, c := range []struct {
		name, method, path, token string
		status                    int
	}{
		{"manage", "GET", "/q", sign("one", "all", "https://host/q", later), 200},
		{"second key, other case", "GET", "/q", sign("two", "ALL", "https://host/Q", later), 200},
		{"other key", "GET", "/q", sign("x", "all", "https://host/q", later), 401},
		{"other queue", "GET", "/q", sign("one", "all", "https://host/r", later), 401},
		{"expired", "GET", "/q", sign("one", "all", "https://host/q", start.Add(-time.Second)), 401},
		{"read without manage", "GET", "/q", sign("three", "senders", "https://host/q", later), 401},
		{"write without manage", "PUT", "/q", sign("three", "senders", "https://host/q", later), 401},
		{"delete without manage", "DELETE", "/q", sign("three", "senders", "https://host/q", later), 401},
		{"topic without manage", "GET", "/t", sign("three", "senders", "https://host/t", later), 401},
		{"subscription without manage", "DELETE", "/t/Subscriptions/s", sign("three", "senders", "https://host/t", later), 401},
		{"subscription", "GET", "/t/Subscriptions/s", sign("one", "all", "https://host/t", later), 200},
		{"rules without manage", "GET", "/t/Subscriptions/s/Rules", sign("three", "senders", "https://host/t", later), 401},
		{"no rule of the entity", "GET", "/q", sign("k", "RootManageSharedAccessKey", "https://host/", time.Unix(0, 0)), 200},
		{"no token", "GET", "/q", "", 200},
	} {
		var headers []string
		if c.token != "" {
			headers = []string{"Authorization", c.token}
		}
		if got := d.request(c.method, c.path, "", headers...).StatusCode; got != c.status {
			t.Errorf("%s: %d, want %d", c.name, got, c.status)
		}
	}
}
