package durabletask_test

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/clock"
)

// fake is a hub that answers as the contract says and runs nothing: tests set how its
// instances stand.
type fake struct {
	durable.Hub // of what is not asked for
	clk         clock.Clock
	name        string

	on     map[string]*durable.Instance
	states map[durable.EntityID]string
	calls  []string                           // what changed something
	ends   map[string]func(*durable.Instance) // by id: what an instance is at its end
	due    map[string]time.Time
}

func newFake(clk clock.Clock, name string) *fake {
	return &fake{clk: clk, name: name, on: map[string]*durable.Instance{}, states: map[durable.EntityID]string{}, ends: map[string]func(*durable.Instance){}, due: map[string]time.Time{}}
}

func text(s string) *string { return &s }

// put sets an instance.
func (f *fake) put(i durable.Instance) {
	if i.Created.IsZero() {
		i.Created, i.Updated = f.clk.Now(), f.clk.Now()
	}
	f.on[i.ID] = &i
}

func (f *fake) called(what ...string) { f.calls = append(f.calls, strings.Join(what, " ")) }

func (f *fake) Name() string { return f.name }

// look is an instance as it stands now.
func (f *fake) look(id string) (*durable.Instance, error) {
	i := f.on[id]
	if i == nil {
		return nil, &durable.Error{Code: durable.CodeNotFound, Text: "there is no instance " + id}
	}
	if due, ends := f.due[id]; ends && !f.clk.Now().Before(due) && !i.Status.Finished() {
		f.ends[id](i)
	}
	return i, nil
}

func (f *fake) Start(_ context.Context, s durable.Start) (string, error) {
	if s.ID == "" {
		s.ID = "made"
	}
	if i, err := f.look(s.ID); err == nil && !i.Status.Finished() {
		return "", &durable.Error{Code: durable.CodeInUse, Status: i.Status}
	}
	input := "-"
	if s.Input != nil {
		input = *s.Input
	}
	f.called("start", s.Name, s.ID, input, s.By)
	f.put(durable.Instance{ID: s.ID, Name: s.Name, Version: s.Version, Input: s.Input, Status: durable.Pending})
	return s.ID, nil
}

func (f *fake) Restart(ctx context.Context, id, newID, by string) (string, error) {
	i, err := f.look(id)
	if err != nil {
		return "", err
	}
	if newID == "" {
		newID = id
	}
	return f.Start(ctx, durable.Start{Name: i.Name, ID: newID, Input: i.Input, By: by})
}

func (f *fake) Instance(_ context.Context, id string, read durable.Read) (*durable.Instance, error) {
	i, err := f.look(id)
	if err != nil {
		return nil, err
	}
	out := *i
	if !read.History {
		out.History = nil
	}
	return &out, nil
}

func (f *fake) Instances(_ context.Context, q durable.Query) (page []*durable.Instance, token string, err error) {
	top := q.Top
	if top == 0 {
		top = 100
	}
	var ids []string
	for id := range f.on {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		i := f.on[id]
		if id <= q.Token || !strings.HasPrefix(id, q.Prefix) || len(q.Statuses) > 0 && !slices.Contains(q.Statuses, i.Status) {
			continue
		}
		if len(page) == top {
			return page, page[top-1].ID, nil
		}
		page = append(page, i)
	}
	return page, "", nil
}

func (f *fake) AwaitEnd(ctx context.Context, id string, until time.Time) (*durable.Instance, error) {
	i, err := f.look(id)
	if err != nil {
		return nil, err
	}
	at := until
	if due, ends := f.due[id]; ends && due.Before(until) {
		at = due
	}
	if err := f.clk.Sleep(ctx, at.Sub(f.clk.Now())); err != nil {
		return nil, err
	}
	return i, func() error { _, err := f.look(id); return err }()
}

func (f *fake) AllowPoll(ctx context.Context, _ string, d time.Duration) error {
	return f.clk.Sleep(ctx, d)
}

func (f *fake) RaiseEvent(_ context.Context, id, name, data, by string) error {
	f.called("raise", id, name, data, by)
	return nil
}

func (f *fake) Control(_ context.Context, id string, c durable.Control) error {
	i, err := f.look(id)
	if err != nil {
		return err
	}
	wrong := &durable.Error{Code: durable.CodeWrongState, Status: i.Status}
	switch {
	case c.Command == durable.Rewind && i.Status != durable.Failed:
		return wrong
	case c.Command != durable.Rewind && i.Status.Finished():
		return &durable.Error{Code: durable.CodeFinished, Status: i.Status}
	case c.Command == durable.Suspend && i.Status == durable.Suspended, c.Command == durable.Resume && i.Status != durable.Suspended:
		return wrong
	}
	f.called(string(c.Command), id, c.Reason, c.By)
	return nil
}

func (f *fake) Purge(_ context.Context, id, by string) (int, error) {
	i, err := f.look(id)
	switch {
	case err != nil:
		return 0, nil
	case !i.Status.Finished() && !strings.HasPrefix(id, "@"):
		return 0, &durable.Error{Code: durable.CodeWrongState, Status: i.Status}
	}
	f.called("purge", id, by)
	delete(f.on, id)
	return 1, nil
}

func (f *fake) PurgeAll(_ context.Context, q durable.Query, by string) (n int, _ error) {
	for id, i := range f.on {
		if !i.Created.Before(q.From) && !i.Created.After(q.To) && (len(q.Statuses) == 0 || slices.Contains(q.Statuses, i.Status)) {
			delete(f.on, id)
			n++
		}
	}
	return n, nil
}

func (f *fake) Signal(_ context.Context, e durable.EntityID, op, input string, _ time.Time, by string) error {
	f.called("signal", e.String(), op, input, by)
	return nil
}

func (f *fake) Entity(_ context.Context, e durable.EntityID) (*durable.Entity, error) {
	state, ok := f.states[e]
	if !ok {
		return nil, &durable.Error{Code: durable.CodeNotFound}
	}
	return &durable.Entity{ID: e, State: &state, Modified: f.clk.Now()}, nil
}

func (f *fake) Entities(ctx context.Context, q durable.EntityQuery) (page []*durable.Entity, token string, err error) {
	for e := range f.states {
		if q.Name == "" || q.Name == e.Name {
			one, _ := f.Entity(ctx, e)
			if !q.State {
				one.State = nil
			}
			page = append(page, one)
		}
	}
	return page, "", nil
}
