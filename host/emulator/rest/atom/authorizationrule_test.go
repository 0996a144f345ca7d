package atom_test

import (
	"net/http"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"
	"github.com/google/go-cmp/cmp"
)

// TestAuthorizationRulesAreKept: queues and topics report the rules that they were given,
// through updates too, and refuse those that the service refuses.
func TestAuthorizationRulesAreKept(t *testing.T) {
	t.Parallel()
	d := newDoor(t, nil)
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
