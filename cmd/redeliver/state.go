package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/ops/run"
)

func newState(std streams) *cobra.Command {
	cmd := group("state save|load|reset", "Save, load or empty the state of the running host", newStateSave(std), newStateLoad(std), newStateReset(std))
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

func newStateSave(std streams) *cobra.Command {
	r := &remote{std: std}
	return r.changes(&cobra.Command{
		Use:   "save FILE|-",
		Short: "Write the state to a file",
		Long: `Save writes the state, as it is at one moment, to FILE or to the standard
output.`,
		Example: `  redeliver state save before.state`,
		Args:    arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := r.find()
			if err != nil {
				return err
			}
			return interruptible(cmd.Context(), func(ctx context.Context) error {
				resp, err := c.ask(ctx, run.SaveState{})
				if err != nil {
					return err
				}
				defer resp.Body.Close()
				if args[0] == "-" {
					_, err := io.Copy(std.out, resp.Body)
					return err
				}
				n, err := writeFile(args[0], resp.Body)
				if err != nil {
					return err
				}
				return r.say(written{args[0], n, ""}, textf("saved the state to %q (%s)\n", args[0], plural(int(n), "byte")))
			})
		},
	})
}

func newStateLoad(std streams) *cobra.Command {
	r := &remote{std: std}
	return r.destroys(&cobra.Command{
		Use:   "load FILE|-",
		Short: "Replace the state by a saved one",
		Long: `Load replaces the state of all services by a saved one. It changes nothing when
the file cannot be read. Times are kept: a clock that has not reached the last
change of the state is moved there, and everything due on the way happens.`,
		Example: `  redeliver state load before.state`,
		Args:    arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			in, err := openInput(std, args[0])
			if err != nil {
				return err
			}
			defer in.Close()
			if args[0] == "-" {
				r.std.in = nil // it is the state, and no answer
			}
			c, err := r.reach(cmd.Context())
			if err != nil {
				return err
			}
			done, err := call(cmd.Context(), c, run.LoadState{Archive: in}, in.measured)
			if err != nil {
				return err
			}
			if r.asJSON {
				return writeIndented(std, done)
			}
			out := newConsole(std, true)
			if args[0] == "-" {
				out.print("loaded the state from the standard input\n")
			} else {
				out.printf("loaded the state of %q\n", args[0])
			}
			if done.MovedMS > 0 {
				out.say("info", fmt.Sprintf("the clock was moved by %s, to the last change of the state", roundTime(time.Duration(done.MovedMS)*time.Millisecond)))
			}
			return nil
		},
	})
}

func newStateReset(std streams) *cobra.Command {
	r := &remote{std: std}
	return r.destroys(&cobra.Command{
		Use:   "reset",
		Short: "Empty every embedded service",
		Long: `Reset removes every queue and blob, with them the status of timers and
checkpoints, every Service Bus entity, event hub, Cosmos DB container and Event
Grid topic, and all recorded outputs. It ends every "fail output". Entities that
the running app describes in host.json or names in functions are made again,
empty. The journal stays.`,
		Args:    arguments(0, 0),
		Example: `  redeliver state reset`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return tell(cmd, r, run.ResetState{}, func(*ops.None) string { return resetText })
		},
	})
}

const resetText = "removed everything from queues, blobs, Service Bus, Event Hubs, Cosmos DB and Event Grid\n"
