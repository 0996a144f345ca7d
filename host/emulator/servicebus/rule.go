package servicebus

import (
	"bytes"
	"errors"
	"maps"
	"reflect"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/servicebus/sqlfilter"
)

// rule is one rule of a subscription, ready for use.
type rule struct {
	servicebus.Rule
	filter filter
	action *sqlfilter.Action // nil: none
}

// filter decides whether a rule wants a message. An error is the failure of that
// rule.
type filter interface {
	Match(m *servicebus.Message) (bool, error)
}

// compile checks a rule and makes it ready. newID is for expressions that ask for an identifier.
func compile(r servicebus.Rule, newID func() bindings.GUID) (*rule, error) {
	out := &rule{Rule: r}
	switch f := r.Filter; f.Kind {
	case "", servicebus.TrueFilter:
		out.Filter = servicebus.Filter{Kind: servicebus.TrueFilter}
		out.filter = constant(true)
	case servicebus.FalseFilter:
		out.Filter = servicebus.Filter{Kind: servicebus.FalseFilter}
		out.filter = constant(false)
	case servicebus.CorrelationFilter:
		properties, err := ruleValues(r.Name, f.Correlation.Properties)
		if err != nil {
			return nil, err
		}
		out.Filter.Correlation.Properties = properties
		out.filter = correlation(out.Filter.Correlation)
	case servicebus.SQLFilter:
		if err := checkSQL("filter", f.SQL); err != nil {
			return nil, err
		}
		compiled, err := sqlfilter.ParseFilter(f.SQL, newID)
		if err != nil {
			return nil, refuse(messaging.ConditionArgumentError, "rule %q: filter: %v", r.Name, err)
		}
		if out.Filter.SQL.Parameters, err = ruleValues(r.Name, f.SQL.Parameters); err != nil {
			return nil, err
		}
		out.filter = compiled
	default:
		return nil, refuse(messaging.ConditionArgumentError, "rule %q: unknown kind of filter %q", r.Name, f.Kind)
	}
	if r.Action != nil {
		if err := checkSQL("action", *r.Action); err != nil {
			return nil, err
		}
		compiled, err := sqlfilter.ParseAction(*r.Action, newID)
		if err != nil {
			return nil, refuse(messaging.ConditionArgumentError, "rule %q: action: %v", r.Name, err)
		}
		parameters, err := ruleValues(r.Name, r.Action.Parameters)
		if err != nil {
			return nil, err
		}
		a := servicebus.SQL{Expression: r.Action.Expression, Parameters: parameters}
		out.Action, out.action = &a, compiled
	}
	return out, nil
}

func checkSQL(what string, sql servicebus.SQL) error {
	if n := len([]rune(sql.Expression)); n > servicebus.MaxSQLExpression {
		return refuse(messaging.ConditionArgumentOutOfRange, "%s of %d characters: want at most %d", what, n, servicebus.MaxSQLExpression)
	}
	return nil
}

// description returns the rule as it was given.
func (r *rule) description() *servicebus.Rule {
	out := r.Rule
	out.Filter.Correlation.Properties = maps.Clone(out.Filter.Correlation.Properties)
	out.Filter.SQL.Parameters = maps.Clone(out.Filter.SQL.Parameters)
	if out.Action != nil {
		a := *out.Action
		a.Parameters = maps.Clone(a.Parameters)
		out.Action = &a
	}
	return &out
}

type constant bool

func (c constant) Match(*servicebus.Message) (bool, error) { return bool(c), nil }

// choose applies the rules of a subscription: one copy for all rules without an
// action that match, and one for each that has one. The error is the error of
// the first rule that failed; then there are no copies.
func (e *entity) choose(c *servicebus.Message) (copies []*servicebus.Message, err error) {
	plain := false
	for _, r := range e.rules {
		matched, err := r.filter.Match(c)
		if err != nil {
			return nil, err
		}
		switch {
		case !matched:
		case r.action != nil:
			edited := editable(c)
			if err := r.action.Apply(edited); err != nil {
				return nil, err
			}
			for name, v := range edited.ApplicationProperties {
				if d, ok := v.(time.Duration); ok {
					edited.ApplicationProperties[name] = timespan(d)
				}
			}
			edited.ScheduledEnqueueTime = c.ScheduledEnqueueTime // spec messaging 1.6
			edited.ApplicationProperties[servicebus.RuleName] = r.Name
			copies = append(copies, edited)
		case !plain:
			plain = true
			copies = append(copies, c)
		}
	}
	return copies, nil
}

// filterVerdict: the reason is the type of the exception in .NET.
func filterVerdict(err error) verdict {
	name := "FilterException"
	var e *sqlfilter.FilterError
	if errors.As(err, &e) {
		name = e.Name()
	}
	return verdict{name, err.Error()}
}

// correlation wants equality in every field that it names. Text compares with
// case.
type correlation servicebus.Correlation

func (f correlation) Match(m *servicebus.Message) (bool, error) {
	for _, pair := range []struct {
		want *string
		got  string
	}{
		{f.CorrelationID, m.CorrelationID},
		{f.MessageID, m.MessageID},
		{f.To, m.To},
		{f.ReplyTo, m.ReplyTo},
		{f.Subject, m.Subject},
		{f.ContentType, m.ContentType},
	} {
		if pair.want != nil && *pair.want != pair.got {
			return false, nil
		}
	}
	for _, pair := range [][2]*string{{f.SessionID, m.SessionID}, {f.ReplyToSessionID, m.ReplyToSessionID}} {
		if pair[0] != nil && (pair[1] == nil || *pair[0] != *pair[1]) {
			return false, nil
		}
	}
	for name, want := range f.Properties {
		got, ok := m.ApplicationProperties[name]
		if !ok || !equalValues(want, got) {
			return false, nil
		}
	}
	return true, nil
}

// equalValues compares two values of application properties. Numbers of different
// sizes are equal when their values are.
func equalValues(a, b any) bool {
	switch x := a.(type) {
	case time.Time:
		y, ok := b.(time.Time)
		return ok && x.Equal(y)
	case []byte:
		y, ok := b.([]byte)
		return ok && bytes.Equal(x, y)
	case time.Duration:
		y, ok := b.(messaging.Encoded)
		return ok && bytes.Equal(timespan(x), y)
	case messaging.Encoded:
		y, ok := b.(messaging.Encoded)
		return ok && bytes.Equal(x, y)
	case nil, string, bool, bindings.GUID:
		return a == b
	}
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	switch {
	case !y.IsValid():
		return false
	case x.CanInt() && y.CanInt():
		return x.Int() == y.Int()
	case x.CanUint() && y.CanUint():
		return x.Uint() == y.Uint()
	case x.CanInt() && y.CanUint():
		return x.Int() >= 0 && uint64(x.Int()) == y.Uint()
	case x.CanUint() && y.CanInt():
		return y.Int() >= 0 && uint64(y.Int()) == x.Uint()
	case x.CanFloat() && y.CanFloat():
		return x.Float() == y.Float()
	case x.CanFloat() && y.CanInt():
		return x.Float() == float64(y.Int())
	case x.CanFloat() && y.CanUint():
		return x.Float() == float64(y.Uint())
	case y.CanFloat():
		return equalValues(b, a)
	}
	return false
}
