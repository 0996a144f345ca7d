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
		for _, key := range []string{"path", "queueName"} {
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
