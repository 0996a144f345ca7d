package account

import (
	"errors"
	"time"

	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/emulator/store/fields"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
)

// timeKey holds the time of the last change.
var timeKey = []byte("time")

// LastTime returns the time of the last change of the account that is kept in
// db, or the zero time when there was none. A clock that starts earlier would
// find the account's times in the future: what has arrived would seem to be
// still to come.
func LastTime(db *store.Store) (time.Time, error) {
	value, err := db.Get(timeKey)
	return Records{Dir: db.Dir()}.time(value, err)
}

// LastTime is LastTime for what is read.
func (r Records) LastTime() (time.Time, error) {
	value, err := r.Get(timeKey)
	return r.time(value, err)
}

func (r Records) time(value []byte, err error) (time.Time, error) {
	if errors.Is(err, store.ErrNotFound) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, err
	}
	read := fields.NewReader(value)
	t := read.Time()
	if !read.Done() {
		return time.Time{}, r.Damage("the time of the last change has %d bytes", len(value))
	}
	return t, nil
}

// SetTime writes the time of a change.
func SetTime(c *keep.Change, t time.Time) { c.Set(timeKey, fields.AppendTime(nil, t)) }
