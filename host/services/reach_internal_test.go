package services

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/clock"
)

// An unreachable account is told once, and its return once, for all of its services and
// any number of calls.
func TestOutageIsToldOnce(t *testing.T) {
	t.Parallel()
	clk := clock.NewVirtual(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), nil)
	t.Cleanup(clk.Close)
	c, told := connectionsOn(clk, nil)
	r := c.reachLocked("AzureWebJobsStorage")
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	lost := &bindings.UnreachableError{Err: errors.New("connection refused")}
	call := func(ctx context.Context, service string, took time.Duration, err error) {
		clk.Do("call", func() { r.note(ctx, service, clk.Now().Add(-took), err) })
		clk.Advance(time.Second)
	}
	ctx := context.Background()
	call(ctx, "queues", 0, nil)
	call(ctx, "queues", 0, lost)
	call(ctx, "queues", 0, lost)
	call(ctx, "blobs", 0, lost)
	call(ctx, "queues", 0, nil)
	call(ended, "blobs", 0, context.Canceled) // says nothing
	call(ctx, "blobs", 0, bindings.ErrNotFound)
	call(ctx, "blobs", time.Minute, lost) // begun before the last that was answered
	call(ctx, "blobs", 0, lost)
	call(ctx, "blobs", 0, nil)
	var got []string
	for _, rec := range told.Records() {
		got = append(got, fmt.Sprint(rec.Kind, " ", rec.Name, " ", rec.Delay, " ", rec.Error))
	}
	want := []string{
		"service_unreachable AzureWebJobsStorage 0s connection refused", "service_back AzureWebJobsStorage 5s ",
		"service_unreachable AzureWebJobsStorage 0s connection refused", "service_back AzureWebJobsStorage 1s ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}
