package sidecar_test

import (
	"io"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/redeliver/redeliver/host/emulator/durable/plan/notation"
	pb "github.com/redeliver/redeliver/host/emulator/sidecar/sidecarpb"
)

func text(s string) *wrapperspb.StringValue { return wrapperspb.String(s) }

// standing has instances that wait, are suspended, have completed and have failed.
func standing(t *testing.T) *bench {
	b := newBench(t)
	b.start("Waits", "waits")
	b.start("Waits", "held")
	b.start("Done", "done")
	b.start("Fails", "failed")
	b.begun("waits", false)
	b.begun("held", false)
	b.begun("done", true)
	b.begun("failed", true)
	if _, err := b.SuspendInstance(t.Context(), &pb.SuspendRequest{InstanceId: "held", Reason: text("why")}); err != nil {
		t.Fatal(err)
	}
	return b
}

// T-80, T-94, spec durable 5.3: what each call says of an instance in each state.
func TestRefusals(t *testing.T) {
	t.Parallel()
	b := standing(t)
	ctx := t.Context()
	start := func(id, name string) error {
		_, err := b.StartInstance(ctx, &pb.CreateInstanceRequest{InstanceId: id, Name: name})
		return err
	}
	raise := func(id string) error {
		_, err := b.RaiseEvent(ctx, &pb.RaiseEventRequest{InstanceId: id, Name: "other"})
		return err
	}
	terminate := func(id string) error {
		_, err := b.TerminateInstance(ctx, &pb.TerminateRequest{InstanceId: id})
		return err
	}
	suspend := func(id string) error {
		_, err := b.SuspendInstance(ctx, &pb.SuspendRequest{InstanceId: id})
		return err
	}
	resume := func(id string) error {
		_, err := b.ResumeInstance(ctx, &pb.ResumeRequest{InstanceId: id})
		return err
	}
	rewind := func(id string) error {
		_, err := b.RewindInstance(ctx, &pb.RewindInstanceRequest{InstanceId: id})
		return err
	}
	restart := func(id string) error {
		_, err := b.RestartInstance(ctx, &pb.RestartInstanceRequest{InstanceId: id})
		return err
	}
	purge := func(id string) error {
		_, err := b.PurgeInstances(ctx, &pb.PurgeInstancesRequest{Request: &pb.PurgeInstancesRequest_InstanceId{InstanceId: id}})
		return err
	}
	stream := func(id string) error {
		_, err := b.history(id)
		return err
	}
	const none = "NotFound: ArgumentException: No instance with ID 'x' was found. (Parameter 'instanceId')"
	cannot := func(what, id, state string) string {
		return "FailedPrecondition: InvalidOperationException: Cannot " + what + " the orchestration instance " + id + " because instance is in the " + state + " state."
	}
	for _, row := range []struct {
		name string
		call func(id string) error
		id   string
		want string
	}{
		{"start", func(id string) error { return start(id, "Done") }, "waits", "AlreadyExists: An Orchestration instance with the ID waits already exists."},
		{"start", func(id string) error { return start(id, "Done") }, "a/b", "Internal: Failed to start instance with ID a/b.\nInner Exception message: Orchestration instance ids must not contain /, \\, #, ?, or control characters.."},
		{"start a name that nobody has", func(id string) error { return start(id, "Nobody") }, "nobody", ""},
		{"raise", raise, "x", none},
		{"raise", raise, "done", "FailedPrecondition: The orchestration instance with the provided instance id is not running."},
		{"raise", raise, "waits", ""},
		{"raise", raise, "held", ""},
		{"terminate", terminate, "x", none},
		{"terminate", terminate, "done", cannot("terminate", "done", "Completed")},
		{"suspend", suspend, "x", none},
		{"suspend", suspend, "failed", cannot("suspend", "failed", "Failed")},
		{"suspend", suspend, "held", cannot("suspend", "held", "Suspended")},
		{"resume", resume, "x", none},
		{"resume", resume, "done", cannot("resume", "done", "Completed")},
		{"resume", resume, "waits", cannot("resume", "waits", "Running")},
		{"rewind", rewind, "x", none},
		{"rewind", rewind, "waits", "FailedPrecondition: The rewind operation is only supported on failed orchestration instances."},
		{"rewind", rewind, "done", "FailedPrecondition: The rewind operation is only supported on failed orchestration instances."},
		{"restart", restart, "x", none},
		{"restart", restart, "waits", "FailedPrecondition: A non-terminal instance with this instance ID already exists."},
		{"purge", purge, "x", ""},
		{"purge", purge, "waits", `FailedPrecondition: Only orchestrations in a terminal state can be purged, but the orchestration with instance ID waits has status Running`},
		{"history", stream, "x", none},
		{"resume", resume, "held", ""},
		{"rewind", rewind, "failed", ""},
		{"purge", purge, "done", ""},
	} {
		if got := said(row.call(row.id)); got != row.want {
			t.Errorf("%s %s: %q\nwant %q", row.name, row.id, got, row.want)
		}
	}
	if state := b.begun("nobody", true); state.GetStatus() != pb.OrchestrationStatus_ORCHESTRATION_STATUS_FAILED || !strings.Contains(state.GetOutput().GetValue(), "doesn't exist") {
		t.Errorf("an unknown orchestrator is %v", state)
	}
}

// history is the sizes of what is streamed.
func (b *bench) history(id string) (sizes []int, err error) {
	stream, err := b.StreamInstanceHistory(b.t.Context(), &pb.StreamInstanceHistoryRequest{InstanceId: id})
	for err == nil {
		var part *pb.HistoryChunk
		if part, err = stream.Recv(); err == nil {
			sizes = append(sizes, len(part.GetEvents()))
		}
	}
	if err == io.EOF {
		err = nil
	}
	return sizes, err
}

// 10.5: who may call, and which hub they mean.
func TestCallers(t *testing.T) {
	t.Parallel()
	b := standing(t)
	get := func(client pb.TaskHubSidecarServiceClient, header ...string) (bool, error) {
		r, err := client.GetInstance(metadata.AppendToOutgoingContext(t.Context(), header...), &pb.GetInstanceRequest{InstanceId: "done"})
		return r.GetExists(), err
	}
	stranger := b.dial(grpc.WithAuthority("shop.example"))
	defer stranger.Close()
	for _, row := range []struct {
		name   string
		client pb.TaskHubSidecarServiceClient
		header []string
		exists bool
		code   codes.Code
	}{
		{"plain", b, nil, true, codes.OK},
		{"an empty connection", b, []string{"Durable-ConnectionName", ""}, true, codes.OK},
		{"the hub", b, []string{"Durable-TaskHub", "testhub"}, true, codes.OK},
		{"another hub", b, []string{"Durable-TaskHub", "Other"}, false, codes.OK},
		{"no hub", b, []string{"Durable-TaskHub", "gone"}, false, codes.Unavailable},
		{"a page", b, []string{"Origin", "https://shop.example"}, false, codes.PermissionDenied},
		{"another machine", pb.NewTaskHubSidecarServiceClient(stranger), nil, false, codes.PermissionDenied},
	} {
		if exists, err := get(row.client, row.header...); exists != row.exists || status.Code(err) != row.code {
			t.Errorf("%s: %v, %v", row.name, exists, err)
		}
	}
	stream, err := pb.NewTaskHubSidecarServiceClient(stranger).StreamInstanceHistory(t.Context(), &pb.StreamInstanceHistoryRequest{InstanceId: "done"})
	if err == nil {
		_, err = stream.Recv()
	}
	if status.Code(err) != codes.PermissionDenied {
		t.Errorf("another machine streams: %v", err)
	}
	if _, err := b.Hello(t.Context(), &emptypb.Empty{}); err != nil {
		t.Error(err)
	}
}

// 10.5: how an instance stands, with values and without.
func TestStates(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	due := timestamppb.New(notation.Start.Add(30 * 24 * time.Hour)) // time does not jump so far
	made, err := b.StartInstance(ctx, &pb.CreateInstanceRequest{Name: "Done", Version: text("1.5"), Input: text(`{"n":1}`), ScheduledStart: due, Tags: map[string]string{"k": "v"}})
	if err != nil || len(made.GetInstanceId()) != 32 {
		t.Fatal(made, err)
	}
	got, err := b.GetInstance(ctx, &pb.GetInstanceRequest{InstanceId: made.GetInstanceId()})
	if s := got.GetState(); err != nil || s.GetStatus() != pb.OrchestrationStatus_ORCHESTRATION_STATUS_PENDING || s.GetScheduledStart().AsTime() != due.AsTime() || s.GetInput() != nil || s.GetCustomStatus() != nil || s.GetCompleted() != nil {
		t.Errorf("before its start: %v, %v", got, err)
	}
	b.clk.Advance(31 * 24 * time.Hour)
	s := b.begun(made.GetInstanceId(), true)
	if s.GetName() != "Done" || s.GetVersion().GetValue() != "1.5" || s.GetInput().GetValue() != `{"n":1}` || s.GetOutput().GetValue() != "7" || s.GetCustomStatus().GetValue() != "null" ||
		s.GetTags()["k"] != "v" || s.GetCompleted().AsTime().Before(due.AsTime()) || s.GetExecutionId().GetValue() == "" || s.GetFailureDetails() != nil {
		t.Errorf("at its end: %v", s)
	}
	b.start("Parent", "parent")
	if kid := b.begun("kid", false); kid.GetParentInstanceId().GetValue() != "parent" {
		t.Errorf("the child is %v", kid)
	}
	if got, err := b.GetInstance(ctx, &pb.GetInstanceRequest{InstanceId: "x"}); err != nil || got.GetExists() {
		t.Errorf("an unknown one is %v, %v", got, err)
	}
	if _, err := b.RaiseEvent(ctx, &pb.RaiseEventRequest{InstanceId: "kid", Name: "GO", Input: text(`"e"`)}); err != nil {
		t.Error(err)
	}
	b.start("Long", "long")
	b.begun("long", true)
	sizes, err := b.history("long")
	if err != nil || len(sizes) != 2 || sizes[0] != 500 || sizes[1] < 100 {
		t.Errorf("the history comes in %v, %v", sizes, err)
	}
}

// 11.4: waits are on the clock; the call's own time is real.
func TestWaits(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.start("Timer", "timer")
	if s := b.begun("timer", true); s.GetOutput().GetValue() != "1" || b.clk.Now().Sub(notation.Start) < time.Hour {
		t.Errorf("after %v: %v", b.clk.Now().Sub(notation.Start), s)
	}
	waited := make(chan error)
	go func() {
		_, err := b.WaitForInstanceStart(t.Context(), &pb.GetInstanceRequest{InstanceId: "later"})
		waited <- err
	}()
	b.start("Waits", "later")
	if err := <-waited; err != nil {
		t.Errorf("an instance that comes later: %v", err)
	}
	for _, id := range []string{"later", "never"} {
		_, err := b.WaitForInstanceCompletion(b.within(20*time.Millisecond), &pb.GetInstanceRequest{InstanceId: id})
		if status.Code(err) != codes.DeadlineExceeded {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// 11.4: a function that waits does not hold the clock: time jumps to what the instance waits
// for, or as far as a poll allows.
func TestWaitsOfFunctions(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for name, wait := range map[string]func() (*pb.GetInstanceResponse, error){
		"a wait": func() (*pb.GetInstanceResponse, error) {
			b.start("Timer", "timer") // time does not jump before the wait
			return b.WaitForInstanceCompletion(b.within(20*time.Second), &pb.GetInstanceRequest{InstanceId: "timer"})
		},
		"a poll": func() (*pb.GetInstanceResponse, error) {
			b.start("Waits", "polled")
			return b.GetInstance(b.within(20*time.Second), &pb.GetInstanceRequest{InstanceId: "polled"})
		},
	} {
		before, from := b.clk.Now(), time.Now()
		returned := make(chan error)
		b.clk.Inside("start", func() {
			b.group.Go("function", func() {
				var err error
				b.clk.Outside(b.ctx, "function", func() { _, err = wait() })
				returned <- err
			})
		})
		err := <-returned
		if passed := b.clk.Now().Sub(before); err != nil || passed-time.Since(from) < 50*time.Millisecond {
			t.Errorf("%s: %v passed on the clock and %v in truth, %v", name, passed, time.Since(from), err)
		}
	}
}
