package atom

import (
	"cmp"
	"context"
	"net/http"

	"github.com/redeliver/redeliver/bindings/servicebus"
)

const ruleRoot = "RuleDescription"

// The types of filters and actions (xsi:type).
const (
	trueFilter        = "TrueFilter"
	falseFilter       = "FalseFilter"
	sqlFilter         = "SqlFilter"
	correlationFilter = "CorrelationFilter"
	sqlAction         = "SqlRuleAction"
	emptyAction       = "EmptyRuleAction"
)

func readRule(description *element) (r servicebus.Rule, err error) {
	f := fields{of: description}
	r.Name, _ = f.scalar("Name")
	if r.Filter, err = readFilter(description.child("Filter")); err != nil {
		return r, err
	}
	r.Action, err = readAction(description.child("Action"))
	return r, err
}

// readFilter reads a filter; a missing one takes every message.
func readFilter(e *element) (out servicebus.Filter, err error) {
	if e == nil {
		return servicebus.Filter{Kind: servicebus.TrueFilter}, nil
	}
	f := fields{of: e}
	switch e.kind() {
	case trueFilter:
		out.Kind = servicebus.TrueFilter
	case falseFilter:
		out.Kind = servicebus.FalseFilter
	case sqlFilter:
		out.Kind = servicebus.SQLFilter
		out.SQL, err = readSQL(e)
	case correlationFilter:
		out.Kind = servicebus.CorrelationFilter
		out.Correlation = servicebus.Correlation{
			CorrelationID:    f.optionalText("CorrelationId"),
			MessageID:        f.optionalText("MessageId"),
			To:               f.optionalText("To"),
			ReplyTo:          f.optionalText("ReplyTo"),
			Subject:          f.optionalText("Label"),
			SessionID:        f.optionalText("SessionId"),
			ReplyToSessionID: f.optionalText("ReplyToSessionId"),
			ContentType:      f.optionalText("ContentType"),
		}
		out.Correlation.Properties, err = readValues(e.child("Properties"))
	default:
		return out, fail(http.StatusBadRequest, "the type %q of the filter is unknown; want %s, %s, %s or %s",
			e.kind(), sqlFilter, correlationFilter, trueFilter, falseFilter)
	}
	return out, err
}

func readAction(e *element) (*servicebus.SQL, error) {
	if e == nil || e.kind() == emptyAction || e.kind() == "" && len(e.children) == 0 {
		return nil, nil
	}
	if e.kind() != sqlAction {
		return nil, fail(http.StatusBadRequest, "the type %q of the action is unknown; want %s or %s", e.kind(), sqlAction, emptyAction)
	}
	sql, err := readSQL(e)
	if err != nil {
		return nil, err
	}
	return &sql, nil
}

func readSQL(e *element) (servicebus.SQL, error) {
	if e.child("SqlExpression") == nil {
		return servicebus.SQL{}, fail(http.StatusBadRequest, "%s needs a SqlExpression", e.name)
	}
	f := fields{of: e}
	parameters, err := readValues(e.child("Parameters"))
	return servicebus.SQL{Expression: f.text("SqlExpression"), Parameters: parameters}, err
}

// putRule: the name is in the address, or else in the description.
func putRule(c *call) error {
	if c.update && c.target.rule == "" {
		return fail(http.StatusBadRequest, "the address names no rule to update")
	}
	description, err := c.body()
	if err != nil {
		return err
	}
	if description.name != ruleRoot {
		return fail(http.StatusBadRequest, "the entry describes a %q; want %s", description.name, ruleRoot)
	}
	r, err := readRule(description)
	if err != nil {
		return err
	}
	r.Name = cmp.Or(c.target.rule, r.Name, servicebus.DefaultRule)
	var out *servicebus.Rule
	err = c.inside(func(ctx context.Context) (err error) {
		put := c.admin.CreateRule
		if c.update {
			put = c.admin.UpdateRule
		}
		out, err = put(ctx, c.target.entity, c.target.subscription, r)
		return err
	})
	if err != nil {
		return err
	}
	return c.answerEntry(c.stored(), c.describeRule(out))
}

func getRule(c *call) error {
	var out *servicebus.Rule
	err := c.inside(func(ctx context.Context) (err error) {
		out, err = c.admin.GetRule(ctx, c.target.entity, c.target.subscription, c.target.rule)
		return err
	})
	if err != nil {
		return err
	}
	return c.answerEntry(http.StatusOK, c.describeRule(out))
}

func deleteRule(c *call) error {
	return c.deleted(c.inside(func(ctx context.Context) error {
		return c.admin.DeleteRule(ctx, c.target.entity, c.target.subscription, c.target.rule)
	}))
}

func listRules(c *call) error {
	return list(c, "Rules", func(ctx context.Context) ([]*servicebus.Rule, error) {
		return c.admin.ListRules(ctx, c.target.entity, c.target.subscription)
	}, c.describeRule)
}

func (c *call) describeRule(r *servicebus.Rule) described {
	path := servicebus.Path{Entity: c.target.entity, Subscription: c.target.subscription}.String() + "/Rules/" + r.Name
	return described{path: path, title: r.Name, created: r.Created, updated: r.Created, root: ruleRoot, write: func(w *writer) {
		w.filter(r.Filter)
		if r.Action == nil {
			w.empty("Action", "i:type", emptyAction)
		} else {
			w.open("Action", "i:type", sqlAction)
			w.sql(*r.Action)
			w.close("Action")
		}
		w.time("CreatedAt", r.Created)
		w.field("Name", r.Name)
	}}
}

func (w *writer) filter(f servicebus.Filter) {
	switch f.Kind {
	case servicebus.CorrelationFilter:
		w.open("Filter", "i:type", correlationFilter)
		w.optional("CorrelationId", f.Correlation.CorrelationID)
		w.optional("MessageId", f.Correlation.MessageID)
		w.optional("To", f.Correlation.To)
		w.optional("ReplyTo", f.Correlation.ReplyTo)
		w.optional("Label", f.Correlation.Subject)
		w.optional("SessionId", f.Correlation.SessionID)
		w.optional("ReplyToSessionId", f.Correlation.ReplyToSessionID)
		w.optional("ContentType", f.Correlation.ContentType)
		w.values("Properties", f.Correlation.Properties)
	case servicebus.SQLFilter:
		w.open("Filter", "i:type", sqlFilter)
		w.sql(f.SQL)
	case servicebus.FalseFilter:
		w.open("Filter", "i:type", falseFilter)
		w.sql(servicebus.SQL{Expression: "1=0"})
	default:
		w.open("Filter", "i:type", trueFilter)
		w.sql(servicebus.SQL{Expression: "1=1"})
	}
	w.close("Filter")
}

func (w *writer) sql(s servicebus.SQL) {
	w.field("SqlExpression", s.Expression)
	w.field("CompatibilityLevel", "20")
	w.values("Parameters", s.Parameters)
}
