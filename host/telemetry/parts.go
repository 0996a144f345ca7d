package telemetry

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// mostOfPart is the size of what goes to a collector in one request, in bytes of its
// texts, unless one thing alone is larger. The SDK counts things only.
const mostOfPart = 1 << 20

// inParts exports a list in requests that a collector takes. What follows a part that
// fails is still sent. sizeOf is asked once for each thing.
func inParts[T any](ctx context.Context, list []T, sizeOf func(*T) int, export func(context.Context, []T) error) error {
	var errs []error
	begin, size := 0, 0
	for i := range list {
		n := sizeOf(&list[i])
		if size += n; size > mostOfPart && i > begin {
			errs = append(errs, export(ctx, list[begin:i]))
			begin, size = i, n
		}
	}
	if begin < len(list) {
		errs = append(errs, export(ctx, list[begin:]))
	}
	return errors.Join(errs...)
}

// spanSize is about the size of a span, by its texts.
func spanSize(s *sdktrace.ReadOnlySpan) int {
	n := len((*s).Name()) + len((*s).Status().Description)
	for _, a := range (*s).Attributes() {
		n += attributeSize(a)
	}
	for _, e := range (*s).Events() {
		n += len(e.Name)
		for _, a := range e.Attributes {
			n += attributeSize(a)
		}
	}
	return n
}

// lineSize is about the size of a log record, by its texts.
func lineSize(r *sdklog.Record) int {
	n := len(r.Body().AsString())
	r.WalkAttributes(func(a attribute.KeyValue) bool {
		n += attributeSize(a)
		return true
	})
	return n
}

func attributeSize(a attribute.KeyValue) int {
	n := len(a.Key)
	if a.Value.Type() == attribute.STRING {
		n += len(a.Value.AsString())
	}
	return n
}
