package sidecar

import (
	"context"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/emulator/durable/wire"
	pb "github.com/redeliver/redeliver/host/emulator/sidecar/sidecarpb"
)

// Hello answers.
func (s *Server) Hello(context.Context, *emptypb.Empty) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, nil
}

// StartInstance starts an orchestration.
func (s *Server) StartInstance(ctx context.Context, r *pb.CreateInstanceRequest) (*pb.CreateInstanceResponse, error) {
	return ask(s, ctx, func(ctx context.Context, hub durable.Hub) (*pb.CreateInstanceResponse, error) {
		id, err := hub.Start(ctx, durable.Start{
			Name: r.GetName(), ID: r.GetInstanceId(), Version: r.GetVersion().GetValue(), Input: wire.Pointer(r.GetInput()), Due: wire.Time(r.GetScheduledStart()), Tags: r.GetTags(), By: "client",
		})
		return &pb.CreateInstanceResponse{InstanceId: id}, refusedStart(r.GetInstanceId(), err)
	})
}

// GetInstance tells how an instance stands.
func (s *Server) GetInstance(ctx context.Context, r *pb.GetInstanceRequest) (*pb.GetInstanceResponse, error) {
	return ask(s, ctx, func(ctx context.Context, hub durable.Hub) (*pb.GetInstanceResponse, error) {
		i, err := hub.Instance(ctx, r.GetInstanceId(), durable.Read{})
		if err == nil && !i.Status.Finished() {
			if err = hub.AllowPoll(ctx, i.ID, pollStep); err == nil {
				i, err = hub.Instance(ctx, r.GetInstanceId(), durable.Read{})
			}
		}
		if durable.Is(err, durable.CodeNotFound) {
			return &pb.GetInstanceResponse{}, nil
		}
		return told(r, i, err)
	})
}

// WaitForInstanceStart waits until an instance is there and has begun.
func (s *Server) WaitForInstanceStart(ctx context.Context, r *pb.GetInstanceRequest) (*pb.GetInstanceResponse, error) {
	return s.await(ctx, r, false)
}

// WaitForInstanceCompletion waits until an instance is there and has ended.
func (s *Server) WaitForInstanceCompletion(ctx context.Context, r *pb.GetInstanceRequest) (*pb.GetInstanceResponse, error) {
	return s.await(ctx, r, true)
}

func (s *Server) await(ctx context.Context, r *pb.GetInstanceRequest, end bool) (*pb.GetInstanceResponse, error) {
	return ask(s, ctx, func(ctx context.Context, hub durable.Hub) (*pb.GetInstanceResponse, error) {
		i, err := hub.Await(ctx, r.GetInstanceId(), end)
		return told(r, i, err)
	})
}

func told(r *pb.GetInstanceRequest, i *durable.Instance, err error) (*pb.GetInstanceResponse, error) {
	if err != nil {
		return nil, err
	}
	return &pb.GetInstanceResponse{Exists: true, State: stateOf(i, r.GetGetInputsAndOutputs())}, nil
}

// stateOf is how an instance stands; with values what went in and came out too.
func stateOf(i *durable.Instance, values bool) *pb.OrchestrationState {
	out := &pb.OrchestrationState{
		InstanceId: i.ID, Name: i.Name, Version: wrapperspb.String(i.Version), Status: pb.OrchestrationStatus(i.Status),
		Created: timestamppb.New(i.Created), LastUpdated: timestamppb.New(i.Updated), ExecutionId: wrapperspb.String(i.Execution), Tags: i.Tags,
	}
	if !i.Due.IsZero() {
		out.ScheduledStart = timestamppb.New(i.Due)
	}
	if i.Status.Finished() {
		out.Completed = timestamppb.New(i.Updated)
	}
	if i.Parent != "" {
		out.ParentInstanceId = wrapperspb.String(i.Parent)
	}
	if !values {
		return out
	}
	out.Input, out.Output, out.CustomStatus = wire.Optional(i.Input), wire.Optional(i.Output), wire.Optional(i.CustomStatus)
	if i.CustomStatus == nil {
		out.CustomStatus = wrapperspb.String("null")
	}
	return out
}

// RaiseEvent gives an instance an external event.
func (s *Server) RaiseEvent(ctx context.Context, r *pb.RaiseEventRequest) (*pb.RaiseEventResponse, error) {
	return ask(s, ctx, func(ctx context.Context, hub durable.Hub) (*pb.RaiseEventResponse, error) {
		err := hub.RaiseEvent(ctx, r.GetInstanceId(), r.GetName(), r.GetInput().GetValue(), by)
		if durable.Is(err, durable.CodeNotFound) {
			err = unknown(r.GetInstanceId())
		}
		return &pb.RaiseEventResponse{}, err
	})
}

func control[T any](s *Server, ctx context.Context, id, reason string, command durable.Command, answer T) (T, error) {
	return ask(s, ctx, func(ctx context.Context, hub durable.Hub) (T, error) {
		return answer, refusedControl(id, command, hub.Control(ctx, id, durable.Control{Command: command, Reason: reason, By: by}))
	})
}

// TerminateInstance ends an instance. Its children go on, also those of a recursive call: the
// platform takes no notice of that.
//
// Source: ext, TerminateInstance of its gRPC server.
func (s *Server) TerminateInstance(ctx context.Context, r *pb.TerminateRequest) (*pb.TerminateResponse, error) {
	return control(s, ctx, r.GetInstanceId(), r.GetOutput().GetValue(), durable.Terminate, &pb.TerminateResponse{})
}

// SuspendInstance suspends an instance.
func (s *Server) SuspendInstance(ctx context.Context, r *pb.SuspendRequest) (*pb.SuspendResponse, error) {
	return control(s, ctx, r.GetInstanceId(), r.GetReason().GetValue(), durable.Suspend, &pb.SuspendResponse{})
}

// ResumeInstance lets a suspended instance go on.
func (s *Server) ResumeInstance(ctx context.Context, r *pb.ResumeRequest) (*pb.ResumeResponse, error) {
	return control(s, ctx, r.GetInstanceId(), r.GetReason().GetValue(), durable.Resume, &pb.ResumeResponse{})
}

// RewindInstance brings a failed instance back to before its failures.
func (s *Server) RewindInstance(ctx context.Context, r *pb.RewindInstanceRequest) (*pb.RewindInstanceResponse, error) {
	return control(s, ctx, r.GetInstanceId(), r.GetReason().GetValue(), durable.Rewind, &pb.RewindInstanceResponse{})
}

// RestartInstance starts the orchestration of an instance anew.
func (s *Server) RestartInstance(ctx context.Context, r *pb.RestartInstanceRequest) (*pb.RestartInstanceResponse, error) {
	return ask(s, ctx, func(ctx context.Context, hub durable.Hub) (*pb.RestartInstanceResponse, error) {
		id, err := r.GetInstanceId(), error(nil)
		if _, entity := durable.ParseEntityID(id); entity {
			return nil, unknown(id)
		}
		if r.GetWithNewId() {
			var i *durable.Instance
			if i, err = hub.Instance(ctx, id, durable.Read{}); err == nil {
				id, err = hub.Start(ctx, durable.Start{Name: i.Name, Version: i.Version, Input: i.Input, Tags: i.Tags, By: "restart"})
			}
		} else {
			id, err = hub.Restart(ctx, id, "", by)
		}
		switch {
		case durable.Is(err, durable.CodeNotFound):
			err = unknown(r.GetInstanceId())
		case durable.Is(err, durable.CodeInUse):
			err = status.Error(codes.FailedPrecondition, err.Error())
		}
		return &pb.RestartInstanceResponse{InstanceId: id}, err
	})
}

// queried is the hub that a query means: the one that it names, else that of the call.
func (s *Server) queried(hub durable.Hub, names []*wrapperspb.StringValue) (durable.Hub, error) {
	switch len(names) {
	case 0:
		return hub, nil
	case 1:
		return s.hub(names[0].GetValue())
	}
	var list []string
	for _, name := range names {
		list = append(list, name.GetValue())
	}
	return nil, status.Errorf(codes.InvalidArgument, "a query is of one task hub, and this one names %s: make a query for each", strings.Join(list, " and "))
}

// QueryInstances returns a page of instances, without entities.
func (s *Server) QueryInstances(ctx context.Context, r *pb.QueryInstancesRequest) (*pb.QueryInstancesResponse, error) {
	q := r.GetQuery()
	return ask(s, ctx, func(ctx context.Context, hub durable.Hub) (*pb.QueryInstancesResponse, error) {
		hub, err := s.queried(hub, q.GetHubs())
		if err != nil {
			return nil, err
		}
		page, token, err := hub.Instances(ctx, durable.Query{
			From: wire.Time(q.GetCreatedFrom()), To: wire.Time(q.GetCreatedTo()), Statuses: statuses(q.GetStatuses()), Prefix: q.GetPrefix().GetValue(), Top: int(q.GetMax()), Token: q.GetToken().GetValue(),
		})
		out := &pb.QueryInstancesResponse{}
		for _, i := range page {
			out.States = append(out.States, stateOf(i, q.GetFetchInputsAndOutputs()))
		}
		if token != "" {
			out.Token = wrapperspb.String(token)
		}
		return out, err
	})
}

// PurgeInstances removes one finished instance, or all that a filter names.
func (s *Server) PurgeInstances(ctx context.Context, r *pb.PurgeInstancesRequest) (*pb.PurgeInstancesResponse, error) {
	return ask(s, ctx, func(ctx context.Context, hub durable.Hub) (*pb.PurgeInstancesResponse, error) {
		var n int
		var err error
		switch of := r.GetRequest().(type) {
		case *pb.PurgeInstancesRequest_InstanceId:
			n, err = hub.Purge(ctx, of.InstanceId, by)
		case *pb.PurgeInstancesRequest_Filter:
			f := of.Filter
			n, err = hub.PurgeAll(ctx, durable.Query{From: wire.Time(f.GetCreatedFrom()), To: wire.Time(f.GetCreatedTo()), Statuses: statuses(f.GetStatuses())}, by)
		case *pb.PurgeInstancesRequest_Batch:
			err = status.Error(codes.InvalidArgument, "Unknown purge request type 'InstanceBatch'.")
		default:
			err = status.Error(codes.InvalidArgument, "Unknown purge request type 'None'.")
		}
		if durable.Is(err, durable.CodeNotFound) {
			n, err = 0, nil
		}
		return &pb.PurgeInstancesResponse{Count: int32(n), Complete: wrapperspb.Bool(true)}, err
	})
}

// chunk is how many events of a history go in one message.
const chunk = 500

// StreamInstanceHistory sends the history of an instance's present execution.
func (s *Server) StreamInstanceHistory(r *pb.StreamInstanceHistoryRequest, stream pb.TaskHubSidecarService_StreamInstanceHistoryServer) error {
	i, err := ask(s, stream.Context(), func(ctx context.Context, hub durable.Hub) (*durable.Instance, error) {
		i, err := hub.Instance(ctx, r.GetInstanceId(), durable.Read{History: true})
		if durable.Is(err, durable.CodeNotFound) {
			err = unknown(r.GetInstanceId())
		}
		return i, err
	})
	if err != nil {
		return err
	}
	for part := range slices.Chunk(i.History, chunk) {
		out := &pb.HistoryChunk{}
		for j := range part {
			out.Events = append(out.Events, wire.Event(&part[j]))
		}
		if err := stream.Send(out); err != nil {
			return err
		}
	}
	return nil
}

// CreateTaskHub empties the hub when it is to be made anew; else it is there.
func (s *Server) CreateTaskHub(ctx context.Context, r *pb.CreateTaskHubRequest) (*pb.CreateTaskHubResponse, error) {
	return ask(s, ctx, func(ctx context.Context, hub durable.Hub) (*pb.CreateTaskHubResponse, error) {
		if !r.GetRecreate() {
			return &pb.CreateTaskHubResponse{}, nil
		}
		return &pb.CreateTaskHubResponse{}, empty(ctx, hub)
	})
}

// DeleteTaskHub empties the hub.
func (s *Server) DeleteTaskHub(ctx context.Context, _ *pb.DeleteTaskHubRequest) (*pb.DeleteTaskHubResponse, error) {
	return ask(s, ctx, func(ctx context.Context, hub durable.Hub) (*pb.DeleteTaskHubResponse, error) {
		return &pb.DeleteTaskHubResponse{}, empty(ctx, hub)
	})
}

func empty(ctx context.Context, hub durable.Hub) error {
	_, err := hub.PurgeAll(ctx, durable.Query{Entities: true}, by)
	return err
}

func statuses(list []pb.OrchestrationStatus) (out []durable.Status) {
	for _, s := range list {
		out = append(out, durable.Status(s))
	}
	return out
}
