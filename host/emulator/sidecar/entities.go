package sidecar

import (
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/emulator/durable/wire"
	pb "github.com/redeliver/redeliver/host/emulator/sidecar/sidecarpb"
)

func entityID(id string) (durable.EntityID, error) {
	e, ok := durable.ParseEntityID(id)
	if !ok {
		return e, status.Errorf(codes.InvalidArgument, "the id %q is none of an entity: want @name@key", id)
	}
	return e, nil
}

// SignalEntity sends an entity an operation that nobody waits for.
func (s *Server) SignalEntity(ctx context.Context, r *pb.SignalEntityRequest) (*pb.SignalEntityResponse, error) {
	return ask(s, ctx, func(ctx context.Context, hub durable.Hub) (*pb.SignalEntityResponse, error) {
		e, err := entityID(r.GetInstanceId())
		if err == nil {
			err = hub.Signal(ctx, e, r.GetName(), r.GetInput().GetValue(), wire.Time(r.GetScheduledTime()), by)
		}
		return &pb.SignalEntityResponse{}, err
	})
}

// GetEntity tells how an entity stands.
func (s *Server) GetEntity(ctx context.Context, r *pb.GetEntityRequest) (*pb.GetEntityResponse, error) {
	return ask(s, ctx, func(ctx context.Context, hub durable.Hub) (*pb.GetEntityResponse, error) {
		id, err := entityID(r.GetInstanceId())
		if err != nil {
			return nil, err
		}
		e, err := hub.Entity(ctx, id)
		if durable.Is(err, durable.CodeNotFound) {
			return &pb.GetEntityResponse{}, nil
		}
		if err != nil {
			return nil, err
		}
		return &pb.GetEntityResponse{Exists: true, Entity: metadataOf(e, r.GetIncludeState())}, nil
	})
}

func metadataOf(e *durable.Entity, state bool) *pb.EntityMetadata {
	out := &pb.EntityMetadata{InstanceId: e.ID.String(), LastModified: timestamppb.New(e.Modified), Backlog: int32(e.Queue)}
	if e.LockedBy != "" {
		out.LockedBy = wrapperspb.String(e.LockedBy)
	}
	if state {
		out.State = wire.Optional(e.State)
	}
	return out
}

// QueryEntities returns a page of entities.
func (s *Server) QueryEntities(ctx context.Context, r *pb.QueryEntitiesRequest) (*pb.QueryEntitiesResponse, error) {
	q := r.GetQuery()
	return ask(s, ctx, func(ctx context.Context, hub durable.Hub) (*pb.QueryEntitiesResponse, error) {
		page, token, err := hub.Entities(ctx, durable.EntityQuery{
			Prefix: q.GetPrefix().GetValue(), From: wire.Time(q.GetFrom()), To: wire.Time(q.GetTo()), State: q.GetIncludeState(), Top: int(q.GetPageSize().GetValue()), Token: q.GetToken().GetValue(),
		})
		out := &pb.QueryEntitiesResponse{}
		for _, e := range page {
			out.Entities = append(out.Entities, metadataOf(e, q.GetIncludeState()))
		}
		if token != "" {
			out.Token = wrapperspb.String(token)
		}
		return out, err
	})
}

// CleanEntityStorage removes what is left of entities that do not exist, and ends locks whose
// owners have ended.
func (s *Server) CleanEntityStorage(ctx context.Context, r *pb.CleanEntityStorageRequest) (*pb.CleanEntityStorageResponse, error) {
	return ask(s, ctx, func(ctx context.Context, hub durable.Hub) (*pb.CleanEntityStorageResponse, error) {
		removed, released, err := hub.Clean(ctx, r.GetRemoveEmpty(), r.GetReleaseOrphaned())
		return &pb.CleanEntityStorageResponse{EmptyRemoved: int32(removed), OrphanedReleased: int32(released)}, err
	})
}
