package store_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/redeliver/redeliver/host/emulator/store"
)

// One after the other, each read of the log fails once: what a scan shows is what was
// written, or it ends with the error.
func TestEachReadFails(t *testing.T) {
	t.Parallel()
	var left atomic.Int64
	fs := store.MemoryFS()
	opts := &store.Options{Fault: func(op store.FileOp, path string) error {
		if op == store.OpRead && strings.HasSuffix(path, ".log") && left.Add(-1) == 0 {
			return syscall.EIO
		}
		return nil
	}}
	s, err := store.OpenOn(fs, opts)
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	value := strings.Repeat("v", 5000)
	for i := range 100 {
		must(t, set(s, fmt.Sprintf("key%02d", i), value))
	}
	failures := 0
	for k := int64(1); ; k++ {
		v, err := s.View()
		must(t, err)
		n := 0
		left.Store(k)
		err = v.Scan([]byte("k"), nil, func(key, got []byte) error {
			if n++; string(got) != value {
				return fmt.Errorf("%s has %d bytes", key, len(got))
			}
			return nil
		})
		must(t, v.Close())
		switch {
		case left.Load() > 0: // all reads were made
			if err != nil || n != 100 || failures < 3 {
				t.Errorf("%d keys, %v, after %d failures", n, err, failures)
			}
			return
		case err != nil && !errors.Is(err, syscall.EIO):
			t.Errorf("with read %d refused: %v", k, err)
		case err == nil && n != 100:
			t.Errorf("with read %d refused %d keys were shown", k, n)
		}
		failures++
	}
}
