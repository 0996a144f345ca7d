package verbs

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/ops/run"
)

func stateCommand(std cli.Streams) *cobra.Command {
	cmd := cli.Group("state save|load|reset", "Save, load or empty the state of the running host", saveState(std), loadState(std), ResetState.Command(std))
	cmd.Long = `State means everything that the embedded services of the running host hold:
queues and blobs, with them the status of timers, the receipts of blobs and the
checkpoints of Event Hubs; entities and messages of Service Bus; event hubs and
their events; Cosmos DB containers with their documents and leases; topics,
subscriptions and undelivered events of Event Grid. A host in memory and one
with a data folder load what the other has saved.

A delivery that is in work when the state is replaced goes on to the end of its
attempts; its settlement then changes nothing, because its message is gone. A
message that was in work when the state was saved comes back when its lock ends.`
	return cmd
}

func saveState(std cli.Streams) *cobra.Command {
	r := &remote.Remote{Std: std}
	return r.Changes(&cobra.Command{
		Use:   "save FILE|-",
		Short: "Write the state to a file",
		Long: `Save writes the state, as it is at one moment, to FILE or to the standard
output.`,
		Example: `  redeliver state save before.state`,
		Args:    cli.Arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := r.Find()
			if err != nil {
				return err
			}
			return cli.Interruptible(cmd.Context(), func(ctx context.Context) error {
				resp, err := c.Ask(ctx, run.SaveState{})
				if err != nil {
					return err
				}
				defer resp.Body.Close()
				if args[0] == "-" {
					_, err := io.Copy(std.Out, resp.Body)
					return err
				}
				n, err := writeFile(args[0], resp.Body)
				if err != nil {
					return err
				}
				return r.Say(remote.Written{File: args[0], Bytes: n}, cli.Textf("saved the state to %q (%s)\n", args[0], cli.Plural(int(n), "byte")))
			})
		},
	})
}

func loadState(std cli.Streams) *cobra.Command {
	r := &remote.Remote{Std: std}
	return r.Destroys(&cobra.Command{
		Use:   "load FILE|-",
		Short: "Replace the state by a saved one",
		Long: `Load replaces the state of all services by a saved one. It changes nothing when
the file cannot be read. Times are kept: a clock that has not reached the last
change of the state is moved there, and everything due on the way happens.`,
		Example: `  redeliver state load before.state`,
		Args:    cli.Arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			in, err := openInput(std, args[0])
			if err != nil {
				return err
			}
			defer in.Close()
			if args[0] == "-" {
				r.Std.In = nil // it is the state, and no answer
			}
			c, err := r.Reach(cmd.Context())
			if err != nil {
				return err
			}
			done, err := remote.Call(cmd.Context(), c, run.LoadState{Archive: in}, in.measured)
			if err != nil {
				return err
			}
			if r.AsJSON {
				return cli.WriteIndented(std, done)
			}
			out := cli.NewConsole(std, true)
			if args[0] == "-" {
				out.Print("loaded the state from the standard input\n")
			} else {
				out.Printf("loaded the state of %q\n", args[0])
			}
			if done.MovedMS > 0 {
				out.Say("info", fmt.Sprintf("the clock was moved by %s, to the last change of the state", cli.RoundTime(time.Duration(done.MovedMS)*time.Millisecond)))
			}
			return nil
		},
	})
}

// ResetState empties the services.
var ResetState = Verb[run.ResetState, ops.None]{ // read only
	Use: "reset", Short: "Empty every embedded service",
	Long: `Reset removes every queue and blob, with them the status of timers and
checkpoints, every Service Bus entity, event hub, Cosmos DB container and Event
Grid topic, and all recorded outputs. It ends every "fail output". Entities that
the running app describes in host.json or names in functions are made again,
empty. The journal stays.`,
	Example: `  redeliver state reset`,
	Text: func(*run.ResetState, *ops.None) string {
		return "removed everything from queues, blobs, Service Bus, Event Hubs, Cosmos DB and Event Grid\n"
	},
}
