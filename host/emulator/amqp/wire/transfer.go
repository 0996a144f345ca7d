package wire

// Flow updates the state of a session and, if Handle is set, of a link.
type Flow struct {
	NextIncomingID Opt[uint32]
	IncomingWindow uint32
	NextOutgoingID uint32
	OutgoingWindow uint32
	Handle         Opt[uint32]
	DeliveryCount  Opt[uint32]
	LinkCredit     Opt[uint32]
	Available      Opt[uint32]
	Drain          bool
	Echo           bool
	Properties     Map
}

// Append implements Performative.
func (p *Flow) Append(b []byte) []byte {
	w := BeginList(b, DescFlow)
	w.OptUint32(p.NextIncomingID)
	w.Uint32(p.IncomingWindow)
	w.Uint32(p.NextOutgoingID)
	w.Uint32(p.OutgoingWindow)
	w.OptUint32(p.Handle)
	w.OptUint32(p.DeliveryCount)
	w.OptUint32(p.LinkCredit)
	w.OptUint32(p.Available)
	w.True(p.Drain)
	w.True(p.Echo)
	w.Map(p.Properties)
	w.All()
	return w.End()
}

func (p *Flow) decode(f *Fields) {
	var in, next, out Opt[uint32]
	f.OptUint32(&p.NextIncomingID)
	f.OptUint32(&in)
	f.OptUint32(&next)
	f.OptUint32(&out)
	f.required(in.Set, "incoming-window")
	f.required(next.Set, "next-outgoing-id")
	f.required(out.Set, "outgoing-window")
	p.IncomingWindow, p.NextOutgoingID, p.OutgoingWindow = in.V, next.V, out.V
	f.OptUint32(&p.Handle)
	f.OptUint32(&p.DeliveryCount)
	f.OptUint32(&p.LinkCredit)
	f.OptUint32(&p.Available)
	f.Bool(&p.Drain)
	f.Bool(&p.Echo)
	f.Map(&p.Properties)
}

// Transfer carries a message, or a part of it, as the payload of its frame.
type Transfer struct {
	Handle      uint32
	DeliveryID  Opt[uint32]
	Tag         []byte
	Format      Opt[uint32]
	Settled     Opt[bool]
	More        bool
	ReceiveMode Opt[uint8]
	State       *State
	Resume      bool
	Aborted     bool
	Batchable   bool
}

// Append implements Performative.
func (p *Transfer) Append(b []byte) []byte {
	w := BeginList(b, DescTransfer)
	w.Uint32(p.Handle)
	w.OptUint32(p.DeliveryID)
	w.Binary(p.Tag)
	w.OptUint32(p.Format)
	w.OptBool(p.Settled)
	w.True(p.More)
	w.OptUint8(p.ReceiveMode)
	w.state(p.State)
	w.True(p.Resume)
	w.True(p.Aborted)
	w.True(p.Batchable)
	w.All()
	return w.End()
}

func (p *Transfer) decode(f *Fields) {
	var handle Opt[uint32]
	f.OptUint32(&handle)
	f.required(handle.Set, "handle")
	p.Handle = handle.V
	f.OptUint32(&p.DeliveryID)
	f.Binary(&p.Tag)
	f.OptUint32(&p.Format)
	f.OptBool(&p.Settled)
	f.Bool(&p.More)
	f.OptUint8(&p.ReceiveMode)
	f.state(&p.State)
	f.Bool(&p.Resume)
	f.Bool(&p.Aborted)
	f.Bool(&p.Batchable)
}

// Disposition tells the state of the deliveries First to Last.
type Disposition struct {
	Role      Role // of who sends the disposition
	First     uint32
	Last      Opt[uint32] // none: First
	Settled   bool
	State     *State
	Batchable bool
}

// Append implements Performative.
func (p *Disposition) Append(b []byte) []byte {
	w := BeginList(b, DescDisposition)
	w.Bool(bool(p.Role))
	w.Uint32(p.First)
	w.OptUint32(p.Last)
	w.True(p.Settled)
	w.state(p.State)
	w.True(p.Batchable)
	w.All()
	return w.End()
}

func (p *Disposition) decode(f *Fields) {
	var role Opt[bool]
	var first Opt[uint32]
	f.OptBool(&role)
	f.OptUint32(&first)
	f.required(role.Set, "role")
	f.required(first.Set, "first")
	p.Role, p.First = Role(role.V), first.V
	f.OptUint32(&p.Last)
	f.Bool(&p.Settled)
	f.state(&p.State)
	f.Bool(&p.Batchable)
}
