package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// MaxLine is the longest request, in bytes: a body of 1 MiB, however it is escaped.
const MaxLine = 8 << 20

// lines are the two ends of a connection, a message a line. What is no message of JSON-RPC
// is answered here, and the connection goes on: the library would end it.
type lines struct {
	in   *bufio.Reader
	log  *slog.Logger
	rest []byte // of the line that is being read

	mu       sync.Mutex // a message is written in one piece
	out      io.Writer
	open     int           // requests without an answer
	answered chan struct{} // closed when the last one has it; nil: the input goes on
}

func newLines(in io.Reader, out io.Writer, log *slog.Logger) *lines {
	return &lines{in: bufio.NewReaderSize(in, 64<<10), out: out, log: log}
}

// grace is how long calls go on when the input has ended: so one can send requests through
// a pipe. It is shorter than clients wait for the end of a server.
const grace = 3 * time.Second

// Read implements io.Reader.
func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		line, err := l.next()
		if err != nil {
			l.awaitAnswers()
			return 0, err
		}
		l.rest = line
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// next is the next line with a message; empty: there was another one.
func (l *lines) next() ([]byte, error) {
	line, long, err := l.line()
	text := bytes.TrimSpace(line)
	switch {
	case long:
		return nil, l.refuse(jsonrpc.CodeInvalidRequest, "the message is longer than 8 MiB")
	case len(text) == 0:
		return nil, err
	case !json.Valid(text):
		return nil, l.refuse(jsonrpc.CodeParseError, "the line is not JSON: a message is one line of JSON")
	}
	message, err := jsonrpc.DecodeMessage(text)
	if err != nil {
		return nil, l.refuse(jsonrpc.CodeInvalidRequest, "the line is no message of JSON-RPC 2.0")
	}
	if r, ok := message.(*jsonrpc.Request); ok && r.IsCall() {
		l.mu.Lock()
		l.open++
		l.mu.Unlock()
	}
	return append(text, '\n'), nil
}

// line reads a line, and says whether it was too long. The last one may lack its end.
func (l *lines) line() (line []byte, long bool, err error) {
	for {
		part, err := l.in.ReadSlice('\n')
		if long = long || len(line)+len(part) > MaxLine; !long {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && len(line) > 0 && errors.Is(err, io.EOF):
			return line, long, nil
		}
		return line, long, err
	}
}

// refuse answers a line that has no identity which an answer could name.
func (l *lines) refuse(code int64, text string) error {
	l.log.Warn(text)
	answer, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": text}})
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err = l.out.Write(append(answer, '\n'))
	return err
}

// Write implements io.Writer, for one message.
func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, err := l.out.Write(p)
	var message struct{ Method string }
	if json.Unmarshal(p, &message) == nil && message.Method == "" {
		l.open--
	}
	if l.open == 0 && l.answered != nil {
		close(l.answered)
		l.answered = nil
	}
	return n, err
}

// awaitAnswers waits, at the end of the input, for the answers to what was asked: the
// library would leave them out. What takes longer than grace ends with the connection.
func (l *lines) awaitAnswers() {
	l.mu.Lock()
	answered := make(chan struct{})
	if l.open == 0 {
		close(answered)
	} else {
		l.answered = answered
	}
	l.mu.Unlock()
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case <-answered:
	case <-late.C:
	}
}

// Close implements io.Closer: the ends belong to the process.
func (l *lines) Close() error { return nil }
