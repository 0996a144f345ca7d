package trace

import (
	"encoding/binary"
	"errors"
	"strconv"
)

// A Sampler says which traces are exported. It decides by the identity of a trace and by
// the sender alone, so that the host hands a handler the same decision that the export
// takes. The zero Sampler takes every trace whose sender has not decided otherwise.
type Sampler struct {
	alone   bool    // whatever the sender has decided
	dropped float64 // share of the traces
}

// ErrSampler is the error of ParseSampler for an argument that is no ratio.
var ErrSampler = errors.New("want a number from 0 to 1")

// ParseSampler reads the name of a sampler, and its argument, as the specification of
// OpenTelemetry has them (OTEL_TRACES_SAMPLER). It is false for another name.
func ParseSampler(name, arg string) (s Sampler, ok bool, err error) {
	ratio := 1.0
	switch name {
	case "", "parentbased_always_on", "always_on":
	case "parentbased_always_off", "always_off":
		ratio = 0
	case "parentbased_traceidratio", "traceidratio":
		if arg != "" {
			if ratio, err = strconv.ParseFloat(arg, 64); err != nil || !(ratio >= 0 && ratio <= 1) {
				return Sampler{}, true, ErrSampler
			}
		}
	default:
		return Sampler{}, false, nil
	}
	return Sampler{alone: name == "always_on" || name == "always_off" || name == "traceidratio", dropped: 1 - ratio}, true, nil
}

// Sampled reports whether a trace is exported.
func (s Sampler) Sampled(trace ID, sender Parent) bool {
	if !s.alone && sender.Trace != (ID{}) {
		return sender.Sampled
	}
	if s.dropped == 0 || s.dropped == 1 {
		return s.dropped == 0
	}
	// As the SDKs take it (TraceIdRatioBased), so that all of a trace agree.
	return binary.BigEndian.Uint64(trace[8:])>>1 < uint64((1-s.dropped)*(1<<63))
}

// Sampling is the run with another sampler than the zero one.
func (r *Run) Sampling(s Sampler) *Run {
	out := *r
	out.sampler = s
	return &out
}

// Sampled reports whether the spans of a trace are exported.
func (r *Run) Sampled(trace ID, sender Parent) bool { return r.sampler.Sampled(trace, sender) }
