//go:build unix

package verbs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
)

// interrupted is a body in the middle of which Ctrl+C comes.
type interrupted struct {
	ctx  context.Context
	read bool
}

func (r *interrupted) Read(p []byte) (int, error) {
	if !r.read {
		r.read = true
		return copy(p, "half of it"), nil
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
		return 0, err
	}
	<-r.ctx.Done()
	return 0, r.ctx.Err()
}

// Ctrl+C in the middle of a file leaves no part of it, and the file that was there.
// Not parallel: the signal goes to the process.
func TestInterruptedFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	err := cli.Interruptible(t.Context(), func(ctx context.Context) error {
		_, err := writeFile(file, &interrupted{ctx: ctx})
		return err
	})
	var code cli.ExitCode
	if !errors.As(err, &code) || code != cli.ExitInterrupted {
		t.Errorf("got %v, want exit code %d", err, cli.ExitInterrupted)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("the folder holds %v, %v: want one file", left, err)
	}
	if text, err := os.ReadFile(file); string(text) != "old" || err != nil {
		t.Errorf("the file holds %q, %v", text, err)
	}
}
