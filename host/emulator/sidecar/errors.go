package sidecar

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/redeliver/redeliver/bindings/durable"
)

// errorOf is an error as gRPC has it. A call whose own time is up, or that was left, says so.
func errorOf(call context.Context, err error) error {
	if _, is := status.FromError(err); is {
		return err
	}
	if refusal, ok := errors.AsType[*durable.Error](err); ok {
		return status.Error(codeOf(refusal.Code), refusal.Text)
	}
	switch {
	case errors.Is(call.Err(), context.DeadlineExceeded):
		return status.Error(codes.DeadlineExceeded, "the time of the call is up")
	case call.Err() != nil:
		return status.Error(codes.Canceled, "the call was left")
	case errors.Is(err, context.Canceled):
		return status.Error(codes.Unavailable, "the host stops")
	}
	return status.Error(codes.Internal, err.Error())
}

func codeOf(c durable.Code) codes.Code {
	switch c {
	case durable.CodeNotFound:
		return codes.NotFound
	case durable.CodeInUse:
		return codes.AlreadyExists
	case durable.CodeFinished, durable.CodeWrongState:
		return codes.FailedPrecondition
	case durable.CodeBadID, durable.CodeUnknown:
		return codes.InvalidArgument
	}
	return codes.Unknown
}

// unknown is the platform's refusal of an id that no instance has.
func unknown(id string) error {
	return status.Errorf(codes.NotFound, "ArgumentException: No instance with ID '%s' was found. (Parameter 'instanceId')", id)
}

// refusedControl is the refusal of a command (spec durable 5.3).
func refusedControl(id string, command durable.Command, err error) error {
	switch {
	case err == nil:
		return nil
	case durable.Is(err, durable.CodeNotFound):
		return unknown(id)
	case command == durable.Rewind && durable.Is(err, durable.CodeWrongState):
		return status.Error(codes.FailedPrecondition, "The rewind operation is only supported on failed orchestration instances.")
	case durable.Is(err, durable.CodeFinished):
		return status.Errorf(codes.FailedPrecondition, "InvalidOperationException: Cannot %s the orchestration instance %s because instance is in the %s state.", command, id, statusOf(err))
	case durable.Is(err, durable.CodeWrongState):
		return status.Errorf(codes.FailedPrecondition, "InvalidOperationException: %s", err)
	}
	return err
}

func statusOf(err error) durable.Status {
	refusal, _ := errors.AsType[*durable.Error](err)
	return refusal.Status
}

// refusedStart is the refusal of a start.
func refusedStart(id string, err error) error {
	switch {
	case err == nil:
		return nil
	case durable.Is(err, durable.CodeInUse):
		return status.Errorf(codes.AlreadyExists, "An Orchestration instance with the ID %s already exists.", id)
	}
	if _, ok := errors.AsType[*durable.Error](err); ok {
		return status.Error(codes.Internal, fmt.Sprintf("Failed to start instance with ID %s.\nInner Exception message: %s.", id, err))
	}
	return err
}
