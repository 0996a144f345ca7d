package storage_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings/storage"
)

// TestClearTakesMessagesOnly: clearing takes the messages only.
func TestClearTakesMessagesOnly(t *testing.T) {
	t.Parallel()
	clk := newVirtual()
	s := openAccount(t, clk, openStore(t, "", nil), nil)
	metadata := map[string]string{"a": "1"}
	policies := []storage.AccessPolicy{{ID: "p", Permission: "raup"}}
	clk.Do("test", func() {
		ctx := context.Background()
		if _, err := s.CreateQueue(ctx, "orders", metadata); err != nil {
			t.Fatal(err)
		}
		if err := s.SetQueuePolicies(ctx, "orders", policies); err != nil {
			t.Fatal(err)
		}
		if err := s.Queue("orders").Clear(ctx); err != nil {
			t.Fatal(err)
		}
		gotMetadata, err := s.QueueMetadata(ctx, "orders")
		if diff := cmp.Diff(metadata, gotMetadata); diff != "" || err != nil {
			t.Errorf("metadata: %v (-want +got):\n%s", err, diff)
		}
		gotPolicies, err := s.QueuePolicies(ctx, "orders")
		if diff := cmp.Diff(policies, gotPolicies); diff != "" || err != nil {
			t.Errorf("policies: %v (-want +got):\n%s", err, diff)
		}
	})
}
