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
	l := writeList(b, DescFlow)
	p.fields(&l)
	return l.whole()
}

func (p *Flow) fields(l *list) {
	l.optUint(&p.NextIncomingID)
	l.required(l.uint(&p.IncomingWindow, true), "incoming-window")
	l.required(l.uint(&p.NextOutgoingID, true), "next-outgoing-id")
	l.required(l.uint(&p.OutgoingWindow, true), "outgoing-window")
	l.optUint(&p.Handle)
	l.optUint(&p.DeliveryCount)
	l.optUint(&p.LinkCredit)
	l.optUint(&p.Available)
	l.bool(&p.Drain, p.Drain)
	l.bool(&p.Echo, p.Echo)
	l.table(&p.Properties, p.Properties != nil)
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
	l := writeList(b, DescTransfer)
	p.fields(&l)
	return l.whole()
}

func (p *Transfer) fields(l *list) {
	l.required(l.uint(&p.Handle, true), "handle")
	l.optUint(&p.DeliveryID)
	l.binary(&p.Tag, p.Tag != nil)
	l.optUint(&p.Format)
	l.optBool(&p.Settled)
	l.bool(&p.More, p.More)
	l.optUbyte(&p.ReceiveMode)
	l.state(&p.State)
	l.bool(&p.Resume, p.Resume)
	l.bool(&p.Aborted, p.Aborted)
	l.bool(&p.Batchable, p.Batchable)
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
	l := writeList(b, DescDisposition)
	p.fields(&l)
	return l.whole()
}

func (p *Disposition) fields(l *list) {
	l.required(l.bool((*bool)(&p.Role), true), "role")
	l.required(l.uint(&p.First, true), "first")
	l.optUint(&p.Last)
	l.bool(&p.Settled, p.Settled)
	l.state(&p.State)
	l.bool(&p.Batchable, p.Batchable)
}
