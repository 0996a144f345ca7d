package servicebus

import "github.com/redeliver/redeliver/bindings/servicebus"

// Switches are the ways of a namespace that an app chooses (spec host-and-retry 0.2).
type Switches struct {
	StrictSessionSend       bool // strictSessionSend: refuse instead of dead-lettering
	ForwardFailureToDLQ     bool // autoForwardFailure: dlq
	MaxForwardHops          int  // maxForwardHops; 0: servicebus.DefaultForwardHops
	AutoCreateEntitiesOnUse bool // autoCreateEntities: any
}

// Configure replaces the switches that Options gave. They hold from now on.
func (ns *Namespace) Configure(s Switches) {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	ns.opts.Switches = s
	if ns.opts.MaxForwardHops == 0 {
		ns.opts.MaxForwardHops = servicebus.DefaultForwardHops
	}
}
