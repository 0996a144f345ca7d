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

func (w *ListWriter) state(s *State) {
	if s == nil || s.Kind == StateUnknown {
		w.Null()
		return
	}
	w.c.b = s.append(w.field())
}

func (s *State) append(b []byte) []byte {
	switch s.Kind {
	case StateAccepted:
		return append(b, codeDescribed, codeUlong8, DescAccepted, codeList0)
	case StateReleased:
		return append(b, codeDescribed, codeUlong8, DescReleased, codeList0)
	case StateRejected:
		w := BeginList(b, DescRejected)
		w.error(s.Error)
		return w.End()
	case StateModified:
		w := BeginList(b, DescModified)
		w.Bool(s.DeliveryFailed)
		w.Bool(s.UndeliverableHere)
		w.Map(s.Annotations)
		return w.End()
	case StateDeclared:
		w := BeginList(b, DescDeclared)
		w.Binary(s.Txn)
		return w.End()
	case StateTransactional:
		w := BeginList(b, DescTransactionalState)
		w.Binary(s.Txn)
		w.state(s.Outcome)
		return w.End()
	default: // StateReceived
		w := BeginList(b, DescReceived)
		w.Uint32(s.SectionNumber)
		w.OptUint64(Some(s.SectionOffset))
		return w.End()
	}
}

func (f *Fields) state(to **State) {
	if !f.next() {
		return
	}
	s := new(State)
	switch f.d.Descriptor() {
	case DescAccepted:
		s.Kind = StateAccepted
		f.d.Skip()
	case DescReleased:
		s.Kind = StateReleased
		f.d.Skip()
	case DescRejected:
		s.Kind = StateRejected
		in := f.d.Fields()
		in.error(&s.Error)
		f.d.End(&in)
	case DescModified:
		s.Kind = StateModified
		in := f.d.Fields()
		in.Bool(&s.DeliveryFailed)
		in.Bool(&s.UndeliverableHere)
		in.Map(&s.Annotations)
		f.d.End(&in)
	case DescReceived:
		s.Kind = StateReceived
		var offset Opt[uint64]
		in := f.d.Fields()
		in.Uint32(&s.SectionNumber)
		in.OptUint64(&offset)
		s.SectionOffset = offset.V
		f.d.End(&in)
	case DescDeclared:
		s.Kind = StateDeclared
		in := f.d.Fields()
		in.Binary(&s.Txn)
		f.d.End(&in)
	case DescTransactionalState:
		s.Kind = StateTransactional
		in := f.d.Fields()
		in.Binary(&s.Txn)
		in.state(&s.Outcome)
		f.d.End(&in)
	default:
		f.d.Skip()
	}
	*to = s
}
