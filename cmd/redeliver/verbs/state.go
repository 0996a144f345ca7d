package verbs

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/ops/run"
)

func stateCommand(std cli.Streams) *cobra.Command {
	cmd := cli.Group("state save|load|reset", "Save, load or empty the state of the running host", SaveState.Command(std), LoadState.Command(std), ResetState.Command(std))
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

// SaveState writes what the services hold to a file.
var SaveState = Verb[run.SaveState, ops.Stream]{ // read only
	Use: "save FILE|-", Short: "Write the state to a file",
	Long: `Save writes the state, as it is at one moment, to FILE or to the standard
output.`,
	Example: `  redeliver state save before.state`,
	Brief:   true,
	What:    func(*run.SaveState) string { return "the state" },
	Kept: func(to remote.Written) string {
		return cli.Textf("saved the state to %q (%s)\n", to.File, cli.Plural(int(to.Bytes), "byte"))
	},
}

// LoadState puts a saved state in the place of what the services hold.
var LoadState = Verb[run.LoadState, run.StateLoaded]{ // read only
	Use: "load FILE|-", Short: "Replace the state by a saved one",
	Long: `Load replaces the state of all services by a saved one. It changes nothing when
the file cannot be read. Times are kept: a clock that has not reached the last
change of the state is moved there, and everything due on the way happens.`,
	Example: `  redeliver state load before.state`,
	Show: func(to *cli.Console, in *run.LoadState, done *run.StateLoaded) error {
		if from, ok := in.Archive.(*input); ok && from.file != "-" {
			to.Printf("loaded the state of %q\n", from.file)
		} else {
			to.Print("loaded the state from the standard input\n")
		}
		if done.MovedMS > 0 {
			to.Say("info", fmt.Sprintf("the clock was moved by %s, to the last change of the state", cli.RoundTime(time.Duration(done.MovedMS)*time.Millisecond)))
		}
		return nil
	},
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
