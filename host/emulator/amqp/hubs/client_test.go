package hubs_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azeventhubs/v2"
	goamqp "github.com/Azure/go-amqp"
	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings/eventhubs"
)

// The official Go client receives what it has sent: one by one and in batches, to a
// partition, by a key and in turn.
func TestSendAndReceive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, key, id, contentType := w.producer("orders"), "k", "m", "x/y"
	b, err := p.NewEventDataBatch(w.ctx, &azeventhubs.EventDataBatchOptions{PartitionKey: &key})
	if err != nil {
		t.Fatal(err)
	}
	sent := &azeventhubs.EventData{
		Body: []byte("one"), MessageID: &id, CorrelationID: "c", ContentType: &contentType,
		Properties: map[string]any{"n": int64(7), "s": "é", "t": time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)},
	}
	for _, e := range []*azeventhubs.EventData{sent, {Body: []byte("two")}} {
		if err := b.AddEventData(e, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.SendEventDataBatch(w.ctx, b, nil); err != nil {
		t.Fatal(err)
	}
	c := w.consumer()
	earliest := true
	partition := ""
	for _, id := range []string{"0", "1"} {
		props, err := c.GetPartitionProperties(w.ctx, id, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !props.IsEmpty {
			partition = id
		}
	}
	r := w.partition(c, partition, &azeventhubs.PartitionClientOptions{StartPosition: azeventhubs.StartPosition{Earliest: &earliest}})
	list, err := r.ReceiveEvents(w.ctx, 2, nil)
	if err != nil || len(list) != 2 {
		t.Fatalf("%d events, %v", len(list), err)
	}
	got := list[0]
	if diff := cmp.Diff(*sent, got.EventData); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
	if got.PartitionKey == nil || *got.PartitionKey != "k" || got.SequenceNumber != 0 || got.Offset != "0" || !got.EnqueuedTime.Equal(w.clk.Now()) {
		t.Errorf("event %+v", got)
	}
	if string(list[1].Body) != "two" || list[1].SequenceNumber != 1 || list[1].Offset == "0" {
		t.Errorf("event %+v", list[1])
	}
}

// Where a reader begins.
func TestStartPositions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, c := w.producer("orders"), w.consumer()
	w.send(p, "0", "a")
	w.clk.Advance(time.Minute)
	w.send(p, "0", "b")
	w.clk.Advance(time.Minute)
	w.send(p, "0", "c")
	yes, one, offset, when := true, int64(1), "0", time.Date(2026, 1, 1, 0, 1, 0, 0, time.UTC)
	for _, test := range []struct {
		name string
		from azeventhubs.StartPosition
		want []string
	}{
		{"earliest", azeventhubs.StartPosition{Earliest: &yes}, []string{"a", "b", "c"}},
		{"behind a number", azeventhubs.StartPosition{SequenceNumber: &one}, []string{"c"}},
		{"from a number", azeventhubs.StartPosition{SequenceNumber: &one, Inclusive: true}, []string{"b", "c"}},
		{"behind an offset", azeventhubs.StartPosition{Offset: &offset}, []string{"b", "c"}},
		{"from an offset", azeventhubs.StartPosition{Offset: &offset, Inclusive: true}, []string{"a", "b", "c"}},
		{"behind a time", azeventhubs.StartPosition{EnqueuedTime: &when}, []string{"c"}},
		{"from a time", azeventhubs.StartPosition{EnqueuedTime: &when, Inclusive: true}, []string{"b", "c"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := w.partition(c, "0", &azeventhubs.PartitionClientOptions{StartPosition: test.from})
			if diff := cmp.Diff(test.want, w.bodies(r, len(test.want))); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			_ = r.Close(w.ctx)
		})
	}
	// The official client attaches when it receives, and nothing tells when it has.
	latest, err := w.session().NewReceiver(w.ctx, "orders/ConsumerGroups/$Default/Partitions/0", selector("amqp.annotation.x-opt-offset > '@latest'"))
	if err != nil {
		t.Fatal(err)
	}
	w.send(p, "0", "d")
	if m, err := latest.Receive(w.ctx, nil); err != nil || string(m.GetData()) != "d" {
		t.Errorf("latest: %v, %v", m, err)
	}
}

// Many events, more than a client takes at once, come in order and once each.
func TestManyEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, c := w.producer("orders"), w.consumer()
	const n = 2000
	var all []string
	for i := range n {
		all = append(all, fmt.Sprint("event ", i))
	}
	for i := 0; i < n; i += 500 {
		w.send(p, "1", all[i:i+500]...)
	}
	yes := true
	for _, prefetch := range []int32{-1, 0, 7} {
		r := w.partition(c, "1", &azeventhubs.PartitionClientOptions{StartPosition: azeventhubs.StartPosition{Earliest: &yes}, Prefetch: prefetch})
		var got []string
		for len(got) < n {
			got = append(got, w.bodies(r, min(150, n-len(got)))...)
		}
		if diff := cmp.Diff(all, got); diff != "" {
			t.Errorf("prefetch %d (-want +got):\n%s", prefetch, diff)
		}
		_ = r.Close(w.ctx)
	}
}

// A higher epoch takes the partition; the older reader is told, a lower one refused.
func TestEpochs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, c := w.producer("orders"), w.consumer()
	yes := true
	open := func(level int64) *azeventhubs.PartitionClient {
		return w.partition(c, "0", &azeventhubs.PartitionClientOptions{OwnerLevel: &level, StartPosition: azeventhubs.StartPosition{Earliest: &yes}})
	}
	stolen := func(r *azeventhubs.PartitionClient, who string) {
		t.Helper()
		_, err := r.ReceiveEvents(w.ctx, 1, nil)
		if e, ok := errors.AsType[*azeventhubs.Error](err); !ok || e.Code != azeventhubs.ErrorCodeOwnershipLost {
			t.Errorf("%s: %v, want that it has lost the ownership", who, err)
		}
	}
	w.send(p, "0", "a")
	low := open(1)
	if diff := cmp.Diff([]string{"a"}, w.bodies(low, 1)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	high := open(2)
	if diff := cmp.Diff([]string{"a"}, w.bodies(high, 1)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	stolen(low, "the older reader")
	for who, level := range map[string]*int64{
		// Text: azeventhubs live test ConsumerClient_InstanceID.
		"with epoch 0 cannot be created. Make sure you are creating receiver with increasing epoch value to ensure connectivity, " +
			"or ensure all old epoch receivers are closed or disconnected": new(int64),
		"and so non-epoch receiver is not allowed": nil,
	} {
		_, err := w.partition(c, "0", &azeventhubs.PartitionClientOptions{OwnerLevel: level}).ReceiveEvents(w.ctx, 1, nil)
		if err == nil || !strings.Contains(err.Error(), "amqp:link:stolen") || !strings.Contains(err.Error(), who) {
			t.Errorf("want %q: %v", who, err)
		}
	}
	w.send(p, "0", "b")
	if diff := cmp.Diff([]string{"b"}, w.bodies(high, 1)); diff != "" {
		t.Errorf("events of the higher epoch (-want +got):\n%s", diff)
	}
}

// The properties of hubs and partitions.
func TestManagement(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, c := w.producer("orders"), w.consumer()
	hub, err := c.GetEventHubProperties(w.ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := azeventhubs.EventHubProperties{Name: "orders", CreatedOn: w.clk.Now(), PartitionIDs: []string{"0", "1"}}
	if diff := cmp.Diff(want, hub); diff != "" {
		t.Errorf("hub (-want +got):\n%s", diff)
	}
	empty, err := p.GetPartitionProperties(w.ctx, "0", nil)
	if err != nil {
		t.Fatal(err)
	}
	if !empty.IsEmpty || empty.LastEnqueuedSequenceNumber != -1 || empty.LastEnqueuedOffset != "-1" {
		t.Errorf("an empty partition: %+v", empty)
	}
	w.send(p, "0", "a", "b")
	full, err := p.GetPartitionProperties(w.ctx, "0", nil)
	if err != nil {
		t.Fatal(err)
	}
	offset := full.LastEnqueuedOffset
	if diff := cmp.Diff(azeventhubs.PartitionProperties{
		EventHubName: "orders", PartitionID: "0", LastEnqueuedSequenceNumber: 1, LastEnqueuedOffset: offset, LastEnqueuedOn: w.clk.Now(),
	}, full); diff != "" {
		t.Errorf("a partition with two events (-want +got):\n%s", diff)
	}
	if _, err := p.GetPartitionProperties(w.ctx, "7", nil); err == nil || !strings.Contains(err.Error(), "invalid") {
		t.Errorf("no such partition: %v", err)
	}
}

// Refused requests, and their errors.
func TestRefusals(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if _, err := w.producer("nowhere").NewEventDataBatch(w.ctx, nil); err == nil || !strings.Contains(err.Error(), "status code 404 and description: The messaging entity 'nowhere' could not be found.") {
		t.Errorf("a hub that is not there: %v", err)
	}
	audit, err := azeventhubs.NewConsumerClientFromConnectionString(w.connection, "orders", "audit", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = audit.Close(context.Background()) })
	_, err = w.partition(audit, "0", nil).ReceiveEvents(w.ctx, 1, nil)
	if err == nil || !strings.Contains(err.Error(), "amqp:not-found") || !strings.Contains(err.Error(), `The messaging entity 'orders/ConsumerGroups/audit' could not be found.`) {
		t.Errorf("a consumer group that is not there: %v", err)
	}
	p := w.producer("orders")
	partition := "9"
	if _, err := p.NewEventDataBatch(w.ctx, &azeventhubs.EventDataBatchOptions{PartitionID: &partition}); err == nil || !strings.Contains(err.Error(), "argument-out-of-range") {
		t.Errorf("a partition that is not there: %v", err)
	}
	b, err := p.NewEventDataBatch(w.ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.AddEventData(&azeventhubs.EventData{Body: make([]byte, eventhubs.MaxBatch+1)}, nil); !errors.Is(err, azeventhubs.ErrEventDataTooLarge) {
		t.Errorf("1 MiB + 1: %v", err)
	}
	// A batch filled to the brim with small events is taken.
	for {
		if err := b.AddEventData(&azeventhubs.EventData{Body: []byte("x")}, nil); errors.Is(err, azeventhubs.ErrEventDataTooLarge) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if err := p.SendEventDataBatch(w.ctx, b, nil); err != nil {
		t.Errorf("%d events, %d bytes: %v", b.NumEvents(), b.NumBytes(), err)
	}
}

// Events of an application in the host, which did not come over AMQP.
func TestPlainEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.do(func(ctx context.Context) error {
		return w.ns.SendEvents(ctx, "orders", &eventhubs.SendOptions{PartitionID: "0"}, &eventhubs.Event{
			Body: []byte("a"), MessageID: "m", Properties: map[string]any{"n": int32(1)},
		})
	})
	yes := true
	list, err := w.partition(w.consumer(), "0", &azeventhubs.PartitionClientOptions{StartPosition: azeventhubs.StartPosition{Earliest: &yes}}).ReceiveEvents(w.ctx, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if e := list[0]; string(e.Body) != "a" || *e.MessageID != "m" || e.Properties["n"] != int32(1) {
		t.Errorf("event %+v", e)
	}
}

// TestClaimForAMissingHub: $cbs says of an audience that names no hub what it says of a
// missing queue, also where the audience is a partition for a consumer group.
func TestClaimForAMissingHub(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	claim := func(audience string, want bool) {
		t.Helper()
		conn, err := goamqp.Dial(w.ctx, "amqp://"+w.address, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		s, err := conn.NewSession(w.ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		out, err := s.NewSender(w.ctx, "$cbs", nil)
		if err != nil {
			t.Fatal(err)
		}
		in, err := s.NewReceiver(w.ctx, "$cbs", nil)
		if err != nil {
			t.Fatal(err)
		}
		to := "$cbs"
		if err := out.Send(w.ctx, &goamqp.Message{
			Properties:            &goamqp.MessageProperties{MessageID: "1", ReplyTo: &to},
			ApplicationProperties: map[string]any{"operation": "put-token", "type": "jwt", "name": audience}, Value: "token",
		}, nil); err != nil {
			t.Fatal(err)
		}
		answer, err := in.Receive(w.ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		status, text := int32(202), "Accepted"
		if !want {
			status, text = 404, "The messaging entity 'nowhere' could not be found."
		}
		if got := answer.ApplicationProperties; got["status-code"] != status || got["status-description"] != text {
			t.Errorf("claim for %s: %v %v, want %d %s", audience, got["status-code"], got["status-description"], status, text)
		}
	}
	for _, rest := range []string{"", "/$management", "/ConsumerGroups/$Default/Partitions/0"} {
		claim("amqps://host/Orders"+rest, true)
		claim("amqps://host/nowhere"+rest, false)
	}
	claim("amqps://host/orders/Partitions/0", true)
	w.ns.AutoCreate(true) // a hub that is read from is made then
	claim("amqps://host/nowhere/ConsumerGroups/$Default/Partitions/0", true)
}
