package wire

// Role says which end of a link a peer is.
type Role bool

// The two ends.
const (
	Sender   Role = false
	Receiver Role = true
)

func (r Role) String() string {
	if r == Receiver {
		return "receiver"
	}
	return "sender"
}

// Settle modes of the sending end: whether it sends deliveries settled.
const (
	SendUnsettled uint8 = 0
	SendSettled   uint8 = 1
	SendMixed     uint8 = 2 // the default
)

// Settle modes of the receiving end: whether it settles at once, or after the
// sending end has.
const (
	ReceiveFirst  uint8 = 0 // the default
	ReceiveSecond uint8 = 1
)

// Attach puts an end of a link in place.
type Attach struct {
	Name                 string
	Handle               uint32
	Role                 Role // of who sends the attach
	SendMode             Opt[uint8]
	ReceiveMode          Opt[uint8]
	Source               *Source
	Target               *Target
	Coordinator          bool // the target is a transaction coordinator
	Capabilities         any  // of the coordinator
	Unsettled            Map
	IncompleteUnsettled  bool
	InitialDeliveryCount Opt[uint32]
	MaxMessageSize       Opt[uint64]
	Offered              any
	Desired              any
	Properties           Map
}

// Append implements Performative.
func (a *Attach) Append(b []byte) []byte {
	l := writeList(b, DescAttach)
	a.fields(&l)
	return l.whole()
}

func (a *Attach) fields(l *list) {
	l.required(l.text(&a.Name, true), "name")
	l.required(l.uint(&a.Handle, true), "handle")
	l.required(l.bool((*bool)(&a.Role), true), "role")
	l.optUbyte(&a.SendMode)
	l.optUbyte(&a.ReceiveMode)
	l.source(&a.Source)
	l.target(a)
	l.table(&a.Unsettled, a.Unsettled != nil)
	l.bool(&a.IncompleteUnsettled, a.IncompleteUnsettled)
	l.optUint(&a.InitialDeliveryCount)
	l.optUlong(&a.MaxMessageSize)
	l.value(&a.Offered, a.Offered != nil)
	l.value(&a.Desired, a.Desired != nil)
	l.table(&a.Properties, a.Properties != nil)
}

func (l *list) source(v **Source) {
	switch {
	case !l.has(*v != nil):
	case l.reading:
		if code := l.Descriptor(); code != DescSource && l.err == nil {
			l.fail("source wanted, descriptor 0x%x found", code)
		}
		*v = new(Source)
		in := l.readList()
		(*v).fields(&in)
		l.endList(&in)
	default:
		in := writeList(l.b, DescSource)
		(*v).fields(&in)
		l.b = in.end()
	}
}

// target is a target or the coordinator of transactions.
func (l *list) target(a *Attach) {
	switch {
	case !l.has(a.Target != nil || a.Coordinator):
		return
	case l.reading:
		switch code := l.Descriptor(); code {
		case DescTarget:
			a.Target = new(Target)
		case DescCoordinator:
			a.Coordinator = true
		default:
			l.fail("target wanted, descriptor 0x%x found", code)
			return
		}
		in := l.readList()
		a.targetFields(&in)
		l.endList(&in)
	default:
		code := uint8(DescCoordinator)
		if a.Target != nil {
			code = DescTarget
		}
		in := writeList(l.b, code)
		a.targetFields(&in)
		l.b = in.end()
	}
}

func (a *Attach) targetFields(l *list) {
	if a.Target != nil {
		a.Target.fields(l)
	} else {
		l.value(&a.Capabilities, a.Capabilities != nil)
	}
}

// Source is where a link's messages come from. Fields of type any are carried
// from one peer's attach into the other's.
type Source struct {
	Address           Opt[string]
	Durable           any
	ExpiryPolicy      any
	Timeout           any
	Dynamic           bool
	DynamicProperties any
	DistributionMode  any
	Filter            Map
	DefaultOutcome    any
	Outcomes          any
	Capabilities      any
}

func (s *Source) fields(l *list) {
	l.optText(&s.Address)
	l.value(&s.Durable, s.Durable != nil)
	l.value(&s.ExpiryPolicy, s.ExpiryPolicy != nil)
	l.value(&s.Timeout, s.Timeout != nil)
	l.bool(&s.Dynamic, s.Dynamic)
	l.value(&s.DynamicProperties, s.DynamicProperties != nil)
	l.value(&s.DistributionMode, s.DistributionMode != nil)
	l.table(&s.Filter, s.Filter != nil)
	l.value(&s.DefaultOutcome, s.DefaultOutcome != nil)
	l.value(&s.Outcomes, s.Outcomes != nil)
	l.value(&s.Capabilities, s.Capabilities != nil)
}

// Target is where a link's messages go to.
type Target struct {
	Address           Opt[string]
	Durable           any
	ExpiryPolicy      any
	Timeout           any
	Dynamic           bool
	DynamicProperties any
	Capabilities      any
}

func (t *Target) fields(l *list) {
	l.optText(&t.Address)
	l.value(&t.Durable, t.Durable != nil)
	l.value(&t.ExpiryPolicy, t.ExpiryPolicy != nil)
	l.value(&t.Timeout, t.Timeout != nil)
	l.bool(&t.Dynamic, t.Dynamic)
	l.value(&t.DynamicProperties, t.DynamicProperties != nil)
	l.value(&t.Capabilities, t.Capabilities != nil)
}

// Detach takes an end of a link away.
type Detach struct {
	Handle uint32
	Closed bool
	Error  *Error
}

// Append implements Performative.
func (p *Detach) Append(b []byte) []byte {
	l := writeList(b, DescDetach)
	p.fields(&l)
	return l.whole()
}

func (p *Detach) fields(l *list) {
	l.required(l.uint(&p.Handle, true), "handle")
	l.bool(&p.Closed, p.Closed)
	l.error(&p.Error)
}
