package verbs

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/ops/run"
)

// List is "redeliver ls", by hand since its arguments choose among the lists of the table of
// services, and no tag of an operation names those.
func List(std cli.Streams, lists []ops.Listing) *cobra.Command {
	r := &remote.Remote{Std: std}
	names := ListNames(lists)
	var only ofDurable
	cmd := r.Shows(&cobra.Command{
		Use:   "ls [WHAT...]",
		Short: "List functions and what the services of the host hold",
		Long: `Ls shows what the running host has: its functions and whether they run, the
queues of the embedded storage with their messages, the containers with their
blobs, the entities of Service Bus with their messages, the event subscriptions
of Event Grid with their pending events, the partitions of Event Hubs with the
checkpoint of each consumer group, the containers of Cosmos DB with the leases
of each function, and the outputs that are recorded here, with the number of
values that functions have set on them. WHAT limits it to some of
` + strings.Join(names[:5], ", ") + `,
` + strings.Join(names[5:], ", ") + `.

A message is invisible while a function has it in work, while it waits for its
redelivery, and while its delay lasts. Snapshots of blobs do not count. Active
messages of Service Bus include the locked ones; a topic itself holds scheduled
ones only. Each delivery of Event Grid is shown with the time of its next
attempt. CHECKPOINT is the sequence number of the last event that a
consumer group is done with, and BEHIND counts the events after it. OWNER is the
function that has the lease of a range, CONTINUATION the last change that it is
done with, and PENDING counts the changes after it.`,
		Example: `  redeliver ls
  redeliver ls queues containers
  redeliver ls servicebus
  redeliver ls orchestrations --status Running
  redeliver ls --json`,
		Args:      func(_ *cobra.Command, args []string) error { return knownListings(args, names) },
		ValidArgs: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := r.Find()
			if err != nil {
				return err
			}
			var raw any = &json.RawMessage{}
			if chosen, err := only.lists(cmd.Context(), c, args); err != nil {
				return err
			} else if chosen != nil {
				raw = chosen
			} else if err := c.Read(cmd.Context(), run.GetInventory{}, raw); err != nil {
				return err
			}
			if r.AsJSON {
				v, err := ChosenLists(raw, args)
				if err != nil {
					return err
				}
				return cli.WriteIndented(std, v)
			}
			return ShowLists(cli.NewConsole(std, false), lists, raw, args)
		},
	})
	only.flags(cmd.Flags())
	return cmd
}

// ListNames are the names of lists.
func ListNames(lists []ops.Listing) (names []string) {
	for _, l := range lists {
		names = append(names, l.Name)
	}
	return names
}

// knownListings refuses words that name no listing.
func knownListings(args, names []string) error {
	for _, a := range args {
		if !slices.Contains(names, a) {
			return cli.Mistaken(fmt.Errorf("%q cannot be listed: want %s", a, cli.Choice(names)), a, names)
		}
	}
	return nil
}

// ShowLists writes those lists of an inventory that names ask for; without names all.
func ShowLists(out *cli.Console, lists []ops.Listing, inventory any, names []string) error {
	has, err := members(inventory)
	if err != nil {
		return err
	}
	var t strings.Builder
	for _, l := range lists {
		rows := l.Rows(has[l.Name])
		if len(names) > 0 && !slices.Contains(names, l.Name) || l.Quiet && len(rows) == 0 && len(names) == 0 {
			continue
		}
		if t.Len() > 0 {
			t.WriteByte('\n')
		}
		if len(rows) == 0 {
			cli.Writef(&t, "no %s\n", l.Name)
			continue
		}
		writeTable(out, &t, l.Columns, rows, l.Numbers)
	}
	out.Print(t.String())
	if len(names) == 0 || slices.Contains(names, "functions") {
		var why []string
		if err := json.Unmarshal(has["errors"], &why); len(has["errors"]) > 0 && err != nil {
			return err
		}
		for _, text := range why {
			out.Warn("the app does not run: " + text)
		}
	}
	return nil
}

// members are the lists of an inventory by their names, and what else it has.
func members(inventory any) (has map[string]json.RawMessage, err error) {
	text, err := json.Marshal(inventory)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &has); err != nil {
		return nil, err
	}
	var more map[string]json.RawMessage
	if err := json.Unmarshal(has["more"], &more); len(has["more"]) > 0 && err != nil {
		return nil, err
	}
	maps.Copy(has, more)
	return has, nil
}

// writeTable writes rows below a head; the last columns are numbers, so many of
// them as numbers says, and end at one place.
func writeTable(out *cli.Console, t *strings.Builder, head []string, rows [][]string, numbers int) {
	all := append([][]string{head}, rows...)
	width := make([]int, len(head))
	for _, row := range all {
		for i, text := range row {
			width[i] = max(width[i], utf8.RuneCountInString(text))
		}
	}
	for n, row := range all {
		cells := make([]cli.Cell, len(row))
		for i, text := range row {
			cells[i] = cli.Cell{Text: text, Width: width[i]}
			if i >= len(row)-numbers {
				cells[i].Text = strings.Repeat(" ", width[i]-utf8.RuneCountInString(text)) + text
			}
			if n == 0 {
				cells[i].Sgr = cli.Dim
			}
		}
		t.WriteString(out.Lay(out.Columns(), 1, cells...) + "\n")
	}
}

// ChosenLists are the lists of an inventory that names ask for: all of it without names.
func ChosenLists(inventory any, names []string) (any, error) {
	if len(names) == 0 {
		return inventory, nil
	}
	has, err := members(inventory)
	if err != nil {
		return nil, err
	}
	chosen := map[string]json.RawMessage{}
	for _, name := range names {
		chosen[name] = has[name]
	}
	return chosen, nil
}
