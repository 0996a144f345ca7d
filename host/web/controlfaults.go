package web

import (
	"context"
	"net/http"

	"github.com/redeliver/redeliver/host/faults"
	"github.com/redeliver/redeliver/host/web/api"
	"github.com/redeliver/redeliver/host/web/control/trouble"
)

// activeFaults are the faults that wait for operations.
func (s *Server) activeFaults() trouble.Faults {
	out := trouble.Faults{Faults: []trouble.Fault{}}
	for _, a := range s.opts.Faults.Active(s.host.Clock().Now()) {
		f := trouble.Fault{
			Service: a.Service, Entity: a.Entity, Operation: a.Operation, DiskFull: a.DiskFull, After: a.After, Lost: a.Lost,
			Status: a.Status, Error: a.Error, Left: a.Left,
		}
		if a.Latency > 0 {
			f.Latency = a.Latency.String()
		}
		if !a.Until.IsZero() {
			f.Until = &a.Until
		}
		out.Faults = append(out.Faults, f)
	}
	return out
}

func (s *Server) listFaults(context.Context, trouble.ListFaults) (trouble.Faults, error) {
	return s.activeFaults(), nil
}

func (s *Server) addFault(ctx context.Context, in trouble.AddFault) (out trouble.Faults, err error) {
	if in.Service == faults.Handler && in.Entity != "" {
		of, own, err := s.function(in.Entity)
		if err != nil {
			return out, err
		}
		in.Entity = qualified(of, own)
	} else if err := s.checkEntity(ctx, in.Service, in.Entity, in.Operation); err != nil {
		return out, err
	}
	if err := s.opts.Faults.Add(s.host.Clock().Now(), faults.Fault{
		Service: in.Service, Entity: in.Entity, Operation: in.Operation, DiskFull: in.DiskFull, After: in.After, Lost: in.Lost,
		Latency: in.Latency, Status: in.Status, Error: in.Error, Times: in.Times, For: in.For,
	}); err != nil {
		return out, refuse(http.StatusBadRequest, err.Error(), "")
	}
	return s.activeFaults(), nil
}

func (s *Server) clearFaults(context.Context, trouble.ClearFaults) (trouble.Faults, error) {
	out := s.activeFaults()
	s.opts.Faults.Clear(s.host.Clock().Now())
	return out, nil
}

func (s *Server) crashAt(_ context.Context, in trouble.CrashAt) (out api.None, err error) {
	of, own, err := s.function(in.Function)
	if err != nil {
		return out, err
	}
	if err := s.opts.Crash.Set(qualified(of, own), faults.Point(in.Point), in.Nth); err != nil {
		return out, refuse(http.StatusBadRequest, err.Error(), "")
	}
	return out, nil
}
