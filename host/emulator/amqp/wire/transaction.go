package wire

import "fmt"

// Discharge ends the transaction Txn; with Fail it is rolled back.
type Discharge struct {
	Txn  []byte
	Fail bool
}

// Append adds the encoded value.
func (d *Discharge) Append(b []byte) []byte {
	l := writeList(b, DescDischarge)
	l.binary(&d.Txn, d.Txn != nil)
	l.bool(&d.Fail, true)
	return l.end()
}

// AppendDeclare adds the encoded wish for a transaction.
func AppendDeclare(b []byte) []byte {
	l := writeList(b, DescDeclare)
	return l.end()
}

// ParseTransaction reads the message of a transaction controller: nil asks to declare
// a transaction, otherwise one is to be discharged.
func ParseTransaction(message []byte) (*Discharge, error) {
	m, err := ParseMessage(message)
	if err != nil {
		return nil, err
	}
	v, _, err := m.Value()
	if err != nil {
		return nil, err
	}
	described, ok := v.(*Described)
	if !ok {
		return nil, fmt.Errorf("%w: a declare or discharge wanted, a %T found", ErrMalformed, v)
	}
	code, _ := described.Descriptor.(uint64)
	if name, ok := described.Descriptor.(Symbol); ok {
		code = DescriptorOf(name)
	}
	list, ok := described.Value.(List)
	switch {
	case ok && code == DescDeclare:
		return nil, nil
	case ok && code == DescDischarge && len(list) > 0:
		d := new(Discharge)
		if d.Txn, ok = list[0].([]byte); ok && len(list) > 1 && list[1] != nil {
			d.Fail, ok = list[1].(bool)
		}
		if ok {
			return d, nil
		}
	}
	return nil, fmt.Errorf("%w: a declare or discharge wanted, descriptor %v found", ErrMalformed, described.Descriptor)
}
