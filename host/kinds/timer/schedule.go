package timer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/triggers/timer"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/kinds"
	"github.com/redeliver/redeliver/triggers/hostlock"
)

// schedule is the status of a timer as a blob in the host's account, so that it
// outlives the host, and hosts with the same ID share it. It implements
// timer.StatusStore.
//
// Source: spec host-and-retry 10.5; exttimer: StorageScheduleMonitor.cs.
//
// Under a lock it is written by the lock's holder only: the service is asked for the
// lock first, and the blob must be the one that was read or written last. A host that
// wakes up late finds that the lock or the blob has changed.
type schedule struct {
	in   blob.Container
	blob blob.Blob
	held *hostlock.Held // nil: without another writer
	etag string         // of what was read or written last; empty: nothing was
}

// scheduleName is the name of a function's status blob in the host's container.
func scheduleName(hostID, function string) string {
	return "timers/" + hostID + "/" + app.FunctionID(function) + "/status"
}

// scheduleOf returns where the status of the function's timer is kept.
func scheduleOf(f *kinds.Function) (*schedule, error) {
	in, err := f.Locks().Container()
	if err != nil {
		return nil, err
	}
	return scheduleIn(f, in), nil
}

func scheduleIn(f *kinds.Function, in blob.Container) *schedule {
	return &schedule{in: in, blob: in.Blob(scheduleName(f.App().ID, f.Def.Name))}
}

// maxStatus is more than any status has; a longer blob is not a status.
const maxStatus = 64 << 10

// Status implements timer.StatusStore.
func (s *schedule) Status(ctx context.Context) (*timer.Status, error) {
	d, err := s.blob.Get(ctx, nil)
	if errors.Is(err, bindings.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s.etag = d.Properties.ETag
	text, err := io.ReadAll(io.LimitReader(d.Body, maxStatus))
	if closeErr := d.Body.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(text)) == 0 { // nothing was recorded yet (Newtonsoft reads it as null)
		return nil, nil
	}
	status := new(timer.Status)
	if err := json.Unmarshal(text, status); err != nil {
		return nil, fmt.Errorf("blob %s/%s: %w", s.in.Name(), s.blob.Name(), err)
	}
	return status, nil
}

// SetStatus implements timer.StatusStore.
func (s *schedule) SetStatus(ctx context.Context, status timer.Status) error {
	text, err := json.Marshal(status)
	if err != nil {
		return err
	}
	put := func(unchanged bool) error {
		opts := &blob.PutOptions{Headers: blob.Headers{ContentType: "application/json"}}
		if unchanged {
			opts.Conditions = &blob.Conditions{IfMatch: s.etag}
		}
		written, err := s.blob.Put(ctx, bytes.NewReader(text), opts)
		if err == nil {
			s.etag = written.ETag
		}
		return err
	}
	if s.held != nil {
		if err := s.held.Confirm(ctx); err != nil {
			return err
		}
		if s.etag != "" {
			err := put(true)
			if !errors.Is(err, bindings.ErrConditionNotMet) && !errors.Is(err, bindings.ErrNotFound) {
				return err
			}
			// Somebody wrote without a right to, or the state was replaced, or another
			// host has the lock since.
			if err := s.held.Confirm(ctx); err != nil {
				return err
			}
		}
	}
	err = put(false)
	if !errors.Is(err, storage.ErrContainerNotFound) {
		return err
	}
	if _, err := s.in.Create(ctx, nil); err != nil && !errors.Is(err, bindings.ErrAlreadyExists) {
		return err
	}
	return put(false)
}
