package functions

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/redeliver/redeliver/functions/call"
)

// Logger returns a logger whose lines reach the host's log with the invocation's
// IDs, in order. In any other context it returns slog.Default().
//
// A process started through [Main] may as well use slog itself:
// slog.InfoContext(ctx, ...) takes the same way.
func Logger(ctx context.Context) *slog.Logger {
	c := current(ctx)
	if c == nil {
		return slog.Default()
	}
	return slog.New(&logHandler{bound: c})
}

// LogHandler returns a slog.Handler that sends a line to the host when its
// context is a handler's, and to next otherwise. [Main] installs one as slog's
// default. Any other process, such as a test, can do the same.
func LogHandler(next slog.Handler) slog.Handler { return &logHandler{next: next} }

// logHandler sends lines to the invocation it is bound to, else to the invocation
// of the line's context, else to next (which may be nil).
type logHandler struct {
	bound  *invocation
	next   slog.Handler
	prefix string // of open groups, "a.b."
	fields []call.Field
}

// Enabled lets everything from trace on pass to the host, which has the filter.
func (h *logHandler) Enabled(ctx context.Context, level slog.Level) bool {
	if h.bound != nil || current(ctx) != nil {
		return true
	}
	return h.next != nil && h.next.Enabled(ctx, level)
}

func (h *logHandler) Handle(ctx context.Context, r slog.Record) error {
	c := h.bound
	if c == nil {
		c = current(ctx)
	}
	if c == nil || c.over() {
		if h.next == nil {
			return nil
		}
		return h.next.Handle(ctx, r)
	}
	line := call.Log{Level: level(r.Level), Message: r.Message, Fields: slices.Clip(h.fields)}
	r.Attrs(func(a slog.Attr) bool {
		line.Fields = appendField(line.Fields, h.prefix, a)
		return true
	})
	c.link.Log(line)
	return nil
}

func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	n := *h
	n.fields = slices.Clip(h.fields)
	for _, a := range attrs {
		n.fields = appendField(n.fields, h.prefix, a)
	}
	if h.next != nil {
		n.next = h.next.WithAttrs(attrs)
	}
	return &n
}

func (h *logHandler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	n := *h
	n.prefix += name + "."
	if h.next != nil {
		n.next = h.next.WithGroup(name)
	}
	return &n
}

// appendField flattens a into fields: members of a group become "group.member".
func appendField(fields []call.Field, prefix string, a slog.Attr) []call.Field {
	v := a.Value.Resolve()
	if v.Kind() == slog.KindGroup {
		if a.Key != "" {
			prefix += a.Key + "."
		}
		for _, member := range v.Group() {
			fields = appendField(fields, prefix, member)
		}
		return fields
	}
	if a.Key == "" && v.Kind() == slog.KindAny && v.Any() == nil {
		return fields // slog: an empty Attr is left out
	}
	text := v.String()
	if v.Kind() == slog.KindTime {
		text = v.Time().Format(time.RFC3339Nano)
	}
	return append(fields, call.Field{Key: prefix + a.Key, Value: text})
}

// level maps slog's open scale onto the platform's.
func level(l slog.Level) call.Level {
	switch {
	case l < slog.LevelDebug:
		return call.Trace
	case l < slog.LevelInfo:
		return call.Debug
	case l < slog.LevelWarn:
		return call.Information
	case l < slog.LevelError:
		return call.Warning
	case l < slog.LevelError+4:
		return call.ErrorLevel
	}
	return call.Critical
}
