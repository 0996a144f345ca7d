package ops

import "github.com/redeliver/redeliver/host/faults"

// A Table is what a running host, its page, its commands, the kit, scenarios, faults and
// documents know of services and operations: package all has it, and tests add rows.
type Table []Row

// A Row is a service with its operations. Either may be missing.
type Row struct {
	Service    *Service
	Operations func() []Deed
}

// Services are those of the rows.
func (t Table) Services() (list []*Service) {
	for _, row := range t {
		if row.Service != nil {
			list = append(list, row.Service)
		}
	}
	return list
}

// Operations are those of the rows, also those that only some runs have.
func (t Table) Operations() (list []Deed) {
	for _, row := range t {
		if row.Operations != nil {
			list = append(list, row.Operations()...)
		}
	}
	return list
}

// Faults are the services whose operations can be made to fail.
func (t Table) Faults() (list faults.Services) {
	for _, s := range t.Services() {
		if s.Faults.Name != "" {
			list = append(list, s.Faults)
		}
	}
	return list
}
