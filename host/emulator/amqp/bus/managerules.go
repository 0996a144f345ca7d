package bus

import (
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/amqp/values"
	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

// Descriptors of rules. Their magnitudes differ: so they are in the service.
const (
	descRule              = 0x13700000004
	descEmptyAction       = 0x13700000005
	descSQLAction         = 0x13700000006
	descSQLFilter         = 0x1370000006
	descTrueFilter        = 0x1370000007
	descFalseFilter       = 0x1370000008
	descCorrelationFilter = 0x1370000009

	compatibilityLevel = 20 // of the SQL dialect
)

// onSubscription refuses what only subscriptions have.
func (m *management) onSubscription() error {
	if m.path.Subscription == "" || m.path.SubQueue != servicebus.MainQueue {
		return messaging.NewError(messaging.ConditionNotAllowed, quote(m.source)+" is no subscription: it has no rules")
	}
	return nil
}

func (m *management) addRule(r *request) (int, wire.Map, error) {
	rule := servicebus.Rule{Name: r.text("rule-name")}
	v := r.args.Get("rule-description")
	description, ok := v.(wire.Map)
	if !ok {
		r.fail("rule-description", v, "a map")
	}
	if r.err != nil {
		return 0, nil, r.err
	}
	if err := m.onSubscription(); err != nil {
		return 0, nil, err
	}
	d := &request{args: description}
	rule.Filter = d.filter()
	rule.Action = d.action()
	if d.err != nil {
		return 0, nil, d.err
	}
	_, err := m.b.ns.CreateRule(background, m.path.Entity, m.path.Subscription, rule)
	return statusOK, nil, err
}

// filter reads the filter of a rule description; without one it is true.
func (r *request) filter() (f servicebus.Filter) {
	if sql, ok := r.args.Get("sql-filter").(wire.Map); ok {
		in := &request{args: sql}
		f.Kind, f.SQL.Expression = servicebus.SQLFilter, in.text("expression")
		r.adopt(in)
		return f
	}
	if correlation, ok := r.args.Get("correlation-filter").(wire.Map); ok {
		in := &request{args: correlation}
		f.Kind = servicebus.CorrelationFilter
		f.Correlation = servicebus.Correlation{
			CorrelationID: in.optionalText("correlation-id"), MessageID: in.optionalText("message-id"),
			To: in.optionalText("to"), ReplyTo: in.optionalText("reply-to"), Subject: in.optionalText("label"),
			SessionID: in.optionalText("session-id"), ReplyToSessionID: in.optionalText("reply-to-session-id"),
			ContentType: in.optionalText("content-type"),
		}
		if properties, ok := correlation.Get("properties").(wire.Map); ok {
			f.Correlation.Properties = values.PlainMap(properties)
		}
		r.adopt(in)
		return f
	}
	f.Kind = servicebus.TrueFilter
	if r.args.Get("false-filter") != nil {
		f.Kind = servicebus.FalseFilter
	}
	return f
}

func (r *request) action() *servicebus.SQL {
	sql, ok := r.args.Get("sql-rule-action").(wire.Map)
	if !ok {
		return nil
	}
	in := &request{args: sql}
	expression := in.optionalText("expression")
	r.adopt(in)
	if expression == nil || *expression == "" {
		return nil
	}
	return &servicebus.SQL{Expression: *expression}
}

func (r *request) adopt(in *request) {
	if r.err == nil {
		r.err = in.err
	}
}

func (m *management) removeRule(r *request) (int, wire.Map, error) {
	name := r.text("rule-name")
	if r.err != nil {
		return 0, nil, r.err
	}
	if err := m.onSubscription(); err != nil {
		return 0, nil, err
	}
	return statusOK, nil, m.b.ns.DeleteRule(background, m.path.Entity, m.path.Subscription, name)
}

func (m *management) rules(r *request) (int, wire.Map, error) {
	skip, top := r.count("skip", 0), r.count("top", 100)
	if r.err != nil {
		return 0, nil, r.err
	}
	if err := m.onSubscription(); err != nil {
		return 0, nil, err
	}
	found, err := m.b.ns.ListRules(background, m.path.Entity, m.path.Subscription)
	if err != nil {
		return 0, nil, err
	}
	found = found[min(skip, len(found)):]
	found = found[:min(top, len(found))]
	if len(found) == 0 {
		return statusNoContent, nil, nil
	}
	var list wire.List
	for i, rule := range found {
		described := wire.Map{{Key: "rule-description", Value: describeRule(rule)}}
		if !r.fits(i == 0, len(wire.AppendValue(nil, described))) {
			break
		}
		list = append(list, described)
	}
	return statusOK, wire.Map{{Key: "rules", Value: list}}, nil
}

func described(descriptor uint64, fields ...any) *wire.Described {
	return &wire.Described{Descriptor: descriptor, Value: wire.List(fields)}
}

func describeRule(r *servicebus.Rule) *wire.Described {
	var filter *wire.Described
	switch r.Filter.Kind {
	case servicebus.SQLFilter:
		filter = described(descSQLFilter, r.Filter.SQL.Expression, int32(compatibilityLevel))
	case servicebus.CorrelationFilter:
		c := &r.Filter.Correlation
		filter = described(descCorrelationFilter, orNull(c.CorrelationID), orNull(c.MessageID), orNull(c.To), orNull(c.ReplyTo),
			orNull(c.Subject), orNull(c.SessionID), orNull(c.ReplyToSessionID), orNull(c.ContentType), values.WireMap(c.Properties))
	case servicebus.FalseFilter:
		filter = described(descFalseFilter)
	default:
		filter = described(descTrueFilter)
	}
	action := described(descEmptyAction)
	if r.Action != nil {
		action = described(descSQLAction, r.Action.Expression, int32(compatibilityLevel))
	}
	return described(descRule, filter, action, r.Name, wire.TimestampOf(r.Created))
}

func orNull(s *string) any {
	if s == nil {
		return nil
	}
	return *s
}
