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
	w := BeginList(b, DescAttach)
	w.String(a.Name)
	w.Uint32(a.Handle)
	w.Bool(bool(a.Role))
	w.OptUint8(a.SendMode)
	w.OptUint8(a.ReceiveMode)
	if a.Source != nil {
		w.c.b = a.Source.append(w.field())
	} else {
		w.Null()
	}
	switch {
	case a.Target != nil:
		w.c.b = a.Target.append(w.field())
	case a.Coordinator:
		in := BeginList(w.field(), DescCoordinator)
		in.Any(a.Capabilities)
		w.c.b = in.End()
	default:
		w.Null()
	}
	w.Map(a.Unsettled)
	w.True(a.IncompleteUnsettled)
	w.OptUint32(a.InitialDeliveryCount)
	w.OptUint64(a.MaxMessageSize)
	w.Any(a.Offered)
	w.Any(a.Desired)
	w.Map(a.Properties)
	w.All()
	return w.End()
}

func (a *Attach) decode(f *Fields) {
	var name Opt[string]
	var handle Opt[uint32]
	var role Opt[bool]
	f.OptString(&name)
	f.OptUint32(&handle)
	f.OptBool(&role)
	f.required(name.Set, "name")
	f.required(handle.Set, "handle")
	f.required(role.Set, "role")
	a.Name, a.Handle, a.Role = name.V, handle.V, Role(role.V)
	f.OptUint8(&a.SendMode)
	f.OptUint8(&a.ReceiveMode)
	if f.next() {
		if code := f.d.Descriptor(); code != DescSource && f.d.err == nil {
			f.d.fail("source wanted, descriptor 0x%x found", code)
		}
		a.Source = new(Source)
		in := f.d.Fields()
		a.Source.decode(&in)
		f.d.End(&in)
	}
	if f.next() {
		switch code := f.d.Descriptor(); code {
		case DescTarget:
			a.Target = new(Target)
			in := f.d.Fields()
			a.Target.decode(&in)
			f.d.End(&in)
		case DescCoordinator:
			a.Coordinator = true
			in := f.d.Fields()
			in.Any(&a.Capabilities)
			f.d.End(&in)
		default:
			f.d.fail("target wanted, descriptor 0x%x found", code)
		}
	}
	f.Map(&a.Unsettled)
	f.Bool(&a.IncompleteUnsettled)
	f.OptUint32(&a.InitialDeliveryCount)
	f.OptUint64(&a.MaxMessageSize)
	f.Any(&a.Offered)
	f.Any(&a.Desired)
	f.Map(&a.Properties)
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

func (s *Source) append(b []byte) []byte {
	w := BeginList(b, DescSource)
	w.OptString(s.Address)
	w.Any(s.Durable)
	w.Any(s.ExpiryPolicy)
	w.Any(s.Timeout)
	w.True(s.Dynamic)
	w.Any(s.DynamicProperties)
	w.Any(s.DistributionMode)
	w.Map(s.Filter)
	w.Any(s.DefaultOutcome)
	w.Any(s.Outcomes)
	w.Any(s.Capabilities)
	return w.End()
}

func (s *Source) decode(f *Fields) {
	f.OptString(&s.Address)
	f.Any(&s.Durable)
	f.Any(&s.ExpiryPolicy)
	f.Any(&s.Timeout)
	f.Bool(&s.Dynamic)
	f.Any(&s.DynamicProperties)
	f.Any(&s.DistributionMode)
	f.Map(&s.Filter)
	f.Any(&s.DefaultOutcome)
	f.Any(&s.Outcomes)
	f.Any(&s.Capabilities)
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

func (t *Target) append(b []byte) []byte {
	w := BeginList(b, DescTarget)
	w.OptString(t.Address)
	w.Any(t.Durable)
	w.Any(t.ExpiryPolicy)
	w.Any(t.Timeout)
	w.True(t.Dynamic)
	w.Any(t.DynamicProperties)
	w.Any(t.Capabilities)
	return w.End()
}

func (t *Target) decode(f *Fields) {
	f.OptString(&t.Address)
	f.Any(&t.Durable)
	f.Any(&t.ExpiryPolicy)
	f.Any(&t.Timeout)
	f.Bool(&t.Dynamic)
	f.Any(&t.DynamicProperties)
	f.Any(&t.Capabilities)
}

// Detach takes an end of a link away.
type Detach struct {
	Handle uint32
	Closed bool
	Error  *Error
}

// Append implements Performative.
func (p *Detach) Append(b []byte) []byte {
	w := BeginList(b, DescDetach)
	w.Uint32(p.Handle)
	w.True(p.Closed)
	w.error(p.Error)
	w.All()
	return w.End()
}

func (p *Detach) decode(f *Fields) {
	var handle Opt[uint32]
	f.OptUint32(&handle)
	f.required(handle.Set, "handle")
	p.Handle = handle.V
	f.Bool(&p.Closed)
	f.error(&p.Error)
}
