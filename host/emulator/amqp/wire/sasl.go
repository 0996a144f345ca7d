package wire

// SASLMechanisms is the server's offer.
type SASLMechanisms struct{ Mechanisms []Symbol }

// Append implements Performative.
func (m *SASLMechanisms) Append(b []byte) []byte {
	w := BeginList(b, DescSASLMechanisms)
	w.Symbols(m.Mechanisms)
	return w.End()
}

func (m *SASLMechanisms) decode(f *Fields) { f.Symbols(&m.Mechanisms) }

// SASLInit is the client's choice.
type SASLInit struct {
	Mechanism       Symbol
	InitialResponse []byte
	Hostname        Opt[string]
}

// Append implements Performative.
func (i *SASLInit) Append(b []byte) []byte {
	w := BeginList(b, DescSASLInit)
	w.Symbol(i.Mechanism)
	w.Binary(i.InitialResponse)
	w.OptString(i.Hostname)
	return w.End()
}

func (i *SASLInit) decode(f *Fields) {
	f.Symbol(&i.Mechanism)
	f.required(i.Mechanism != "", "mechanism")
	f.Binary(&i.InitialResponse)
	f.OptString(&i.Hostname)
}

// SASLChallenge asks the client for more.
type SASLChallenge struct{ Challenge []byte }

// Append implements Performative.
func (c *SASLChallenge) Append(b []byte) []byte {
	w := BeginList(b, DescSASLChallenge)
	w.Binary(c.Challenge)
	return w.End()
}

func (c *SASLChallenge) decode(f *Fields) { f.Binary(&c.Challenge) }

// SASLResponse answers a challenge.
type SASLResponse struct{ Response []byte }

// Append implements Performative.
func (r *SASLResponse) Append(b []byte) []byte {
	w := BeginList(b, DescSASLResponse)
	w.Binary(r.Response)
	return w.End()
}

func (r *SASLResponse) decode(f *Fields) { f.Binary(&r.Response) }

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
	w := BeginList(b, DescSASLOutcome)
	w.Uint8(o.Code)
	w.Binary(o.Data)
	return w.End()
}

func (o *SASLOutcome) decode(f *Fields) {
	var code Opt[uint8]
	f.OptUint8(&code)
	f.required(code.Set, "code")
	o.Code = code.V
	f.Binary(&o.Data)
}
