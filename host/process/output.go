package process

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redeliver/redeliver/functions/call"
)

const (
	// maxLine is the length at which a line is cut, in bytes.
	maxLine = 1 << 20
	// maxLines and maxBytes bound what one process may say in one second. The
	// rest is read, counted and thrown away, so that a flood neither stops the
	// process nor fills the host.
	maxLines = 2000
	maxBytes = 8 << 20
	// keptLines is how many lines of standard error are kept for the report of a start
	// that failed, keptErrors how many that say error for the report of a crash, whose
	// other lines were told (host: WorkerProcess.cs).
	keptLines  = 20
	keptErrors = 3
	// keptText is how much of such a line is kept, in bytes.
	keptText = 4096
)

// output collects what one process writes, from several pipes.
type output struct {
	deliver func(Line)

	mu      sync.Mutex // one line at a time, and guards:
	second  time.Time  // begin of the second that is counted
	lines   int
	bytes   int
	dropped int
	last    []string // of standard error
	errors  []string // those of them that say error
	closed  bool
}

// line passes on one line, unless there are too many.
func (o *output) line(l Line) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if l.Stderr {
		o.last = keepLast(o.last, l.Text, keptLines)
		if l.Level >= call.ErrorLevel {
			o.errors = keepLast(o.errors, l.Text, keptErrors)
		}
	}
	if o.closed || o.deliver == nil {
		return
	}
	now := time.Now() //clock:outside a flood is measured in real time
	if now.Sub(o.second) >= time.Second {
		o.reportLocked()
		o.second, o.lines, o.bytes = now, 0, 0
	}
	if o.lines >= maxLines || o.bytes >= maxBytes {
		o.dropped++
		return
	}
	o.lines++
	o.bytes += len(l.Text)
	o.deliver(l)
}

// reportLocked says how many lines were thrown away, if any.
func (o *output) reportLocked() {
	if o.dropped > 0 {
		o.deliver(Line{Stderr: true, Level: call.Warning,
			Text: fmt.Sprintf("too much output: %d lines left out", o.dropped)})
		o.dropped = 0
	}
}

// close ends the delivery of lines.
func (o *output) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.closed && o.deliver != nil {
		o.reportLocked()
	}
	o.closed = true
}

// keepLast adds a line to a list of that length at most.
func keepLast(list []string, text string, most int) []string {
	if len(list) == most {
		list = slices.Delete(list, 0, 1)
	}
	if len(text) > keptText {
		text = strings.ToValidUTF8(text[:keptText], "")
	}
	return append(list, text)
}

// tail returns the last lines of standard error, and those that say error.
func (o *output) tail() (all, errors []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.last), slices.Clone(o.errors)
}

// A splitter makes lines of one pipe. It is an io.Writer that never fails, for
// one goroutine at a time.
type splitter struct {
	out    *output
	stderr bool
	line   []byte
	cut    bool
}

func (s *splitter) Write(b []byte) (int, error) {
	n := len(b)
	for {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			s.add(b)
			return n, nil
		}
		s.add(b[:i])
		s.flush()
		b = b[i+1:]
	}
}

func (s *splitter) add(b []byte) {
	if room := maxLine - len(s.line); len(b) > room {
		b, s.cut = b[:room], true
	}
	s.line = append(s.line, b...)
}

// flush passes on the line, complete or not.
func (s *splitter) flush() {
	text := strings.ToValidUTF8(string(bytes.TrimSuffix(s.line, []byte("\r"))), "\uFFFD")
	l := Line{Stderr: s.stderr, Level: call.Information, Text: text, Cut: s.cut}
	if s.line = s.line[:0]; cap(s.line) > 64<<10 {
		s.line = nil
	}
	s.cut = false
	if l.Stderr {
		l.Level, l.Text = classify(text)
	}
	s.out.line(l)
}

// Close passes on what came after the last line break.
func (s *splitter) Close() error {
	if len(s.line) > 0 {
		s.flush()
	}
	return nil
}

// classify finds the level of a line of standard error (host: WorkerProcess.cs).
// A line of go-plugin's own logger, which is JSON, is taken apart.
func classify(text string) (call.Level, string) {
	if strings.HasPrefix(text, "{") {
		var entry struct {
			Level   string `json:"@level"`
			Message string `json:"@message"`
		}
		if json.Unmarshal([]byte(text), &entry) == nil && entry.Message != "" {
			switch entry.Level {
			case "trace", "debug":
				return call.Debug, entry.Message
			case "warn":
				return call.Warning, entry.Message
			case "error":
				return call.ErrorLevel, entry.Message
			}
			return call.Information, entry.Message
		}
	}
	if strings.HasPrefix(text, "panic: ") {
		return call.ErrorLevel, text
	}
	lower := strings.ToLower(text)
	if strings.Contains(lower, "warn") { // also of one that warns of an error
		return call.Warning, text
	}
	for _, word := range []string{"error", "fail", "severe", "unhandled exception"} {
		if strings.Contains(lower, word) {
			return call.ErrorLevel, text
		}
	}
	return call.Information, text
}
