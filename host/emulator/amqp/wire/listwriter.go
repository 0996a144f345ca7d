package wire

// ListWriter writes the fields of a composite type in order; missing fields at
// the end are not written, unless All asks for them.
type ListWriter struct {
	c     compound
	n     int // fields written
	nulls int // fields skipped since
}

// BeginList starts a described list at the end of b.
func BeginList(b []byte, descriptor uint64) ListWriter {
	return ListWriter{c: beginCompound(AppendDescriptor(b, descriptor), codeList8)}
}

// End returns the bytes with the list.
func (w *ListWriter) End() []byte {
	if w.n == 0 {
		return append(w.c.b[:w.c.start], codeList0)
	}
	return w.c.end(w.n)
}

// Null skips a field.
func (w *ListWriter) Null() { w.nulls++ }

// All writes the fields that were skipped at the end, too. Performatives are written
// so: azure-eventhub 5.15 (Python) takes their fields by position, and fails on a list
// that ends before.
func (w *ListWriter) All() {
	for ; w.nulls > 0; w.nulls-- {
		w.c.b = append(w.c.b, codeNull)
		w.n++
	}
}

// field writes the nulls that were left out, and counts one more field.
func (w *ListWriter) field() []byte {
	w.All()
	w.n++
	return w.c.b
}

// Bool writes a field.
func (w *ListWriter) Bool(v bool) { w.c.b = AppendBool(w.field(), v) }

// True writes a field that is false by default: nothing for false.
func (w *ListWriter) True(v bool) {
	if v {
		w.Bool(true)
	} else {
		w.Null()
	}
}

// OptBool writes a field.
func (w *ListWriter) OptBool(v Opt[bool]) {
	if v.Set {
		w.Bool(v.V)
	} else {
		w.Null()
	}
}

// Uint8 writes a field.
func (w *ListWriter) Uint8(v uint8) { w.c.b = AppendUint8(w.field(), v) }

// OptUint8 writes a field.
func (w *ListWriter) OptUint8(v Opt[uint8]) {
	if v.Set {
		w.Uint8(v.V)
	} else {
		w.Null()
	}
}

// Uint16 writes a field.
func (w *ListWriter) Uint16(v uint16) { w.c.b = AppendUint16(w.field(), v) }

// OptUint16 writes a field.
func (w *ListWriter) OptUint16(v Opt[uint16]) {
	if v.Set {
		w.Uint16(v.V)
	} else {
		w.Null()
	}
}

// Uint32 writes a field.
func (w *ListWriter) Uint32(v uint32) { w.c.b = AppendUint32(w.field(), v) }

// OptUint32 writes a field.
func (w *ListWriter) OptUint32(v Opt[uint32]) {
	if v.Set {
		w.Uint32(v.V)
	} else {
		w.Null()
	}
}

// OptUint64 writes a field.
func (w *ListWriter) OptUint64(v Opt[uint64]) {
	if v.Set {
		w.c.b = AppendUint64(w.field(), v.V)
	} else {
		w.Null()
	}
}

// OptTimestamp writes a field.
func (w *ListWriter) OptTimestamp(v Opt[Timestamp]) {
	if v.Set {
		w.c.b = AppendTimestamp(w.field(), v.V)
	} else {
		w.Null()
	}
}

// Binary writes a field; nil writes null.
func (w *ListWriter) Binary(v []byte) {
	if v != nil {
		w.c.b = AppendBinary(w.field(), v)
	} else {
		w.Null()
	}
}

// String writes a field, even if it is empty.
func (w *ListWriter) String(v string) { w.c.b = AppendString(w.field(), v) }

// OptString writes a field.
func (w *ListWriter) OptString(v Opt[string]) {
	if v.Set {
		w.String(v.V)
	} else {
		w.Null()
	}
}

// Symbol writes a field; an empty one writes null.
func (w *ListWriter) Symbol(v Symbol) {
	if v != "" {
		w.c.b = AppendSymbol(w.field(), v)
	} else {
		w.Null()
	}
}

// OptSymbol writes a field.
func (w *ListWriter) OptSymbol(v Opt[Symbol]) {
	if v.Set {
		w.c.b = AppendSymbol(w.field(), v.V)
	} else {
		w.Null()
	}
}

// Symbols writes a field; no symbols write null.
func (w *ListWriter) Symbols(v []Symbol) {
	if len(v) > 0 {
		w.c.b = AppendSymbols(w.field(), v)
	} else {
		w.Null()
	}
}

// Map writes a field; nil writes null.
func (w *ListWriter) Map(v Map) {
	if v != nil {
		w.c.b = appendMap(w.field(), v)
	} else {
		w.Null()
	}
}

// Any writes a field; nil writes null.
func (w *ListWriter) Any(v any) {
	if v != nil {
		w.c.b = AppendAny(w.field(), v)
	} else {
		w.Null()
	}
}
