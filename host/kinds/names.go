package kinds

import (
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/schemas"
)

// UnknownNames checks the expressions of a function's other bindings against the
// names that its trigger provides, for triggers that always provide the same
// names (spec storage 12).
func UnknownNames(f *app.Function, contract []string) []*schemas.Fault {
	var faults []*schemas.Fault
	for _, b := range f.Bindings {
		for _, key := range []string{"path", "queueName", "tableName", "partitionKey", "rowKey", "filter"} {
			if b == f.Trigger || b.String(key) == "" {
				continue
			}
			template, err := bindings.ParseTemplate(b.String(key))
			if err != nil {
				continue // reported with the binding
			}
			if err := template.Check(contract); err != nil {
				faults = append(faults, &schemas.Fault{
					Path: b.PathOf(key), Found: b.String(key), Allowed: strings.Join(contract, ", "),
					Reason: err.Error(), Kind: schemas.KindInvalidOperation,
				})
			}
		}
	}
	return faults
}

// EarlyNames are UnknownNames for app.Kind.Validate, unless they matter late.
func EarlyNames(a *app.App, f *app.Function, contract []string) []*schemas.Fault {
	if IsLate(a) {
		return nil
	}
	return UnknownNames(f, contract)
}

// LateNames are UnknownNames for app.Kind.Warn: a name that the trigger does not provide
// fails each call that uses the binding, on the platform too (observed: host 4.1037).
func LateNames(a *app.App, f *app.Function, contract []string) []*schemas.Fault {
	check := func(*app.Binding) []*schemas.Fault { return UnknownNames(f, contract) }
	return Late(check)(a, f, f.Trigger)
}

// MissingNames checks the names of what an output writes to: that there are some, and
// that their expressions can be read.
func MissingNames(b *app.Binding, keys ...string) []*schemas.Fault {
	var faults []*schemas.Fault
	for _, key := range keys {
		text, reason := b.String(key), "is empty"
		if text != "" {
			_, err := bindings.ParseTemplate(text)
			if err == nil {
				continue
			}
			reason = strings.TrimSuffix(err.Error(), ".") + "; " + app.FailsDeliveries
		}
		faults = append(faults, &schemas.Fault{
			Path: b.PathOf(key), Found: schemas.Quote(text), Allowed: "a name, also with {expressions}",
			Reason: reason, Kind: schemas.KindArgument,
		})
	}
	return faults
}

// A Named is a property by which triggers and outputs name something, and what it names
// in words: "queueName" and "queue".
type Named struct{ Key, Noun string }

// Fed is app.Kind.Feeds of a kind for outputs of one type, when a trigger and an output
// name their place by the same property.
func Fed(output string, names ...Named) func(trigger, out *app.Binding) (key, target string) {
	return func(trigger, out *app.Binding) (key, target string) {
		for _, n := range names {
			if name := trigger.String(n.Key); name != "" && out.Is(output) && strings.EqualFold(name, out.String(n.Key)) {
				return n.Key, n.Noun + " " + `"` + name + `"`
			}
		}
		return "", ""
	}
}
