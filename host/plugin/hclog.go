package plugin

import (
	"io"
	"log"

	"github.com/hashicorp/go-hclog"
	"github.com/rs/zerolog"
)

// hclogAdapter passes go-plugin's own lines on to zerolog. They are details of
// the connection: what a person wants to know, the host says itself. So nothing
// leaves above debug.
type hclogAdapter struct {
	log  zerolog.Logger
	name string
	args []any
}

var _ hclog.Logger = (*hclogAdapter)(nil)

func (a *hclogAdapter) Log(level hclog.Level, msg string, args ...any) {
	e := a.log.Debug()
	if level <= hclog.Trace {
		e = a.log.Trace()
	}
	if !e.Enabled() {
		return
	}
	if a.name != "" {
		e = e.Str("component", a.name)
	}
	e.Fields(pairs(a.args)).Fields(pairs(args)).Msg(msg)
}

// pairs makes an even list of keys and values that zerolog accepts.
func pairs(args []any) []any {
	out := make([]any, 0, len(args)+1)
	for i, v := range args {
		if i%2 == 0 {
			key, ok := v.(string)
			if !ok {
				key = "extra"
			}
			out = append(out, key)
			continue
		}
		if f, ok := v.(hclog.Format); ok && len(f) > 0 {
			v = f[0]
		}
		out = append(out, v)
	}
	if len(out)%2 == 1 {
		out = append(out, nil)
	}
	return out
}

func (a *hclogAdapter) Trace(msg string, args ...any) { a.Log(hclog.Trace, msg, args...) }
func (a *hclogAdapter) Debug(msg string, args ...any) { a.Log(hclog.Debug, msg, args...) }
func (a *hclogAdapter) Info(msg string, args ...any)  { a.Log(hclog.Info, msg, args...) }
func (a *hclogAdapter) Warn(msg string, args ...any)  { a.Log(hclog.Warn, msg, args...) }
func (a *hclogAdapter) Error(msg string, args ...any) { a.Log(hclog.Error, msg, args...) }

func (a *hclogAdapter) IsTrace() bool { return a.log.GetLevel() <= zerolog.TraceLevel }
func (a *hclogAdapter) IsDebug() bool { return a.log.GetLevel() <= zerolog.DebugLevel }
func (a *hclogAdapter) IsInfo() bool  { return a.IsDebug() }
func (a *hclogAdapter) IsWarn() bool  { return a.IsDebug() }
func (a *hclogAdapter) IsError() bool { return a.IsDebug() }

func (a *hclogAdapter) ImpliedArgs() []any { return a.args }
func (a *hclogAdapter) Name() string       { return a.name }

func (a *hclogAdapter) With(args ...any) hclog.Logger {
	n := *a
	n.args = append(append([]any(nil), a.args...), args...)
	return &n
}

func (a *hclogAdapter) Named(name string) hclog.Logger {
	if a.name != "" {
		name = a.name + "." + name
	}
	return a.ResetNamed(name)
}

func (a *hclogAdapter) ResetNamed(name string) hclog.Logger {
	n := *a
	n.name = name
	return &n
}

// SetLevel does nothing: the host's logger has the level.
func (a *hclogAdapter) SetLevel(hclog.Level) {}

func (a *hclogAdapter) GetLevel() hclog.Level {
	switch {
	case a.IsTrace():
		return hclog.Trace
	case a.IsDebug():
		return hclog.Debug
	}
	return hclog.Off
}

func (a *hclogAdapter) StandardLogger(*hclog.StandardLoggerOptions) *log.Logger {
	return log.New(a.StandardWriter(nil), "", 0)
}

func (a *hclogAdapter) StandardWriter(*hclog.StandardLoggerOptions) io.Writer {
	return a.log.Level(zerolog.DebugLevel)
}
