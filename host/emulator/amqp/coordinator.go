package amqp

import "github.com/redeliver/redeliver/host/emulator/amqp/wire"

// coordinatorCapabilities are the capabilities of the service (spec messaging
// 3.6a).
var coordinatorCapabilities = []wire.Symbol{"amqp:local-transactions", "amqp:multi-txns-per-ssn", "amqp:multi-ssns-per-txn"} // read only

// coordinate has a node begin and end transactions.
func coordinate(node Coordinator, list []Delivery) {
	for i := range list {
		d := &list[i]
		discharge, err := wire.ParseTransaction(d.Payload)
		switch {
		case err != nil:
			d.Err = wire.Errorf(wire.CondDecodeError, "%v", err)
		case discharge != nil:
			d.Err = node.Discharge(discharge.Txn, discharge.Fail)
			d.ended = &wire.Discharge{Txn: discharge.Txn, Fail: discharge.Fail || d.Err != nil}
		default:
			d.answer = &wire.State{Kind: wire.StateDeclared}
			d.answer.Txn, d.Err = node.Declare()
		}
	}
}

// inTransaction is the state of a delivery that shares the outcome of a
// transaction.
func inTransaction(txn []byte, outcome wire.StateKind) *wire.State {
	return &wire.State{Kind: wire.StateTransactional, Txn: txn, Outcome: &wire.State{Kind: outcome}}
}
