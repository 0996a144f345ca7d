package servicebus

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/redeliver/redeliver/host/emulator/store"
)

// LastTime returns the time of the last change of the namespace that is kept in
// db, or the zero time when there was none. A clock that starts earlier would
// find the namespace's times in the future.
func LastTime(db *store.Store) (time.Time, error) {
	value, err := db.Get([]byte(timeKey))
	if errors.Is(err, store.ErrNotFound) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, err
	}
	if len(value) != 12 {
		return time.Time{}, &store.CorruptError{Path: db.Dir(), Err: fmt.Errorf("the time of the last change of Service Bus has %d bytes", len(value))}
	}
	return time.Unix(int64(binary.BigEndian.Uint64(value)), int64(binary.BigEndian.Uint32(value[8:]))).UTC(), nil
}

func lastTimeValue(t time.Time) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(nil, uint64(t.Unix())), uint32(t.Nanosecond()))
}
