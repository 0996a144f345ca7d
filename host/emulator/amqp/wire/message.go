package wire

// Header is the part of a message about its delivery.
type Header struct {
	Durable       bool
	Priority      uint8 // 4 if it is not said
	TTL           Opt[uint32]
	FirstAcquirer bool
	DeliveryCount uint32
}

// DefaultPriority is the priority of a message whose header has none.
const DefaultPriority = 4

// Append adds the section. The delivery count is always there, because there are
// clients that take it for granted.
func (h *Header) Append(b []byte) []byte {
	l := writeList(b, DescHeader)
	h.fields(&l)
	return l.end()
}

func (h *Header) fields(l *list) {
	l.bool(&h.Durable, true)
	l.ubyte(&h.Priority, h.Priority != DefaultPriority)
	l.optUint(&h.TTL)
	l.bool(&h.FirstAcquirer, h.FirstAcquirer)
	l.uint(&h.DeliveryCount, true)
}

// Properties are the properties of a message that the standard names.
type Properties struct {
	MessageID          any // string, uint64, UUID or []byte
	UserID             []byte
	To                 Opt[string]
	Subject            Opt[string]
	ReplyTo            Opt[string]
	CorrelationID      any // like MessageID
	ContentType        Opt[Symbol]
	ContentEncoding    Opt[Symbol]
	AbsoluteExpiryTime Opt[Timestamp]
	CreationTime       Opt[Timestamp]
	GroupID            Opt[string]
	GroupSequence      Opt[uint32]
	ReplyToGroupID     Opt[string]
}

// Append adds the section.
func (p *Properties) Append(b []byte) []byte {
	l := writeList(b, DescProperties)
	p.fields(&l)
	return l.end()
}

func (p *Properties) fields(l *list) {
	l.value(&p.MessageID, p.MessageID != nil)
	l.binary(&p.UserID, p.UserID != nil)
	l.optText(&p.To)
	l.optText(&p.Subject)
	l.optText(&p.ReplyTo)
	l.value(&p.CorrelationID, p.CorrelationID != nil)
	l.optSymbol(&p.ContentType)
	l.optSymbol(&p.ContentEncoding)
	l.optTimestamp(&p.AbsoluteExpiryTime)
	l.optTimestamp(&p.CreationTime)
	l.optText(&p.GroupID)
	l.optUint(&p.GroupSequence)
	l.optText(&p.ReplyToGroupID)
}

func (p *Properties) read(d *Decoder) {
	l := d.readList()
	p.fields(&l)
	l.id(p.MessageID, "message-id")
	l.id(p.CorrelationID, "correlation-id")
	d.endList(&l)
}

func (h *Header) read(d *Decoder) {
	h.Priority = DefaultPriority
	l := d.readList()
	h.fields(&l)
	d.endList(&l)
}

func (l *list) id(v any, name string) {
	switch v.(type) {
	case nil, string, uint64, UUID, []byte:
	default:
		l.fail("field %q is a %T", name, v)
	}
}

// Message is a message taken apart, as far as a broker has to look inside.
type Message struct {
	Header                Header
	HasHeader             bool
	DeliveryAnnotations   Map
	MessageAnnotations    Map
	Properties            Properties
	HasProperties         bool
	ApplicationProperties Map

	// Body is the encoded body: one or more data sections, one or more sequences,
	// or one value. Footer is the encoded footer. Both are slices of what was parsed.
	Body   []byte
	Footer []byte

	// Raw sections are others as they came, with their descriptors: slices of what was
	// parsed too. Append does not look at them.
	RawHeader                []byte
	RawProperties            []byte
	RawApplicationProperties []byte
}

// ParseMessage takes an encoded message apart. The sections must be in order, each
// at most once, except body sections. Delivery annotations may also come last: the
// clients for Python send them so (azure-servicebus 7.15.0, _pyamqp/_encode.py).
func ParseMessage(b []byte) (*Message, error) {
	m := &Message{Header: Header{Priority: DefaultPriority}}
	d := NewDecoder(b)
	last := uint64(0)
	body := -1     // where the body begins
	ended := false // delivery annotations came last
	for d.More() {
		at := len(b) - len(d.b)
		code := d.Descriptor()
		if d.err != nil {
			break
		}
		isBody := code >= DescData && code <= DescValue
		again := isBody && code == last && code != DescValue
		late := code == DescDeliveryAnnotations && last > code && m.DeliveryAnnotations == nil
		if late && !ended {
			ended = true
			m.section(&d, code)
			continue
		}
		if ended || code < DescHeader || code > DescFooter || (code <= last && !again) || (isBody && body >= 0 && !again) {
			d.fail("section 0x%x after 0x%x", code, last)
			break
		}
		last = code
		m.section(&d, code)
		end := len(b) - len(d.b)
		if d.err != nil {
			break
		}
		switch {
		case isBody:
			if body < 0 {
				body = at
			}
			m.Body = b[body:end:end]
		case code == DescHeader:
			m.RawHeader = b[at:end:end]
		case code == DescProperties:
			m.RawProperties = b[at:end:end]
		case code == DescApplicationProperties:
			m.RawApplicationProperties = b[at:end:end]
		case code == DescFooter:
			m.Footer = b[at:end:end]
		}
	}
	if d.err != nil {
		return nil, d.err
	}
	return m, nil
}

func (m *Message) section(d *Decoder, code uint64) {
	switch code {
	case DescHeader:
		m.Header.read(d)
		m.HasHeader = true
	case DescDeliveryAnnotations:
		m.DeliveryAnnotations = d.Map()
	case DescMessageAnnotations:
		m.MessageAnnotations = d.Map()
	case DescProperties:
		m.Properties.read(d)
		m.HasProperties = true
	case DescApplicationProperties:
		m.ApplicationProperties = d.Map()
		for _, e := range m.ApplicationProperties {
			if _, ok := e.Key.(string); !ok {
				d.fail("application property with a key of type %T", e.Key)
			}
		}
	case DescData:
		d.Binary()
	case DescSequence, DescValue, DescFooter:
		d.Skip()
	}
}

// ParseProperties reads a properties section.
func ParseProperties(section []byte) (Properties, error) {
	var p Properties
	d := NewDecoder(section)
	if code := d.Descriptor(); code != DescProperties {
		d.fail("section 0x%x instead of properties", code)
	}
	p.read(&d)
	return p, d.err
}

// ParseHeader reads a header section.
func ParseHeader(section []byte) (Header, error) {
	var h Header
	d := NewDecoder(section)
	if code := d.Descriptor(); code != DescHeader {
		d.fail("section 0x%x instead of a header", code)
	}
	h.read(&d)
	return h, d.err
}

// DataSections returns the contents of the data sections of the body: nil if the
// body is not data.
func (m *Message) DataSections() [][]byte {
	var list [][]byte
	d := NewDecoder(m.Body)
	for d.More() {
		if d.Descriptor() != DescData {
			return nil
		}
		list = append(list, d.Binary())
	}
	return list
}

// Value returns the body's value, if the body is a value.
func (m *Message) Value() (v any, ok bool, err error) {
	d := NewDecoder(m.Body)
	if !d.More() || d.Descriptor() != DescValue {
		return nil, false, d.err
	}
	v = d.Any()
	return v, d.err == nil, d.err
}

// Append adds the message: header if HasHeader, annotations and application
// properties if not nil, properties if HasProperties, body and footer.
func (m *Message) Append(b []byte) []byte {
	if m.HasHeader {
		b = m.Header.Append(b)
	}
	b = AppendMapSection(b, DescDeliveryAnnotations, m.DeliveryAnnotations)
	b = AppendMapSection(b, DescMessageAnnotations, m.MessageAnnotations)
	if m.HasProperties {
		b = m.Properties.Append(b)
	}
	b = AppendMapSection(b, DescApplicationProperties, m.ApplicationProperties)
	b = append(b, m.Body...)
	return append(b, m.Footer...)
}

// AppendMapSection adds a section that is a map; nothing if the map is nil.
func AppendMapSection(b []byte, descriptor uint64, m Map) []byte {
	if m == nil {
		return b
	}
	return appendMap(AppendDescriptor(b, descriptor), m)
}

// AppendData adds a data section.
func AppendData(b, data []byte) []byte {
	return AppendBinary(AppendDescriptor(b, DescData), data)
}

// AppendValue adds a value section.
func AppendValue(b []byte, v any) []byte {
	return AppendAny(AppendDescriptor(b, DescValue), v)
}
