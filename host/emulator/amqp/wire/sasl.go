package wire

// SASLMechanisms is the server's offer.
type SASLMechanisms struct{ Mechanisms []Symbol }

// Append implements Performative.
func (m *SASLMechanisms) Append(b []byte) []byte {
	l := writeList(b, DescSASLMechanisms)
	m.fields(&l)
	return l.end()
}

func (m *SASLMechanisms) fields(l *list) { l.symbols(&m.Mechanisms, len(m.Mechanisms) > 0) }

// SASLInit is the client's choice.
type SASLInit struct {
	Mechanism       Symbol
	InitialResponse []byte
	Hostname        Opt[string]
}

// Append implements Performative.
func (i *SASLInit) Append(b []byte) []byte {
	l := writeList(b, DescSASLInit)
	i.fields(&l)
	return l.end()
}

func (i *SASLInit) fields(l *list) {
	l.symbol(&i.Mechanism, i.Mechanism != "")
	l.required(i.Mechanism != "", "mechanism")
	l.binary(&i.InitialResponse, i.InitialResponse != nil)
	l.optText(&i.Hostname)
}

// SASLChallenge asks the client for more.
type SASLChallenge struct{ Challenge []byte }

// Append implements Performative.
func (c *SASLChallenge) Append(b []byte) []byte {
	l := writeList(b, DescSASLChallenge)
	c.fields(&l)
	return l.end()
}

func (c *SASLChallenge) fields(l *list) { l.binary(&c.Challenge, c.Challenge != nil) }

// SASLResponse answers a challenge.
type SASLResponse struct{ Response []byte }

// Append implements Performative.
func (r *SASLResponse) Append(b []byte) []byte {
	l := writeList(b, DescSASLResponse)
	r.fields(&l)
	return l.end()
}

func (r *SASLResponse) fields(l *list) { l.binary(&r.Response, r.Response != nil) }

// Codes of SASLOutcome.
const (
	SASLOK   uint8 = 0
	SASLAuth uint8 = 1 // the credentials are wrong
)

// SASLOutcome is the server's verdict.
type SASLOutcome struct {
	Code uint8
	Data []byte
}

// Append implements Performative.
func (o *SASLOutcome) Append(b []byte) []byte {
	l := writeList(b, DescSASLOutcome)
	o.fields(&l)
	return l.end()
}

func (o *SASLOutcome) fields(l *list) {
	l.required(l.ubyte(&o.Code, true), "code")
	l.binary(&o.Data, o.Data != nil)
}
