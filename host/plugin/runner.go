package plugin

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"

	"github.com/hashicorp/go-plugin/runner"

	"github.com/redeliver/redeliver/host/process"
)

// childRunner runs the program for go-plugin, which sees nothing of its output but the
// first line.
type childRunner struct {
	child     *process.Child
	env       []string // of the handshake
	stdout    *firstLine
	handshake *io.PipeReader
}

var _ runner.Runner = (*childRunner)(nil)

func newRunner(child *process.Child, handshakeEnv []string) *childRunner {
	pr, pw := io.Pipe()
	r := &childRunner{child: child, env: handshakeEnv, handshake: pr, stdout: &firstLine{to: pw, rest: child.Lines(false)}}
	child.Stdout = r.stdout
	return r
}

func (r *childRunner) Start(context.Context) error { return r.child.Start(r.env...) }
func (r *childRunner) Wait(context.Context) error  { return r.child.Wait() }

func (r *childRunner) Kill(context.Context) error {
	r.child.Kill()
	return nil
}

func (r *childRunner) Stdout() io.ReadCloser { return r.handshake }

// Stderr is empty for go-plugin; the lines go to Spec.Output.
func (r *childRunner) Stderr() io.ReadCloser { return io.NopCloser(strings.NewReader("")) }

func (r *childRunner) Name() string { return r.child.Path() }

// ID is never empty: go-plugin then cleans up after a start that failed too.
func (r *childRunner) ID() string { return "handler" }

func (r *childRunner) Diagnose(context.Context) string { return "" }

func (r *childRunner) PluginToHost(network, address string) (string, string, error) {
	return network, address, nil
}

func (r *childRunner) HostToPlugin(network, address string) (string, string, error) {
	return network, address, nil
}

// firstLine passes the first line of standard output to go-plugin, whose
// handshake it should be, and makes lines of the rest.
type firstLine struct {
	to   *io.PipeWriter
	rest io.WriteCloser

	mu   sync.Mutex
	line []byte
	full bool // the line is complete, or it can be no handshake
}

// maxHandshake is more than any handshake needs, a certificate included.
const maxHandshake = 16 << 10

func (f *firstLine) Write(b []byte) (int, error) {
	n := len(b)
	f.mu.Lock()
	full := f.full
	if !full {
		i := bytes.IndexByte(b, '\n')
		head := b
		if i >= 0 {
			head, b = b[:i], b[i+1:]
		} else {
			b = nil
		}
		f.line = append(f.line, head[:min(len(head), maxHandshake-len(f.line))]...)
		f.full = i >= 0 || len(f.line) == maxHandshake
		full = f.full
		if full {
			defer f.pass()
		}
	}
	f.mu.Unlock()
	if len(b) > 0 {
		_, _ = f.rest.Write(b)
	}
	return n, nil
}

// pass hands the line over.
func (f *firstLine) pass() {
	f.mu.Lock()
	line := append(bytes.Clone(f.line), '\n')
	f.mu.Unlock()
	_, _ = f.to.Write(line)
	_ = f.to.Close()
}

// Close ends the line and the rest.
func (f *firstLine) Close() error {
	_ = f.to.Close()
	return f.rest.Close()
}

// text returns the line, as far as it is there.
func (f *firstLine) text() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.ToValidUTF8(string(f.line), "\uFFFD")
}
