// Package epoch ends the use of the embedded services by callers who began in a
// state that was replaced.
package epoch

import (
	"fmt"
	"sync/atomic"

	"github.com/redeliver/redeliver/bindings"
)

// An Epoch is the life of one state of the embedded services, from the start or from
// the moment at which it took the place of another, until it is replaced itself. The
// zero value has begun; a nil Epoch never ends.
//
// Listeners reach the embedded services through the epoch in which they began (the
// In of each service). When it is over, every further call on a handle fails with
// ErrReplaced and does nothing: its settlement, renewal or message belongs to a
// state that is gone. Calls that end the use of a handle work nevertheless.
type Epoch struct {
	Number int // from 0, of its owner's

	over atomic.Bool
}

// ErrReplaced is the error of calls for a state that was replaced. To the caller its
// message, lock or lease is gone.
var ErrReplaced = fmt.Errorf("the state was replaced meanwhile: %w", bindings.ErrMessageNotFound)

// End makes the epoch over.
func (e *Epoch) End() { e.over.Store(true) }

// Over reports whether the epoch has ended.
func (e *Epoch) Over() bool { return e != nil && e.over.Load() }

// During makes a call for a caller that began in the epoch. When the epoch ends
// during the call, its result is dropped.
func (e *Epoch) During(call func() error) error {
	if e.Over() {
		return ErrReplaced
	}
	err := call()
	if e.Over() {
		return ErrReplaced
	}
	return err
}
