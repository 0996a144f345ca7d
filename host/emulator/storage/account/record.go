package account

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
)

const jsonFormat = 1 // first byte of each value that is JSON

// SetJSON gives a key a value as JSON. The value has no other form in JSON than its own.
func SetJSON(c *keep.Change, key []byte, v any) {
	if !c.Writable() {
		return
	}
	value, err := json.Marshal(v)
	if err != nil {
		panic("emulator: a record that JSON does not have: " + err.Error())
	}
	c.Set(key, append([]byte{jsonFormat}, value...))
}

// Records reads what an account keeps. Dir names it in errors, which are a
// *store.CorruptError for what cannot be read.
type Records struct {
	store.Reader
	Dir string
}

// Each calls f with all keys of a kind, in order.
func (r Records) Each(kind byte, f func(key, value []byte) error) error {
	return r.Scan([]byte{kind, 0}, []byte{kind, 1}, f)
}

// JSON reads what SetJSON has written, if anything is there.
func (r Records) JSON(key []byte, into any) error {
	value, err := r.Get(key)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return r.Decode(key, value, into)
}

// Decode reads a value that SetJSON has made.
func (r Records) Decode(key, value []byte, into any) error {
	if len(value) == 0 || value[0] != jsonFormat || json.Unmarshal(value[1:], into) != nil {
		return r.Unreadable(key)
	}
	return nil
}

// Unreadable is the error for the value of a key.
func (r Records) Unreadable(key []byte) error {
	return r.Damage("the record under key %q cannot be read", key)
}

// Damage is the error for what an account could not have written.
func (r Records) Damage(format string, args ...any) error {
	return &store.CorruptError{Path: r.Dir, Err: fmt.Errorf(format, args...)}
}
