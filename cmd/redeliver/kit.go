package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/host/kit"
	hostprocess "github.com/redeliver/redeliver/host/process"
)

func newKit(std cli.Streams) *cobra.Command {
	parent := 0
	cmd := &cobra.Command{
		Use:   "kit",
		Short: "Serve a fresh host to each test of a test run, in any language",
		Long: `Kit is the server behind the test kits: one process for a test run, in which
each test starts a host of its own. A host has its own services, journal and
clock, which begins at the same instant with the same seed, and moves only when
the test moves it.

Nobody types this command: a kit starts it. It prints one line of JSON with its
address, the address for attached workers and a token, and ends, with all its
hosts and their processes, when its standard input ends, and when the process
of --parent does: a pipe stays open as long as any process has inherited it.
docs/kit.md says what it is for, docs/kit-protocol.md how it is spoken to.`,
		Example: `  redeliver kit < pipe`,
		Args:    cli.Arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			if parent < 0 || cmd.Flags().Changed("parent") && parent == 0 {
				return fmt.Errorf("--parent %d: want the number of a process", parent)
			}
			k, err := kit.New(kit.Options{Version: cli.Version()})
			if err != nil {
				return err
			}
			defer k.Close()
			line, err := json.Marshal(k.Announcement())
			if err != nil {
				return err
			}
			if _, err := std.Out.Write(append(line, '\n')); err != nil {
				return err
			}
			ended, end := context.WithCancel(ctx)
			go func() { // ends with the process: nothing interrupts a read
				defer end()
				_, _ = io.Copy(io.Discard, std.In)
			}()
			if parent > 0 {
				go func() { // ends with the process too
					defer end()
					hostprocess.AwaitEnd(parent)
				}()
			}
			<-ended.Done()
			return nil
		},
	}
	cmd.Flags().IntVar(&parent, "parent", 0, "end when the process of this number ends, too")
	return cmd
}
