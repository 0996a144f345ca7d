package remote

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

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/host/ops/run"
)

// Destroys adds the flags of a command that takes away, moves or breaks what a host holds.
// The folder of an app says which host is meant; a port alone does not, since any host may
// have it.
func (r *Remote) Destroys(cmd *cobra.Command) *cobra.Command {
	r.careful = true
	cmd.Flags().BoolVarP(&r.yes, "yes", "y", false, "do not ask, though the host was found by its port and not by the folder of its app")
	return r.Changes(cmd)
}

// Reach is a client for the host that is meant, once a person agrees to a command that
// destroys.
func (r *Remote) Reach(ctx context.Context) (*Client, error) {
	c, err := r.Find()
	if err != nil || !r.careful || r.yes || c.Dir != "" {
		return c, err
	}
	st, err := Call(ctx, c, run.GetStatus{})
	if err != nil {
		return nil, err
	}
	in, asks := r.Std.In.(*os.File)
	if !asks || !term.IsTerminal(int(in.Fd())) {
		return nil, cli.Hinted(fmt.Errorf("the host at %s runs the app in %q, and was found by its port alone", c.Base, st.App),
			"name the app with --dir "+cli.ShellWord(cli.Short(st.App))+", or say --yes")
	}
	return c, agree(in, r.Std.Err, fmt.Sprintf("redeliver: the host at %s runs the app in %q: go on? [y/N] ", c.Base, cli.Printable(st.App)))
}

// agree asks a person, and fails unless the answer is yes.
func agree(in io.Reader, out io.Writer, question string) error {
	if _, err := io.WriteString(out, question); err != nil {
		return err
	}
	answer, err := bufio.NewReader(in).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("cannot read the standard input: %w", cli.Reason(err))
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return errors.New("nothing was done")
}
