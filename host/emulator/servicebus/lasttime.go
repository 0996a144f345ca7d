package servicebus

import (
	"time"

	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
)

// LastTime returns the time of the last change of the namespace that is kept in
// db, or the zero time when there was none. A clock that starts earlier would
// find the namespace's times in the future.
func LastTime(db *store.Store) (time.Time, error) {
	return keep.TimeOf(db, timeKey, "Service Bus", db.Dir())
}
