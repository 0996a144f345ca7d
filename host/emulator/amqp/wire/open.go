package wire

// Open negotiates a connection.
type Open struct {
	ContainerID    string
	Hostname       Opt[string]
	MaxFrameSize   Opt[uint32] // default 4294967295
	ChannelMax     Opt[uint16] // default 65535
	IdleTimeout    Opt[uint32] // milliseconds; none: no limit
	OutgoingLocale any
	IncomingLocale any
	Offered        any
	Desired        any
	Properties     Map
}

// Append implements Performative.
func (o *Open) Append(b []byte) []byte {
	w := BeginList(b, DescOpen)
	w.String(o.ContainerID)
	w.OptString(o.Hostname)
	w.OptUint32(o.MaxFrameSize)
	w.OptUint16(o.ChannelMax)
	w.OptUint32(o.IdleTimeout)
	w.Any(o.OutgoingLocale)
	w.Any(o.IncomingLocale)
	w.Any(o.Offered)
	w.Any(o.Desired)
	w.Map(o.Properties)
	w.All()
	return w.End()
}

func (o *Open) decode(f *Fields) {
	var id Opt[string]
	f.OptString(&id)
	f.required(id.Set, "container-id")
	o.ContainerID = id.V
	f.OptString(&o.Hostname)
	f.OptUint32(&o.MaxFrameSize)
	f.OptUint16(&o.ChannelMax)
	f.OptUint32(&o.IdleTimeout)
	f.Any(&o.OutgoingLocale)
	f.Any(&o.IncomingLocale)
	f.Any(&o.Offered)
	f.Any(&o.Desired)
	f.Map(&o.Properties)
}

// Close ends a connection.
type Close struct{ Error *Error }

// Append implements Performative.
func (c *Close) Append(b []byte) []byte {
	w := BeginList(b, DescClose)
	w.error(c.Error)
	w.All()
	return w.End()
}

func (c *Close) decode(f *Fields) { f.error(&c.Error) }

// Begin starts a session.
type Begin struct {
	RemoteChannel  Opt[uint16] // of the begin this one answers
	NextOutgoingID uint32
	IncomingWindow uint32
	OutgoingWindow uint32
	HandleMax      Opt[uint32] // default 4294967295
	Offered        any
	Desired        any
	Properties     Map
}

// Append implements Performative.
func (p *Begin) Append(b []byte) []byte {
	w := BeginList(b, DescBegin)
	w.OptUint16(p.RemoteChannel)
	w.Uint32(p.NextOutgoingID)
	w.Uint32(p.IncomingWindow)
	w.Uint32(p.OutgoingWindow)
	w.OptUint32(p.HandleMax)
	w.Any(p.Offered)
	w.Any(p.Desired)
	w.Map(p.Properties)
	w.All()
	return w.End()
}

func (p *Begin) decode(f *Fields) {
	var next, in, out Opt[uint32]
	f.OptUint16(&p.RemoteChannel)
	f.OptUint32(&next)
	f.OptUint32(&in)
	f.OptUint32(&out)
	f.required(next.Set, "next-outgoing-id")
	f.required(in.Set, "incoming-window")
	f.required(out.Set, "outgoing-window")
	p.NextOutgoingID, p.IncomingWindow, p.OutgoingWindow = next.V, in.V, out.V
	f.OptUint32(&p.HandleMax)
	f.Any(&p.Offered)
	f.Any(&p.Desired)
	f.Map(&p.Properties)
}

// End ends a session.
type End struct{ Error *Error }

// Append implements Performative.
func (e *End) Append(b []byte) []byte {
	w := BeginList(b, DescEnd)
	w.error(e.Error)
	w.All()
	return w.End()
}

func (e *End) decode(f *Fields) { f.error(&e.Error) }
