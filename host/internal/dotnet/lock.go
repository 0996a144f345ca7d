package dotnet

import (
	"context"
	"os"
	"time"
)

// lockPoll is how long a process waits before it tries a lock again that another one has.
const lockPoll = 50 * time.Millisecond

// lock takes the lock of a file, which ends with the process at the latest. waits, which may
// be nil, is called once when another process has it.
func lock(ctx context.Context, path string, waits func()) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for first := true; ; first = false {
		switch mine, err := tryLock(f); {
		case err != nil:
			_ = f.Close() // the first error counts
			return nil, err
		case mine:
			return func() { _ = f.Close() }, nil
		}
		if first && waits != nil {
			waits()
		}
		select {
		case <-ctx.Done():
			_ = f.Close() // the first error counts
			return nil, ctx.Err()
		case <-time.After(lockPoll):
		}
	}
}
