package storage

import (
	"errors"
	"fmt"
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
	return readTime(db, db.Dir())
}

func setTime(c *keep.Change, t time.Time) { c.Set(timeKey, fields.AppendTime(nil, t)) }

// readTime is LastTime for anything with keys.
func readTime(from interface {
	Get(key []byte) ([]byte, error)
}, dir string) (time.Time, error) {
	value, err := from.Get(timeKey)
	if errors.Is(err, store.ErrNotFound) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, err
	}
	r := fields.NewReader(value)
	t := r.Time()
	if !r.Done() {
		return time.Time{}, &store.CorruptError{Path: dir, Err: fmt.Errorf("the time of the last change has %d bytes", len(value))}
	}
	return t, nil
}
