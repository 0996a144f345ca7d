package servicebus

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/servicebus/duration"
	"github.com/redeliver/redeliver/host/emulator/servicebus/setting"
	"github.com/redeliver/redeliver/host/explain"
	"github.com/redeliver/redeliver/host/ops"
)

// shownSettings are the settings of an entity as the control API has them, under the
// same names.
func shownSettings(entity any) (out BusSettings) {
	to := reflect.ValueOf(&out).Elem()
	for _, s := range setting.Of(entity) {
		field := to.FieldByName(s.Name)
		switch in := s.In.(type) {
		case *time.Duration:
			field.SetString(iso(*in))
		default:
			if field.IsValid() {
				field.Set(reflect.ValueOf(in).Elem().Convert(field.Type()))
			}
		}
	}
	if !out.RequiresDuplicateDetection {
		out.DuplicateDetectionHistoryTimeWindow = ""
	}
	return out
}

// applySettings sets what a request asks for on an entity, and refuses settings that its
// kind does not have.
func applySettings(in *BusSettings, kind string, entity any) error {
	has := map[string]any{}
	for _, s := range setting.Of(entity) {
		has[s.Name] = s.In
	}
	from := reflect.ValueOf(in).Elem()
	for i := range from.NumField() {
		value, f := from.Field(i), from.Type().Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		into, ok := has[f.Name]
		switch {
		case value.IsZero():
			continue
		case !ok:
			return fmt.Errorf("a %s has no %s", kind, name)
		}
		if d, ok := into.(*time.Duration); ok {
			var err error
			if *d, err = duration.Parse(value.String()); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			continue
		}
		at := reflect.ValueOf(into).Elem()
		at.Set(value.Convert(at.Type()))
	}
	return nil
}

// iso is a duration, empty for one without an end.
func iso(d time.Duration) string {
	if d <= 0 || d == duration.Unbounded {
		return ""
	}
	return duration.Format(d)
}

// createAt makes an entity of the kind that its path and the request say.
func createAt(ctx context.Context, e *ops.Env, in *CreateEntity, path servicebus.Path) (err error) {
	ns := e.Host.Services().ServiceBus()
	if path.Subscription != "" {
		sub := servicebus.Subscription{Topic: path.Entity, Name: path.Subscription}
		if err = applySettings(&in.BusSettings, setting.Subscription, &sub); err == nil && in.Topic {
			err = fmt.Errorf("%q is the path of a subscription, not of a topic", path)
		}
		if err != nil {
			return ops.BadRequest(err)
		}
		_, err = ns.CreateSubscription(ctx, sub, firstRule(in))
		return err
	}
	queue, topic := servicebus.Queue{Name: path.Entity}, servicebus.Topic{Name: path.Entity}
	kind, entity := setting.Queue, any(&queue)
	if in.Topic {
		kind, entity = setting.Topic, &topic
	}
	for _, rule := range [][2]string{{"action", in.Action}, {"filter", in.Filter}} {
		if rule[1] != "" {
			return ops.BadRequest(fmt.Errorf("a %s has no %s", kind, rule[0]))
		}
	}
	if err = applySettings(&in.BusSettings, kind, entity); err != nil {
		return ops.BadRequest(err)
	}
	if in.Topic {
		_, err = ns.CreateTopic(ctx, topic)
	} else {
		_, err = ns.CreateQueue(ctx, queue)
	}
	return err
}

// firstRule is the rule of a new subscription; nil is the default one.
func firstRule(n *CreateEntity) *servicebus.Rule {
	if n.Filter == "" && n.Action == "" {
		return nil
	}
	rule := &servicebus.Rule{Name: servicebus.DefaultRule}
	if n.Filter != "" {
		rule.Filter = servicebus.Filter{Kind: servicebus.SQLFilter, SQL: servicebus.SQL{Expression: n.Filter}}
	}
	if n.Action != "" {
		rule.Action = &servicebus.SQL{Expression: n.Action}
	}
	return rule
}

// allMessages counts the messages of an entity, dead letters too.
func allMessages(e *BusEntity) int64 {
	return messagesIn(e, servicebus.MainQueue) + e.DeadLetter + e.TransferDeadLetter
}

// Limits are the limits and the default of a setting, as the help of a command tells them.
func (CreateEntity) Limits(field string) (text string) {
	for _, v := range setting.Of(&servicebus.Queue{}) {
		if v.Name != field {
			continue
		}
		switch {
		case v.Max > 0:
			text = fmt.Sprintf(", %s to %s", explain.Span(v.Min), explain.Span(v.Max))
		case v.Min > 0:
			text = fmt.Sprintf(", %s or more (default unlimited)", explain.Span(v.Min))
		case v.Most > 0:
			text = fmt.Sprintf(", 1 to %d", v.Most)
		}
		switch def := v.Default.(type) {
		case time.Duration:
			text += " (default " + explain.Span(def) + ")"
		case int, servicebus.Status:
			text += fmt.Sprintf(" (default %v)", def)
		}
	}
	return text
}
