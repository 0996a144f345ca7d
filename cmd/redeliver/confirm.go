package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/redeliver/redeliver/host/ops/run"
)

// destroys adds the flags of a command that takes away, moves or breaks what a host holds.
// The folder of an app says which host is meant; a port alone does not, since any host may
// have it.
func (r *remote) destroys(cmd *cobra.Command) *cobra.Command {
	r.careful = true
	cmd.Flags().BoolVarP(&r.yes, "yes", "y", false, "do not ask, though the host was found by its port and not by the folder of its app")
	return r.changes(cmd)
}

// reach is a client for the host that is meant, once a person agrees to a command that
// destroys.
func (r *remote) reach(ctx context.Context) (*client, error) {
	c, err := r.find()
	if err != nil || !r.careful || r.yes || c.dir != "" {
		return c, err
	}
	st, err := call(ctx, c, run.GetStatus{})
	if err != nil {
		return nil, err
	}
	in, asks := r.std.in.(*os.File)
	if !asks || !term.IsTerminal(int(in.Fd())) {
		return nil, hinted(fmt.Errorf("the host at %s runs the app in %q, and was found by its port alone", c.base, st.App),
			"name the app with --dir "+shellWord(short(st.App))+", or say --yes")
	}
	return c, agree(in, r.std.err, fmt.Sprintf("redeliver: the host at %s runs the app in %q: go on? [y/N] ", c.base, printable(st.App)))
}

// agree asks a person, and fails unless the answer is yes.
func agree(in io.Reader, out io.Writer, question string) error {
	if _, err := io.WriteString(out, question); err != nil {
		return err
	}
	answer, err := bufio.NewReader(in).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("cannot read the standard input: %w", reason(err))
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return errors.New("nothing was done")
}
