package verbs

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/ops/run"
)

// A maker makes a command.
type maker = func(cli.Streams) *cobra.Command

// A group is a command that only has those of services below it.
type group struct {
	word, about, short string // about is the last word of its usage
	below              []maker
}

// groups are the commands that are for several services, with those that have words here.
func groups(table ops.Table) []group {
	return []group{
		{"send", "NAME [BODY|-]", "Send a message to a queue or topic of the running host", []maker{
			SendQueue.Command, SendBus.Command, SendGrid.Command, SendHub.Command, SendCosmos.Command, SendTable.Command, RaiseEvent.Command,
		}},
		{"peek", "NAME", "Show the messages, documents or outputs that the running host holds", []maker{
			PeekQueue.Command, PeekBus.Command, PeekCosmos.Command, PeekTable.Command, PeekOutput.Command,
		}},
		{"purge", "NAME", "Remove the messages of a queue, the documents of a container or the entities of a table", []maker{
			PurgeQueue.Command, PurgeBus.Command, PurgeCosmos.Command, PurgeTable.Command, PurgeOrchestrations.Command,
		}},
		{"redrive", "NAME", "Give poison messages and dead letters another chance", []maker{
			RedriveQueue.Command, RedriveBus.Command, RedriveGrid.Command, redriveCosmos,
		}},
		{"create", "NAME", "Make an entity of Service Bus, Event Grid, Event Hubs or Cosmos DB, or a table", []maker{
			CreateBus.Command, createGrid, CreateHub.Command, CreateCosmos.Command, CreateTable.Command,
		}},
		{"delete", "NAME", "Remove an entity of Service Bus, Event Grid or Cosmos DB, or a table", []maker{
			DeleteBus.Command, DeleteGrid.Command, DeleteCosmos.Command, DeleteTable.Command,
		}},
		{"expire-lock", "ENTITY", "End locks of Service Bus messages now", []maker{ExpireLockBus.Command}},
		{"fail", "output NAME", "Make something of the running host fail", []maker{
			FailOutput.Command, FailOperation(table.Faults()).Command, FailHandler.Command, FailDisk.Command, FailHost.Command, FailNothing.Command,
		}},
	}
}

// Commands are those for a running host with the services of a table.
func Commands(std cli.Streams, table ops.Table) (list []*cobra.Command) {
	for _, g := range groups(table) {
		var below []*cobra.Command
		var names []string
		for _, make := range g.below {
			below = append(below, make(std))
		}
		for _, cmd := range below {
			if !cmd.Hidden {
				names = append(names, cmd.Name())
			}
		}
		for _, row := range table {
			if row.Service == nil || row.Service.Name == "" || row.Operations == nil || slices.Contains(names, row.Service.Name) {
				continue
			}
			for _, op := range row.Operations() {
				if op.Verb == g.word && op.Service() == row.Service.Path && !slices.ContainsFunc(below, func(c *cobra.Command) bool { return c.Name() == row.Service.Name }) {
					below, names = append(below, plain(std, row.Service, op.Route)), append(names, row.Service.Name)
				}
			}
		}
		use := g.word + " " + strings.Join(names, "|") + " " + g.about
		if g.word == "fail" {
			use = g.word + " " + g.about
		}
		list = append(list, cli.Group(use, g.short, below...))
	}
	list = append(list, controlCommands(std)...)
	return append(list, RestartOrchestration.Command(std), SignalEntity.Command(std), ShowOrchestration.Command(std),
		List(std, run.Listings(table.Services())), explainCommand(std), FollowLogs(std), openPage(std),
		UploadBlob.Command(std), DownloadBlob.Command(std), Invoke.Command(std), clockCommand(std), stateCommand(std), Stop.Command(std))
}

// plain is the command for an operation that has no words here: those of its tags and of its
// service do, and the answer is shown as it comes.
func plain(std cli.Streams, s *ops.Service, op ops.Route) *cobra.Command {
	r, in := &remote.Remote{Std: std}, reflect.New(op.In).Elem()
	cmd := &cobra.Command{Short: op.Short}
	f := fill(cmd, in, nil, nil, nil)
	if f.file {
		panic("operation " + op.Name + " takes a file: it needs a Verb")
	}
	words := []string{s.Name}
	for _, p := range f.args {
		words = append(words, strings.ToUpper(p.Name))
	}
	if f.body.IsValid() {
		words = append(words, "[BODY|-]")
	}
	cmd.Use = strings.Join(words, " ")
	if len(s.Listings) > 0 {
		cmd.ValidArgsFunction = remote.CompleteFirst(&r.Target, remote.NoMore, NamesOf(s))
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := f.take(args); err != nil {
			return err
		}
		if err := f.takeBody(std, args, nil); err != nil {
			return err
		}
		c, err := r.Reach(cmd.Context())
		if err != nil {
			return err
		}
		var answer json.RawMessage
		if err := c.Read(cmd.Context(), in.Interface(), &answer); err != nil {
			return err
		}
		if len(answer) == 0 { // a status is all
			return nil
		}
		return cli.WriteIndented(std, answer)
	}
	return affecting(r, cmd, op.Effect)
}
