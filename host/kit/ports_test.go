//clock:outside the tests are clients of the kit

package kit_test

import (
	"context"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2"
)

// SDK clients find the services of a host with ports, and nobody else's.
func TestPorts(t *testing.T) {
	t.Parallel()
	c := start(t)
	options := pack(nil)
	options["ports"] = true
	out := c.must("POST", "/kit/hosts", options)
	h := &test{c, "/kit/hosts/" + out["id"].(string)}
	queue, err := azqueue.NewQueueClientFromConnectionString(out["connections"].(object)["storage"].(string), "parcels", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := queue.Create(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := queue.EnqueueMessage(context.Background(), "Nw==", nil); err != nil {
		t.Fatal(err)
	}
	h.post("/drive", object{"until": object{"poisoned": "Pack"}})
	if got := h.deliveries("Pack"); got != "[1 1 1 1 1]" {
		t.Errorf("deliveries %s", got)
	}
	if out := c.must("POST", "/kit/hosts", pack(nil)); out["connections"] != nil {
		t.Errorf("a host without ports has %v", out["connections"])
	}
}
