package atom

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/servicebus/duration"
	"github.com/redeliver/redeliver/host/emulator/servicebus/setting"
)

// getEntity finds out what the name stands for.
func getEntity(c *call) error {
	var d described
	err := c.inside(func(ctx context.Context) error {
		q, err := c.admin.GetQueue(ctx, c.target.entity)
		if err == nil {
			d = c.describeQueue(q)
			return nil
		}
		if !errors.Is(err, bindings.ErrNotFound) {
			return err
		}
		t, err := c.admin.GetTopic(ctx, c.target.entity)
		if err != nil {
			return err
		}
		full, err := c.countFilters(ctx, t)
		d = c.describeTopic(full)
		return err
	})
	if errors.Is(err, bindings.ErrNotFound) {
		return c.publiclyListed()
	}
	if err != nil {
		return err
	}
	return c.answerEntry(http.StatusOK, d)
}

// putEntity creates or updates what the description describes.
func putEntity(c *call) error {
	description, err := c.body()
	if err != nil {
		return err
	}
	switch description.name {
	case queueRoot:
		return putQueue(c, description)
	case topicRoot:
		return putTopic(c, description)
	}
	return fail(http.StatusBadRequest, "the entry describes a %q; want %s or %s", description.name, queueRoot, topicRoot)
}

// deleteEntity deletes the queue or topic of that name.
func deleteEntity(c *call) error {
	err := c.inside(func(ctx context.Context) error {
		err := c.admin.DeleteQueue(ctx, c.target.entity)
		if errors.Is(err, bindings.ErrNotFound) {
			return c.admin.DeleteTopic(ctx, c.target.entity)
		}
		return err
	})
	return c.deleted(err)
}

func (c *call) deleted(err error) error {
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, "", nil)
}

// counts writes what an entity holds. The JavaScript client looks for this
// prefix.
func (w *writer) counts(n servicebus.Counts) {
	w.open("CountDetails", "xmlns:d2p1", countsSpace)
	w.number("d2p1:ActiveMessageCount", n.Active)
	w.number("d2p1:DeadLetterMessageCount", n.DeadLetter)
	w.number("d2p1:ScheduledMessageCount", n.Scheduled)
	w.number("d2p1:TransferMessageCount", n.Transfer)
	w.number("d2p1:TransferDeadLetterMessageCount", n.TransferDeadLetter)
	w.close("CountDetails")
}

func (w *writer) times(r servicebus.Runtime) {
	w.time("CreatedAt", r.Created)
	w.time("UpdatedAt", r.Updated)
	w.time("AccessedAt", r.Accessed)
}

// settings reads the settings of an entity, and returns the first fault so far.
func (f *fields) settings(entity any) error {
	for _, s := range setting.Of(entity) {
		switch in := s.In.(type) {
		case *time.Duration:
			if *in = f.duration(s.Name); s.Max == 0 && *in == duration.Unbounded {
				*in = 0
			}
		case *int:
			*in = f.number(s.Name)
		case *bool:
			v := f.flag(s.Name)
			*in = v != nil && *v
		case **bool:
			*in = f.flag(s.Name)
		case *string:
			*in = f.text(s.Name)
		case *servicebus.Status:
			text, _ := f.scalar(s.Name)
			*in = servicebus.Status(text)
		}
	}
	return f.err
}

// keepFixed leaves settings that are decided at creation, and that an update does not
// mention, as they are.
func keepFixed(description *element, entity, is any) {
	old := setting.Of(is)
	for i, s := range setting.Of(entity) {
		if s.Fixed && description.child(s.Name) == nil {
			*s.In.(*bool) = *old[i].In.(*bool)
		}
	}
}

// settings writes settings of an entity, in the order of their names.
func (w *writer) settings(c *call, entity any, names ...string) {
	all := setting.Of(entity)
	for _, name := range names {
		s := all[slices.IndexFunc(all, func(v setting.Value) bool { return v.Name == name })]
		switch in := s.In.(type) {
		case *time.Duration:
			d := *in
			if s.Max == 0 && d == 0 {
				d = duration.Unbounded
			}
			w.field(name, duration.Format(d))
		case *int:
			w.number(name, int64(*in))
		case *bool:
			w.flag(name, *in)
		case **bool:
			w.flag(name, *in != nil && **in || *in == nil && s.Default.(bool))
		case *servicebus.Status:
			w.field(name, string(*in))
		case *string:
			address := reflect.ValueOf(entity).Elem().FieldByName(name + "Address")
			if address.IsValid() {
				c.forward(w, name, *in, address.String())
			} else if *in != "" {
				w.field(name, *in)
			}
		}
	}
}
