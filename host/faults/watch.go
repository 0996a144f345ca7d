package faults

import (
	"github.com/redeliver/redeliver/host/emulator/epoch"
	"github.com/redeliver/redeliver/host/journal"
)

// Watch is what a journal tells of its records, so that the host of a life is cut off at
// the record of a function for which reached says so. killAt returns reached, nil while no
// record is waited for; nil watches nothing.
func Watch(killAt func() (reached func(*journal.Record) bool), life *epoch.Epoch, cut func()) func() func(*journal.Record) {
	if killAt == nil {
		return nil
	}
	return func() func(*journal.Record) {
		reached := killAt()
		if reached == nil || life.Over() {
			return nil
		}
		return func(r *journal.Record) {
			if r.Function != "" && reached(r) {
				cut()
			}
		}
	}
}
