package sidecar_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/redeliver/redeliver/host/emulator/durable/plan/notation"
	pb "github.com/redeliver/redeliver/host/emulator/sidecar/sidecarpb"
)

// list is all pages of a query, each as its ids.
func (b *bench) list(q *pb.InstanceQuery) string {
	b.t.Helper()
	var pages []string
	for {
		r, err := b.QueryInstances(b.t.Context(), &pb.QueryInstancesRequest{Query: q})
		if err != nil {
			return said(err)
		}
		var ids []string
		for _, s := range r.GetStates() {
			ids = append(ids, s.GetInstanceId())
		}
		pages = append(pages, strings.Join(ids, " "))
		if q.Token = r.GetToken(); q.Token == nil {
			return strings.Join(pages, ", ")
		}
	}
}

func (b *bench) signal(id, name, input string) error {
	_, err := b.SignalEntity(b.t.Context(), &pb.SignalEntityRequest{InstanceId: id, Name: name, Input: text(input)})
	return err
}

// 10.5: filters, prefix, pages and hubs of a query; entities are not in it.
func TestQueries(t *testing.T) {
	t.Parallel()
	b := standing(t)
	if err := b.signal("@counter@a", "add", "1"); err != nil {
		t.Fatal(err)
	}
	late := timestamppb.New(notation.Start.Add(time.Hour))
	hubs := func(names ...string) (list []*wrapperspb.StringValue) {
		for _, name := range names {
			list = append(list, text(name))
		}
		return list
	}
	for _, row := range []struct {
		name string
		q    *pb.InstanceQuery
		want string
	}{
		{"all", &pb.InstanceQuery{}, "done failed held waits"},
		{"no query", nil, "done failed held waits"},
		{"pages", &pb.InstanceQuery{Max: 3}, "done failed held, waits"},
		{"a prefix", &pb.InstanceQuery{Prefix: text("wa")}, "waits"},
		{"states", &pb.InstanceQuery{Statuses: []pb.OrchestrationStatus{pb.OrchestrationStatus_ORCHESTRATION_STATUS_FAILED, pb.OrchestrationStatus_ORCHESTRATION_STATUS_COMPLETED}}, "done failed"},
		{"later", &pb.InstanceQuery{CreatedFrom: late}, ""},
		{"earlier", &pb.InstanceQuery{CreatedTo: late}, "done failed held waits"},
		{"a token of nobody", &pb.InstanceQuery{Token: text("~")}, "done failed held waits"},
		{"the hub", &pb.InstanceQuery{Hubs: hubs("TESTHUB")}, "done failed held waits"},
		{"an empty hub", &pb.InstanceQuery{Hubs: hubs("Other")}, ""},
		{"no hub", &pb.InstanceQuery{Hubs: hubs("gone")}, "Unavailable: no app with Durable Functions runs"},
		{"two hubs", &pb.InstanceQuery{Hubs: hubs("TestHub", "Other")}, "InvalidArgument: a query is of one task hub, and this one names TestHub and Other: make a query for each"},
	} {
		if row.q == nil {
			row.q = &pb.InstanceQuery{}
		}
		if got := b.list(row.q); got != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
	r, err := b.QueryInstances(t.Context(), &pb.QueryInstancesRequest{Query: &pb.InstanceQuery{Prefix: text("done"), FetchInputsAndOutputs: true}})
	if err != nil || len(r.GetStates()) != 1 || r.GetStates()[0].GetOutput().GetValue() != "7" {
		t.Errorf("with values: %v, %v", r, err)
	}
}

// 10.5: purges of one, by a filter, and of a batch, which is refused.
func TestPurges(t *testing.T) {
	t.Parallel()
	b := standing(t)
	for _, row := range []struct {
		r    *pb.PurgeInstancesRequest
		want string
		left string
	}{
		{&pb.PurgeInstancesRequest{Request: &pb.PurgeInstancesRequest_Batch{Batch: &pb.InstanceBatch{}}}, "InvalidArgument: Unknown purge request type 'InstanceBatch'.", "done failed held waits"},
		{&pb.PurgeInstancesRequest{}, "InvalidArgument: Unknown purge request type 'None'.", "done failed held waits"},
		{&pb.PurgeInstancesRequest{Request: &pb.PurgeInstancesRequest_InstanceId{InstanceId: "x"}}, "0", "done failed held waits"},
		{&pb.PurgeInstancesRequest{Request: &pb.PurgeInstancesRequest_InstanceId{InstanceId: "done"}}, "1", "failed held waits"},
		{&pb.PurgeInstancesRequest{Request: &pb.PurgeInstancesRequest_Filter{Filter: &pb.PurgeFilter{Statuses: []pb.OrchestrationStatus{pb.OrchestrationStatus_ORCHESTRATION_STATUS_FAILED}}}}, "1", "held waits"},
		{&pb.PurgeInstancesRequest{Request: &pb.PurgeInstancesRequest_Filter{Filter: &pb.PurgeFilter{CreatedFrom: timestamppb.New(notation.Start)}}}, "2", ""},
	} {
		got, err := b.PurgeInstances(t.Context(), row.r)
		text := said(err)
		if err == nil {
			text = fmt.Sprint(got.GetCount())
		}
		if left := b.list(&pb.InstanceQuery{}); text != row.want || left != row.left || err == nil && !got.GetComplete().GetValue() {
			t.Errorf("%v: %q, left are %q, want %q and %q", row.r, text, left, row.want, row.left)
		}
	}
}

// 10.5: the platform takes no notice of recursive; children go on.
func TestTerminates(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.start("Parent", "parent")
	b.begun("kid", false)
	if _, err := b.TerminateInstance(t.Context(), &pb.TerminateRequest{InstanceId: "parent", Output: text("enough"), Recursive: true}); err != nil {
		t.Fatal(err)
	}
	if s := b.begun("parent", true); s.GetStatus() != pb.OrchestrationStatus_ORCHESTRATION_STATUS_TERMINATED || s.GetOutput().GetValue() != "enough" {
		t.Errorf("the parent is %v", s)
	}
	if s := b.begun("kid", false); s.GetStatus() != pb.OrchestrationStatus_ORCHESTRATION_STATUS_RUNNING {
		t.Errorf("the child is %v", s)
	}
}

// 5.3, 10.5: restarts under the same id and under a new one.
func TestRestarts(t *testing.T) {
	t.Parallel()
	b := standing(t)
	if err := b.signal("@counter@a", "add", "1"); err != nil {
		t.Fatal(err)
	}
	before := b.begun("done", true).GetExecutionId().GetValue()
	for _, id := range []string{"done", "waits", "x", "@counter@a"} {
		for _, anew := range []bool{false, true} {
			r, err := b.RestartInstance(t.Context(), &pb.RestartInstanceRequest{InstanceId: id, WithNewId: anew})
			switch {
			case id == "x" || id == "@counter@a":
				if status.Code(err) != codes.NotFound {
					t.Errorf("%s, %v: %v", id, anew, err)
				}
			case id == "waits" && !anew:
				if status.Code(err) != codes.FailedPrecondition {
					t.Errorf("%s: %v", id, err)
				}
			case err != nil || (r.GetInstanceId() == id) == anew:
				t.Errorf("%s, %v: %v, %v", id, anew, r, err)
			default:
				b.begun(r.GetInstanceId(), id == "done")
			}
		}
	}
	if after := b.begun("done", true).GetExecutionId().GetValue(); after == before {
		t.Error("done was not started again")
	}
}

// 10.5: entities.
func TestEntities(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	for _, row := range []struct{ id, name, input, want string }{
		{"@counter@a", "add", "2", ""},
		{"@counter@b", "add", "3", ""},
		{"@counter@c", "delete", "0", ""},
		{"counter", "add", "1", `InvalidArgument: the id "counter" is none of an entity: want @name@key`},
	} {
		if got := said(b.signal(row.id, row.name, row.input)); got != row.want {
			t.Errorf("signal %s: %q", row.id, got)
		}
	}
	b.clk.Do("settle", func() {})
	got, err := b.GetEntity(ctx, &pb.GetEntityRequest{InstanceId: "@Counter@a", IncludeState: true})
	if e := got.GetEntity(); err != nil || !got.GetExists() || e.GetInstanceId() != "@counter@a" || e.GetState().GetValue() != "2" || e.GetBacklog() != 0 || e.GetLockedBy() != nil {
		t.Errorf("a is %v, %v", got, err)
	}
	if got, err := b.GetEntity(ctx, &pb.GetEntityRequest{InstanceId: "@counter@a"}); err != nil || got.GetEntity().GetState() != nil {
		t.Errorf("without its state a is %v, %v", got, err)
	}
	if got, err := b.GetEntity(ctx, &pb.GetEntityRequest{InstanceId: "@counter@c"}); err != nil || got.GetExists() {
		t.Errorf("c is %v, %v", got, err)
	}
	if _, err := b.GetEntity(ctx, &pb.GetEntityRequest{InstanceId: "c"}); status.Code(err) != codes.InvalidArgument {
		t.Errorf("an id that is none: %v", err)
	}
	list := func(q *pb.EntityQuery) (ids []string) {
		for {
			r, err := b.QueryEntities(ctx, &pb.QueryEntitiesRequest{Query: q})
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range r.GetEntities() {
				ids = append(ids, e.GetInstanceId()+"="+e.GetState().GetValue())
			}
			if q.Token = r.GetToken(); q.Token == nil {
				return ids
			}
		}
	}
	if got := fmt.Sprint(list(&pb.EntityQuery{IncludeState: true, PageSize: wrapperspb.Int32(1)})); got != "[@counter@a=2 @counter@b=3]" {
		t.Errorf("entities are %s", got)
	}
	if got := fmt.Sprint(list(&pb.EntityQuery{Prefix: text("@counter@b")})); got != "[@counter@b=]" {
		t.Errorf("with a prefix they are %s", got)
	}
	due := timestamppb.New(b.clk.Now().Add(time.Hour))
	if _, err := b.SignalEntity(ctx, &pb.SignalEntityRequest{InstanceId: "@counter@a", Name: "add", Input: text("5"), ScheduledTime: due}); err != nil {
		t.Error(err)
	}
	b.clk.Advance(2 * time.Hour)
	if got, err := b.GetEntity(ctx, &pb.GetEntityRequest{InstanceId: "@counter@a", IncludeState: true}); err != nil || got.GetEntity().GetState().GetValue() != "7" {
		t.Errorf("later a is %v, %v", got, err)
	}
	if r, err := b.CleanEntityStorage(ctx, &pb.CleanEntityStorageRequest{RemoveEmpty: true, ReleaseOrphaned: true}); err != nil || r.GetOrphanedReleased() != 0 {
		t.Errorf("cleaned are %v, %v", r, err)
	}
}

// 10.5: a hub is emptied, entities too, and stays in use; no other is touched.
func TestHubs(t *testing.T) {
	t.Parallel()
	b := standing(t)
	other := metadata.AppendToOutgoingContext(t.Context(), "Durable-TaskHub", "Other")
	for _, row := range []struct {
		name string
		do   func() error
		left string
	}{
		{"create", func() error { _, err := b.CreateTaskHub(t.Context(), &pb.CreateTaskHubRequest{}); return err }, "done failed held waits"},
		{"delete another", func() error { _, err := b.DeleteTaskHub(other, &pb.DeleteTaskHubRequest{}); return err }, "done failed held waits"},
		{"create anew", func() error {
			_, err := b.CreateTaskHub(t.Context(), &pb.CreateTaskHubRequest{Recreate: true})
			return err
		}, ""},
		{"start", func() error { b.start("Done", "again"); return nil }, "again"},
		{"delete", func() error { _, err := b.DeleteTaskHub(t.Context(), &pb.DeleteTaskHubRequest{}); return err }, ""},
	} {
		if err := row.do(); err != nil {
			t.Errorf("%s: %v", row.name, err)
		}
		if left := b.list(&pb.InstanceQuery{}); left != row.left {
			t.Errorf("%s: left are %q, want %q", row.name, left, row.left)
		}
	}
}

// A time beyond the years that JSON has is the last one that it has.
func TestTimesBeyondTheCalendar(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, seconds := range []int64{1 << 62, -1 << 62} {
		at := &timestamppb.Timestamp{Seconds: seconds, Nanos: 1 << 30}
		if _, err := b.StartInstance(t.Context(), &pb.CreateInstanceRequest{Name: "Done", InstanceId: fmt.Sprint("i", seconds > 0), ScheduledStart: at}); err != nil {
			t.Error(err)
		}
		if _, err := b.SignalEntity(t.Context(), &pb.SignalEntityRequest{InstanceId: "@counter@a", Name: "add", Input: text("5"), ScheduledTime: at}); err != nil {
			t.Error(err)
		}
	}
	b.begun("ifalse", true)
	if got, err := b.GetInstance(t.Context(), &pb.GetInstanceRequest{InstanceId: "itrue"}); err != nil || got.GetState().GetScheduledStart().AsTime().Year() != 9999 {
		t.Errorf("%v, %v", got, err)
	}
}
