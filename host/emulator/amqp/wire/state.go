package wire

// StateKind tells the states of a delivery apart.
type StateKind uint8

// The states. All but StateReceived, StateTransactional and StateUnknown are outcomes.
const (
	StateUnknown StateKind = iota // one that this package does not know
	StateReceived
	StateAccepted
	StateRejected
	StateReleased
	StateModified
	StateDeclared      // of a transaction
	StateTransactional // what the outcome will be once the transaction is committed
)

func (k StateKind) String() string {
	switch k {
	case StateReceived:
		return "received"
	case StateAccepted:
		return "accepted"
	case StateRejected:
		return "rejected"
	case StateReleased:
		return "released"
	case StateModified:
		return "modified"
	case StateDeclared:
		return "declared"
	case StateTransactional:
		return "transactional"
	default:
		return "unknown"
	}
}

// State is the state of a delivery.
type State struct {
	Kind StateKind

	Error *Error // rejected

	DeliveryFailed    bool // modified
	UndeliverableHere bool
	Annotations       Map

	SectionNumber uint32 // received
	SectionOffset uint64

	Txn     []byte // declared, transactional: the transaction's identifier
	Outcome *State // transactional; may be nil
}

// descriptors of the states that are known, by their kind.
var descriptors = [...]uint8{ // read only
	StateReceived: DescReceived, StateAccepted: DescAccepted, StateRejected: DescRejected, StateReleased: DescReleased,
	StateModified: DescModified, StateDeclared: DescDeclared, StateTransactional: DescTransactionalState,
}

func kindOf(descriptor uint64) StateKind {
	for kind, known := range descriptors {
		if uint64(known) == descriptor && kind != int(StateUnknown) {
			return StateKind(kind)
		}
	}
	return StateUnknown
}

func (l *list) state(v **State) {
	switch {
	case !l.has(*v != nil && (*v).Kind != StateUnknown):
	case l.reading:
		s := &State{Kind: kindOf(l.Descriptor())}
		if s.Kind == StateUnknown || s.Kind == StateAccepted || s.Kind == StateReleased {
			l.Skip()
		} else {
			in := l.readList()
			s.fields(&in)
			l.endList(&in)
		}
		*v = s
	default:
		in := writeList(l.b, descriptors[(*v).Kind])
		(*v).fields(&in)
		l.b = in.end()
	}
}

func (s *State) fields(l *list) {
	switch s.Kind {
	case StateRejected:
		l.error(&s.Error)
	case StateModified:
		l.bool(&s.DeliveryFailed, true)
		l.bool(&s.UndeliverableHere, true)
		l.table(&s.Annotations, s.Annotations != nil)
	case StateReceived:
		l.uint(&s.SectionNumber, true)
		l.ulong(&s.SectionOffset, true)
	case StateDeclared:
		l.binary(&s.Txn, s.Txn != nil)
	case StateTransactional:
		l.binary(&s.Txn, s.Txn != nil)
		l.state(&s.Outcome)
	}
}
