package wire

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"
)

// The first and the last second that a message can name; JSON has no later years either.
var (
	firstSecond = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)         // read only
	lastSecond  = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC) // read only
)

// Time is the time of a message in UTC; zero for none. One beyond what the protocol allows,
// which Java can write, is the nearest that it does.
func Time(t *timestamppb.Timestamp) time.Time {
	switch {
	case t == nil:
		return time.Time{}
	case t.GetSeconds() < firstSecond.Unix():
		return firstSecond
	case t.GetSeconds() > lastSecond.Unix():
		return lastSecond
	}
	return time.Unix(t.GetSeconds(), int64(min(max(t.GetNanos(), 0), 999_999_999))).UTC()
}
