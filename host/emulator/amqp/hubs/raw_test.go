package hubs_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	goamqp "github.com/Azure/go-amqp"
	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings/eventhubs"
)

// session is one of a client that speaks AMQP and knows nothing of Event Hubs.
func (w *world) session() *goamqp.Session {
	w.Helper()
	address, _, _ := strings.Cut(strings.TrimPrefix(w.connection, "Endpoint=sb://"), ";")
	conn, err := goamqp.Dial(w.ctx, "amqp://"+address, &goamqp.ConnOptions{SASLType: goamqp.SASLTypeAnonymous()})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = conn.Close() })
	s, err := conn.NewSession(w.ctx, nil)
	if err != nil {
		w.Fatal(err)
	}
	return s
}

// condition is the condition of a failed link, session or message; empty without a
// failure.
func condition(err error) string {
	if link, ok := errors.AsType[*goamqp.LinkError](err); ok && link.RemoteErr != nil {
		return string(link.RemoteErr.Condition)
	}
	if e, ok := errors.AsType[*goamqp.Error](err); ok {
		return string(e.Condition)
	}
	return ""
}

// selector is the filter that says where a reader begins.
func selector(text any) *goamqp.ReceiverOptions {
	return &goamqp.ReceiverOptions{Filters: []goamqp.LinkFilter{goamqp.NewLinkFilter("apache.org:selector-filter:string", 0x468C00000004, text)}}
}

// Addresses, positions and epochs that mean nothing are refused with the link, by the
// condition on which clients act.
func TestRefusedLinks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.session()
	const to = "orders/ConsumerGroups/$Default/Partitions/0"
	epoch := func(v any) *goamqp.ReceiverOptions {
		return &goamqp.ReceiverOptions{Properties: map[string]any{"com.microsoft:epoch": v}}
	}
	for name, test := range map[string]struct {
		address string
		opts    *goamqp.ReceiverOptions
		want    string
	}{
		"case does not count":      {"ORDERS/consumergroups/$DEFAULT/partitions/1", nil, ""},
		"an absolute address":      {"amqps://host/orders/ConsumerGroups/$Default/Partitions/0/", nil, ""},
		"no hub":                   {"nowhere/ConsumerGroups/$Default/Partitions/0", nil, "amqp:not-found"},
		"no consumer group":        {"orders/ConsumerGroups/mine/Partitions/0", nil, "amqp:not-found"},
		"no partition":             {"orders/ConsumerGroups/$Default/Partitions/2", nil, "com.microsoft:argument-out-of-range"},
		"not a number":             {"orders/ConsumerGroups/$Default/Partitions/00", nil, "com.microsoft:argument-out-of-range"},
		"a hub":                    {"orders", nil, "amqp:not-allowed"},
		"a partition, to send to":  {"orders/Partitions/0", nil, "amqp:not-allowed"},
		"a group without its end":  {"orders/ConsumerGroups/$Default", nil, "amqp:not-found"},
		"a selector of its own":    {to, selector("color = 'red'"), "com.microsoft:argument-error"},
		"no number":                {to, selector("amqp.annotation.x-opt-sequence-number > 'x'"), "com.microsoft:argument-error"},
		"no offset":                {to, selector("amqp.annotation.x-opt-offset > 'x'"), "com.microsoft:argument-error"},
		"no time":                  {to, selector("amqp.annotation.x-opt-enqueued-time > 'soon'"), "com.microsoft:argument-error"},
		"a number behind the end":  {to, selector("amqp.annotation.x-opt-sequence-number > '0'"), "com.microsoft:argument-error"},
		"an offset behind the end": {to, selector("amqp.annotation.x-opt-offset > '7'"), "com.microsoft:argument-error"},
		"the number before all":    {to, selector("amqp.annotation.x-opt-sequence-number > '-1'"), ""},
		"no text":                  {to, selector(int64(7)), "com.microsoft:argument-error"},
		"the first instant of all": {to, selector("amqp.annotation.x-opt-enqueued-time > '-62135596800000'"), ""},
		"an epoch that is a text":  {to, epoch("1"), "com.microsoft:argument-error"},
		"an epoch that is an int":  {to, epoch(int32(1)), ""},
	} {
		r, err := s.NewReceiver(w.ctx, test.address, test.opts)
		if got := condition(err); got != test.want || (err == nil) != (test.want == "") {
			t.Errorf("receive, %s: %v, want %q", name, err, test.want)
		}
		if err == nil {
			_ = r.Close(w.ctx)
		}
	}
	for address, want := range map[string]string{
		"orders": "", "Orders/partitions/1": "", "orders/Partitions/2": "com.microsoft:argument-out-of-range", "orders/Partitions/-1": "com.microsoft:argument-out-of-range",
		"nowhere": "amqp:not-found", "nowhere/Partitions/0": "amqp:not-found", to: "amqp:not-allowed",
	} {
		sender, err := s.NewSender(w.ctx, address, nil)
		if got := condition(err); got != want || (err == nil) != (want == "") {
			t.Errorf("send to %q: %v, want %q", address, err, want)
		}
		if err == nil {
			_ = sender.Close(w.ctx)
		}
	}
}

// Deliveries that are no events, or too many bytes, are rejected as a whole, and the link
// goes on; odd ones that the service takes come back as they were.
func TestRefusedDeliveries(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.do(func(ctx context.Context) error {
		return w.ns.DeleteHub(ctx, "orders")
	})
	w.create("orders", 1)
	s := w.session()
	sender, err := s.NewSender(w.ctx, "orders", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := sender.MaxMessageSize(); got != eventhubs.MaxBatch {
		t.Errorf("the link takes %d bytes, want %d", got, eventhubs.MaxBatch)
	}
	const batch = 0x80013700
	event := func(body string) []byte {
		text, err := goamqp.NewMessage([]byte(body)).MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	key := func(v any) goamqp.Annotations { return goamqp.Annotations{"x-opt-partition-key": v} }
	for _, test := range []struct {
		name    string
		message *goamqp.Message
		want    string
		events  []string
	}{
		{"an empty event", &goamqp.Message{Data: [][]byte{{}}}, "", []string{""}},
		{"a value", &goamqp.Message{Value: "text"}, "", []string{"text"}},
		{"a batch", &goamqp.Message{Format: batch, Data: [][]byte{event("a"), event("b")}}, "", []string{"a", "b"}},
		{"a batch with a part that is none", &goamqp.Message{Format: batch, Data: [][]byte{event("c"), []byte("garbage")}}, "amqp:decode-error", nil},
		{"a batch with a part that is cut off", &goamqp.Message{Format: batch, Data: [][]byte{event("c")[:5]}}, "amqp:decode-error", nil},
		{"a batch that is a value", &goamqp.Message{Format: batch, Value: "c"}, "amqp:decode-error", nil},
		{"a key that is no text", &goamqp.Message{Annotations: key(int32(7)), Data: [][]byte{[]byte("d")}}, "", []string{"d"}},
		{"a key of 128 characters", &goamqp.Message{Annotations: key(strings.Repeat("é", 128)), Data: [][]byte{[]byte("e")}}, "", []string{"e"}},
		{"a key of 129", &goamqp.Message{Annotations: key(strings.Repeat("k", 129)), Data: [][]byte{[]byte("x")}}, "com.microsoft:argument-error", nil},
		{"numbers of the sender's", &goamqp.Message{Annotations: goamqp.Annotations{"x-opt-sequence-number": int64(99), "x-opt-offset": "99"}, Data: [][]byte{[]byte("f")}}, "", []string{"f"}},
	} {
		err := sender.Send(w.ctx, test.message, nil)
		if got := condition(err); got != test.want || (err == nil) != (test.want == "") {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
	r, err := s.NewReceiver(w.ctx, "orders/ConsumerGroups/$Default/Partitions/0", nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for number := range int64(7) {
		m, err := r.Receive(w.ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		body := m.Value
		if body == nil {
			body = string(m.GetData())
		}
		got = append(got, body.(string))
		if m.Annotations["x-opt-sequence-number"] != number {
			t.Errorf("event %q has the number %v, want %d", body, m.Annotations["x-opt-sequence-number"], number)
		}
		if err := r.RejectMessage(w.ctx, m, nil); err != nil { // means nothing
			t.Error(err)
		}
	}
	if diff := cmp.Diff([]string{"", "text", "a", "b", "d", "e", "f"}, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// TestKeyAtAPartition: who names the partition may send a key along, which picks none:
// buffered producers hash keys themselves (azure-eventhub for Python 5.15.1:
// test_send_with_hybrid_partition_assignment). A batch's key is its events' key.
func TestKeyAtAPartition(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.session()
	for _, partition := range []string{"0", "1"} {
		sender, err := s.NewSender(w.ctx, "orders/Partitions/"+partition, nil)
		if err != nil {
			t.Fatal(err)
		}
		event, err := goamqp.NewMessage([]byte("b")).MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		key := goamqp.Annotations{"x-opt-partition-key": "same"}
		for _, m := range []*goamqp.Message{{Annotations: key, Data: [][]byte{{'a'}}}, {Annotations: key, Format: 0x80013700, Data: [][]byte{event}}} {
			if err := sender.Send(w.ctx, m, nil); err != nil {
				t.Fatal(err)
			}
		}
		r, err := s.NewReceiver(w.ctx, "orders/ConsumerGroups/$Default/Partitions/"+partition, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"a", "b"} {
			m, err := r.Receive(w.ctx, nil)
			if err != nil {
				t.Fatal(err)
			}
			if string(m.GetData()) != want || m.Annotations["x-opt-partition-key"] != "same" {
				t.Errorf("partition %s: %q with the key %v", partition, m.GetData(), m.Annotations["x-opt-partition-key"])
			}
		}
	}
}

// TestDeliveryAnnotations: the sender's are kept, and a client that desires it is told with
// each event where the partition ends (azure-eventhub for Python 5.15.1:
// test_send_amqp_annotated_message, test_receive_with_event_position).
func TestDeliveryAnnotations(t *testing.T) {
	t.Parallel()
	for _, more := range [][]string{nil, {"com.microsoft:georeplication"}} {
		w := newWorld(t)
		s := w.session()
		sender, err := s.NewSender(w.ctx, "orders/Partitions/0", nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, body := range []string{"a", "b"} {
			if err := sender.Send(w.ctx, &goamqp.Message{DeliveryAnnotations: goamqp.Annotations{"theirs": body}, Data: [][]byte{[]byte(body)}}, nil); err != nil {
				t.Fatal(err)
			}
		}
		sent := w.clk.Now()
		w.clk.Advance(time.Minute)
		for _, wants := range []bool{false, true} {
			opts := &goamqp.ReceiverOptions{}
			want := goamqp.Annotations{"theirs": "a"}
			if wants {
				opts.DesiredCapabilities = append(more, "com.microsoft:enable-receiver-runtime-metric")
				want = goamqp.Annotations{
					"theirs": "a", "last_enqueued_sequence_number": int64(1), "last_enqueued_offset": w.lastOffset("orders", "0"),
					"last_enqueued_time_utc": sent, "runtime_info_retrieval_time_utc": w.clk.Now(),
				}
			}
			r, err := s.NewReceiver(w.ctx, "orders/ConsumerGroups/$Default/Partitions/0", opts)
			if err != nil {
				t.Fatal(err)
			}
			m, err := r.Receive(w.ctx, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, m.DeliveryAnnotations, cmp.Comparer(time.Time.Equal)); diff != "" {
				t.Errorf("delivery annotations, metrics %v (-want +got):\n%s", wants, diff)
			}
		}
	}
}

// lastOffset is the offset of the last event of a partition.
func (w *world) lastOffset(hub, partition string) (offset string) {
	w.do(func(ctx context.Context) error {
		p, err := w.ns.Partition(ctx, hub, partition)
		if err == nil {
			offset = p.LastOffset
		}
		return err
	})
	return offset
}
