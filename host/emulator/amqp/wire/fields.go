package wire

// Fields reads the fields of a composite type in order. Fields that are missing at the
// end, or null, leave what they are read into as it was.
type Fields struct {
	d Decoder
	n int
}

// Fields begins a list whose elements are the fields of a composite type. The
// caller reads them all, then calls End.
func (d *Decoder) Fields() Fields {
	switch c := d.byte(); c {
	case codeList0:
		return Fields{}
	case codeList8, codeList32:
		in, n := d.compound(c)
		return Fields{d: in, n: n}
	default:
		d.wrong("list", c)
		return Fields{d: Decoder{err: d.err}}
	}
}

// next steps to the next field and reports whether it has a value.
func (f *Fields) next() bool {
	if f.n == 0 || f.d.err != nil {
		return false
	}
	f.n--
	return !f.d.null()
}

// End skips the fields that a later version of the type may have, and hands an
// error to d.
func (d *Decoder) End(f *Fields) {
	for ; f.n > 0 && f.d.err == nil; f.n-- {
		f.d.Skip()
	}
	d.done(&f.d)
}

// Bool and its siblings read the next field into *to.
func (f *Fields) Bool(to *bool) {
	if f.next() {
		*to = f.d.Bool()
	}
}

// OptBool reads the next field.
func (f *Fields) OptBool(to *Opt[bool]) {
	if f.next() {
		*to = Some(f.d.Bool())
	}
}

// Uint8 reads the next field.
func (f *Fields) Uint8(to *uint8) {
	if f.next() {
		*to = f.d.Uint8()
	}
}

// OptUint8 reads the next field.
func (f *Fields) OptUint8(to *Opt[uint8]) {
	if f.next() {
		*to = Some(f.d.Uint8())
	}
}

// OptUint16 reads the next field.
func (f *Fields) OptUint16(to *Opt[uint16]) {
	if f.next() {
		*to = Some(f.d.Uint16())
	}
}

// Uint32 reads the next field.
func (f *Fields) Uint32(to *uint32) {
	if f.next() {
		*to = f.d.Uint32()
	}
}

// OptUint32 reads the next field.
func (f *Fields) OptUint32(to *Opt[uint32]) {
	if f.next() {
		*to = Some(f.d.Uint32())
	}
}

// OptUint64 reads the next field.
func (f *Fields) OptUint64(to *Opt[uint64]) {
	if f.next() {
		*to = Some(f.d.Uint64())
	}
}

// OptTimestamp reads the next field.
func (f *Fields) OptTimestamp(to *Opt[Timestamp]) {
	if f.next() {
		*to = Some(f.d.Timestamp())
	}
}

// Binary reads the next field.
func (f *Fields) Binary(to *[]byte) {
	if f.next() {
		*to = f.d.Binary()
	}
}

// String reads the next field.
func (f *Fields) String(to *string) {
	if f.next() {
		*to = f.d.String()
	}
}

// OptString reads the next field.
func (f *Fields) OptString(to *Opt[string]) {
	if f.next() {
		*to = Some(f.d.String())
	}
}

// Symbol reads the next field.
func (f *Fields) Symbol(to *Symbol) {
	if f.next() {
		*to = f.d.Symbol()
	}
}

// OptSymbol reads the next field.
func (f *Fields) OptSymbol(to *Opt[Symbol]) {
	if f.next() {
		*to = Some(f.d.Symbol())
	}
}

// Symbols reads the next field.
func (f *Fields) Symbols(to *[]Symbol) {
	if f.next() {
		*to = f.d.Symbols()
	}
}

// Map reads the next field.
func (f *Fields) Map(to *Map) {
	if f.next() {
		*to = f.d.Map()
	}
}

// Any reads the next field.
func (f *Fields) Any(to *any) {
	if f.next() {
		*to = f.d.Any()
	}
}

// required fails when the field called name is not there.
func (f *Fields) required(there bool, name string) {
	if !there {
		f.d.fail("field %q is missing", name)
	}
}
