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
	l := writeList(b, DescOpen)
	o.fields(&l)
	return l.whole()
}

func (o *Open) fields(l *list) {
	l.required(l.text(&o.ContainerID, true), "container-id")
	l.optText(&o.Hostname)
	l.optUint(&o.MaxFrameSize)
	l.optUshort(&o.ChannelMax)
	l.optUint(&o.IdleTimeout)
	l.value(&o.OutgoingLocale, o.OutgoingLocale != nil)
	l.value(&o.IncomingLocale, o.IncomingLocale != nil)
	l.value(&o.Offered, o.Offered != nil)
	l.value(&o.Desired, o.Desired != nil)
	l.table(&o.Properties, o.Properties != nil)
}

// Close ends a connection.
type Close struct{ Error *Error }

// Append implements Performative.
func (c *Close) Append(b []byte) []byte {
	l := writeList(b, DescClose)
	c.fields(&l)
	return l.whole()
}

func (c *Close) fields(l *list) { l.error(&c.Error) }

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
	l := writeList(b, DescBegin)
	p.fields(&l)
	return l.whole()
}

func (p *Begin) fields(l *list) {
	l.optUshort(&p.RemoteChannel)
	l.required(l.uint(&p.NextOutgoingID, true), "next-outgoing-id")
	l.required(l.uint(&p.IncomingWindow, true), "incoming-window")
	l.required(l.uint(&p.OutgoingWindow, true), "outgoing-window")
	l.optUint(&p.HandleMax)
	l.value(&p.Offered, p.Offered != nil)
	l.value(&p.Desired, p.Desired != nil)
	l.table(&p.Properties, p.Properties != nil)
}

// End ends a session.
type End struct{ Error *Error }

// Append implements Performative.
func (e *End) Append(b []byte) []byte {
	l := writeList(b, DescEnd)
	e.fields(&l)
	return l.whole()
}

func (e *End) fields(l *list) { l.error(&e.Error) }
