package journal

import (
	"fmt"
	"sync"
)

// The limits for a handler's own lines in the journal, so that they do not drive
// out everything else: in one attempt, and in one minute for lines that a handler
// program prints outside of attempts, or without naming one.
const (
	floodLines = 10_000
	floodBytes = 4 << 20
)

// A Flood counts log lines in spans: attempts, or minutes.
type Flood struct {
	mu           sync.Mutex
	span         int64
	lines, bytes int
	cut          bool
}

// Pass counts a line and reports whether the journal takes it; cut: it is the first
// one of its span that it does not.
func (f *Flood) Pass(span int64, size int) (pass, cut bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if span != f.span {
		f.span, f.lines, f.bytes, f.cut = span, 0, 0, false
	}
	if f.cut {
		return false, false
	}
	f.lines++
	f.bytes += size
	f.cut = f.lines > floodLines || f.bytes > floodBytes
	return !f.cut, f.cut
}

// Text stands in the place of the lines that are left out.
func (f *Flood) Text(of string) string {
	return fmt.Sprintf("more than %d lines, or %d MiB, in one %s: the rest of its log is left out", floodLines, floodBytes>>20, of)
}
