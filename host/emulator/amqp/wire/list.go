package wire

// list is the fields of a composite type, on their way out or in. A type lists its fields
// once, in the order of the standard, by one method of list for each: it writes the
// field, or reads it. Fields that are missing at the end, or null, leave what they are
// read into as it was. Skipped fields at the end are written only where whole ends the
// list.
type list struct {
	Decoder // of what is left to read; b is what was written
	reading bool
	start   int32 // written: where the list begins
	n       int32 // fields written, or left to read
	nulls   int32 // fields skipped since the last one that was written
}

// writeList starts a list at the end of b, with a descriptor of the standard: one byte.
func writeList(b []byte, descriptor uint8) list {
	b = append(b, codeDescribed, codeUlong8, descriptor, codeList8, 0, 0)
	return list{Decoder: Decoder{b: b}, start: int32(len(b) - 3)}
}

// end returns the bytes with the list.
func (l *list) end() []byte {
	if l.n == 0 {
		return append(l.b[:l.start], codeList0)
	}
	return (&compound{b: l.b, start: int(l.start)}).end(int(l.n))
}

// whole is end with the fields that were skipped at the end. Performatives are written
// so: azure-eventhub 5.15 (Python) takes their fields by position, and fails on a list
// that ends before.
func (l *list) whole() []byte {
	l.fill()
	return l.end()
}

func (l *list) fill() {
	for ; l.nulls > 0; l.nulls-- {
		l.b = append(l.b, codeNull)
		l.n++
	}
}

// readList begins a list whose elements are the fields of a composite type. The caller
// reads them all, then calls endList.
func (d *Decoder) readList() list {
	switch c := d.byte(); c {
	case codeList0:
		return list{reading: true}
	case codeList8, codeList32:
		in, n := d.compound(c)
		return list{reading: true, Decoder: in, n: int32(n)}
	default:
		d.wrong("list", c)
		return list{reading: true, Decoder: Decoder{err: d.err}}
	}
}

// endList skips the fields that a later version of the type may have, and hands an
// error to d.
func (d *Decoder) endList(l *list) {
	for ; l.n > 0 && l.err == nil; l.n-- {
		l.Skip()
	}
	d.done(&l.Decoder)
}

// next steps to the next field of a list that is read, and reports whether it has a value.
func (l *list) next() bool {
	if l.n == 0 || l.err != nil {
		return false
	}
	l.n--
	return !l.null()
}

// field returns where the next field is written, with the nulls that were left out.
func (l *list) field() []byte {
	l.fill()
	l.n++
	return l.b
}

// has is for fields that are lists: it reports whether there is one to write, as set says,
// or to read.
func (l *list) has(set bool) bool {
	if l.reading {
		return l.next()
	}
	if set {
		l.b = l.field()
	} else {
		l.nulls++
	}
	return set
}

// required fails when a field that was read is not there.
func (l *list) required(there bool, name string) {
	if l.reading && !there {
		l.fail("field %q is missing", name)
	}
}

// Each type has a method with AMQP's name for it, which leaves the field out where set
// says so and reports whether it is there; most have one with opt. These are short enough
// to be inlined, since most fields are left out: what is there is written or read by the
// method with some.

func (l *list) bool(v *bool, set bool) bool {
	if l.reading || set {
		return l.someBool(v)
	}
	l.nulls++
	return false
}

func (l *list) optBool(v *Opt[bool]) {
	if l.reading || v.Set {
		v.Set = l.someBool(&v.V)
	} else {
		l.nulls++
	}
}

func (l *list) someBool(v *bool) (there bool) {
	if !l.reading {
		l.b = AppendBool(l.field(), *v)
		return true
	}
	if there = l.next(); there {
		*v = l.Bool()
	}
	return there
}

func (l *list) ubyte(v *uint8, set bool) bool {
	if l.reading || set {
		return l.someUbyte(v)
	}
	l.nulls++
	return false
}

func (l *list) optUbyte(v *Opt[uint8]) {
	if l.reading || v.Set {
		v.Set = l.someUbyte(&v.V)
	} else {
		l.nulls++
	}
}

func (l *list) someUbyte(v *uint8) (there bool) {
	if !l.reading {
		l.b = AppendUint8(l.field(), *v)
		return true
	}
	if there = l.next(); there {
		*v = l.Uint8()
	}
	return there
}

func (l *list) optUshort(v *Opt[uint16]) {
	if l.reading || v.Set {
		v.Set = l.someUshort(&v.V)
	} else {
		l.nulls++
	}
}

func (l *list) someUshort(v *uint16) (there bool) {
	if !l.reading {
		l.b = AppendUint16(l.field(), *v)
		return true
	}
	if there = l.next(); there {
		*v = l.Uint16()
	}
	return there
}

func (l *list) uint(v *uint32, set bool) bool {
	if l.reading || set {
		return l.someUint(v)
	}
	l.nulls++
	return false
}

func (l *list) optUint(v *Opt[uint32]) {
	if l.reading || v.Set {
		v.Set = l.someUint(&v.V)
	} else {
		l.nulls++
	}
}

func (l *list) someUint(v *uint32) (there bool) {
	if !l.reading {
		l.b = AppendUint32(l.field(), *v)
		return true
	}
	if there = l.next(); there {
		*v = l.Uint32()
	}
	return there
}

func (l *list) ulong(v *uint64, set bool) bool {
	if l.reading || set {
		return l.someUlong(v)
	}
	l.nulls++
	return false
}

func (l *list) optUlong(v *Opt[uint64]) {
	if l.reading || v.Set {
		v.Set = l.someUlong(&v.V)
	} else {
		l.nulls++
	}
}

func (l *list) someUlong(v *uint64) (there bool) {
	if !l.reading {
		l.b = AppendUint64(l.field(), *v)
		return true
	}
	if there = l.next(); there {
		*v = l.Uint64()
	}
	return there
}

func (l *list) optTimestamp(v *Opt[Timestamp]) {
	if l.reading || v.Set {
		v.Set = l.someTimestamp(&v.V)
	} else {
		l.nulls++
	}
}

func (l *list) someTimestamp(v *Timestamp) (there bool) {
	if !l.reading {
		l.b = AppendTimestamp(l.field(), *v)
		return true
	}
	if there = l.next(); there {
		*v = l.Timestamp()
	}
	return there
}

func (l *list) binary(v *[]byte, set bool) bool {
	if l.reading || set {
		return l.someBinary(v)
	}
	l.nulls++
	return false
}

func (l *list) someBinary(v *[]byte) (there bool) {
	if !l.reading {
		l.b = AppendBinary(l.field(), *v)
		return true
	}
	if there = l.next(); there {
		*v = l.Binary()
	}
	return there
}

func (l *list) text(v *string, set bool) bool {
	if l.reading || set {
		return l.someText(v)
	}
	l.nulls++
	return false
}

func (l *list) optText(v *Opt[string]) {
	if l.reading || v.Set {
		v.Set = l.someText(&v.V)
	} else {
		l.nulls++
	}
}

func (l *list) someText(v *string) (there bool) {
	if !l.reading {
		l.b = AppendString(l.field(), *v)
		return true
	}
	if there = l.next(); there {
		*v = l.String()
	}
	return there
}

func (l *list) symbol(v *Symbol, set bool) bool {
	if l.reading || set {
		return l.someSymbol(v)
	}
	l.nulls++
	return false
}

func (l *list) optSymbol(v *Opt[Symbol]) {
	if l.reading || v.Set {
		v.Set = l.someSymbol(&v.V)
	} else {
		l.nulls++
	}
}

func (l *list) someSymbol(v *Symbol) (there bool) {
	if !l.reading {
		l.b = AppendSymbol(l.field(), *v)
		return true
	}
	if there = l.next(); there {
		*v = l.Symbol()
	}
	return there
}

func (l *list) symbols(v *[]Symbol, set bool) bool {
	if l.reading || set {
		return l.someSymbols(v)
	}
	l.nulls++
	return false
}

func (l *list) someSymbols(v *[]Symbol) (there bool) {
	if !l.reading {
		l.b = AppendSymbols(l.field(), *v)
		return true
	}
	if there = l.next(); there {
		*v = l.Symbols()
	}
	return there
}

func (l *list) table(v *Map, set bool) bool {
	if l.reading || set {
		return l.someTable(v)
	}
	l.nulls++
	return false
}

func (l *list) someTable(v *Map) (there bool) {
	if !l.reading {
		l.b = appendMap(l.field(), *v)
		return true
	}
	if there = l.next(); there {
		*v = l.Map()
	}
	return there
}

func (l *list) value(v *any, set bool) bool {
	if l.reading || set {
		return l.someValue(v)
	}
	l.nulls++
	return false
}

func (l *list) someValue(v *any) (there bool) {
	if !l.reading {
		l.b = AppendAny(l.field(), *v)
		return true
	}
	if there = l.next(); there {
		*v = l.Any()
	}
	return there
}
