package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/servicebus/sqlfilter"
	"github.com/redeliver/redeliver/schemas"
)

// rule reads one rule. The official emulator drops a rule whose filter it does not
// know without a word; here that is a fault.
func (p *parser) rule(path string, value any, taken map[string]string) (r servicebus.Rule) {
	s := p.section(path, value, "Name", "Properties")
	r.Name = p.name(s, "rule", servicebus.ValidateRuleName, taken)
	if s != nil && !s.given("Properties") {
		s.need("Properties", "an object with FilterType")
		return r
	}
	set := s.within("Properties", "FilterType", "CorrelationFilter", "SqlFilter", "Action")
	if set == nil {
		return r
	}
	r.Filter = p.filter(set)
	if action := set.within("Action", "SqlExpression"); action.given("SqlExpression") {
		if sql, ok := p.sql(action, "action", func(sql servicebus.SQL) error { _, err := sqlfilter.ParseAction(sql, noID); return err }); ok {
			r.Action = &sql
		}
	}
	return r
}

// noID is the newid() of expressions that are only checked.
func noID() bindings.GUID { return bindings.GUID{} }

func (p *parser) filter(set *section) (f servicebus.Filter) {
	const allowed = `"Correlation" or "Sql"`
	kind, ok := set.text("FilterType")
	path, _, _ := set.get("FilterType")
	switch {
	case strings.EqualFold(kind, "Correlation"):
		f.Kind = servicebus.CorrelationFilter
		if !set.given("CorrelationFilter") {
			set.need("CorrelationFilter", "an object that names at least one property")
			break
		}
		f.Correlation = p.correlation(set.within("CorrelationFilter", "ContentType", "CorrelationId", "Label", "MessageId", "ReplyTo",
			"ReplyToSessionId", "SessionId", "To", "Properties"))
	case strings.EqualFold(kind, "Sql"):
		f.Kind = servicebus.SQLFilter
		if !set.given("SqlFilter") {
			set.need("SqlFilter", "an object with SqlExpression")
			break
		}
		f.SQL, _ = p.sql(set.within("SqlFilter", "SqlExpression"), "filter", func(sql servicebus.SQL) error { _, err := sqlfilter.ParseFilter(sql, noID); return err })
	case ok:
		fault := p.fault(path, allowed, "there is no such type of filter")
		fault.Hint = "the official emulator leaves out a rule of an unknown type without saying so"
	case !set.given("FilterType"):
		set.need("FilterType", allowed)
	}
	return f
}

func (p *parser) correlation(s *section) (c servicebus.Correlation) {
	if s == nil {
		return c
	}
	if len(s.m) == 0 {
		p.fault(s.path, "at least one property", "a correlation filter without properties wants everything")
	}
	c = servicebus.Correlation{
		CorrelationID: s.optionalText("CorrelationId"), MessageID: s.optionalText("MessageId"), To: s.optionalText("To"),
		ReplyTo: s.optionalText("ReplyTo"), Subject: s.optionalText("Label"), SessionID: s.optionalText("SessionId"),
		ReplyToSessionID: s.optionalText("ReplyToSessionId"), ContentType: s.optionalText("ContentType"),
	}
	properties := s.within("Properties")
	if properties == nil {
		return c
	}
	for _, name := range slices.Sorted(maps.Keys(properties.m)) {
		v, ok := value(properties.m[name])
		if !ok {
			p.fault(schemas.JoinPath(properties.path, name), "text, a number, true or false", "not the value of an application property")
			continue
		}
		if c.Properties == nil {
			c.Properties = map[string]any{}
		}
		c.Properties[name] = v
	}
	return c
}

// value is an application property as JSON gives it.
func value(v any) (any, bool) {
	switch v := v.(type) {
	case string, bool:
		return v, true
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n, true
		}
		f, err := v.Float64()
		return f, err == nil
	}
	return nil, false
}

// sql reads an expression and has it parsed.
func (p *parser) sql(s *section, what string, parse func(servicebus.SQL) error) (sql servicebus.SQL, ok bool) {
	if s == nil {
		return sql, false
	}
	text, ok := s.text("SqlExpression")
	if !ok {
		if !s.given("SqlExpression") {
			s.need("SqlExpression", "an SQL expression")
		}
		return sql, false
	}
	path, _, _ := s.get("SqlExpression")
	if n := len([]rune(text)); n > servicebus.MaxSQLExpression {
		f := p.fault(path, fmt.Sprintf("up to %d characters", servicebus.MaxSQLExpression), fmt.Sprintf("the %s has %d characters", what, n))
		f.Hint = "split it into several rules"
		return sql, false
	}
	sql.Expression = text
	if err := parse(sql); err != nil {
		p.fault(path, "an SQL "+what, "the "+what+" does not parse: "+err.Error())
		return sql, false
	}
	return sql, true
}
