package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/host/emulator/servicebus/setting"
	"github.com/redeliver/redeliver/host/ops/run"
)

// A listing is one table of "redeliver ls". A service adds one of its own.
type listing struct {
	name    string   // as on the command line, e.g. "queues"
	columns []string // in capitals; the first names the thing
	numbers int      // how many of the last columns are numbers
	rows    func(inv *run.Inventory) [][]string
	quiet   bool // not shown when it is empty, unless it is asked for
}

// listings are the tables, in the order in which they are shown.
func listings() []listing {
	return []listing{
		{name: "functions", columns: []string{"FUNCTION", "TRIGGER", "STATE"}, rows: functionRows},
		{name: "queues", columns: []string{"QUEUE", "VISIBLE", "INVISIBLE"}, numbers: 2, rows: queueRows},
		{name: "containers", columns: []string{"CONTAINER", "BLOBS", "BYTES"}, numbers: 2, rows: containerRows},
		{name: "servicebus", columns: []string{"SERVICE BUS ENTITY", "ACTIVE", "SCHEDULED", "DEFERRED", "DEAD-LETTER", "TRANSFER DEAD-LETTER"}, numbers: 5, rows: busRows, quiet: true},
		{name: "eventgrid", columns: []string{"EVENT SUBSCRIPTION", "ENDPOINT", "STATE", "NEXT ATTEMPT", "PENDING", "DEAD LETTERS DUE"}, numbers: 2, rows: gridRows, quiet: true},
		{name: "deliveries", columns: []string{"EVENT", "SUBSCRIPTION", "LAST OUTCOME", "NEXT ATTEMPT", "ATTEMPTS"}, numbers: 1, rows: deliveryRows, quiet: true},
		{name: "eventhubs", columns: []string{"HUB/PARTITION", "CONSUMER GROUP", "EVENTS", "LAST", "CHECKPOINT", "BEHIND"}, numbers: 4, rows: hubRows, quiet: true},
		{name: "cosmos", columns: []string{"COSMOS CONTAINER", "LEASES", "OWNER", "RANGE", "DOCUMENTS", "CONTINUATION", "PENDING"}, numbers: 4, rows: cosmosRows, quiet: true},
		{name: "outputs", columns: []string{"OUTPUT", "TYPE", "RECORDED", "TO FAIL"}, numbers: 2, rows: outputRows, quiet: true},
	}
}

func functionRows(inv *run.Inventory) (rows [][]string) {
	for _, f := range inv.Functions {
		state := f.State
		switch {
		case f.State == run.FunctionDisabled && f.Detail != "":
			state += " (" + f.Detail + ")"
		case f.Detail != "":
			state += ": " + f.Detail
		}
		rows = append(rows, []string{f.Name, strings.TrimSpace(f.Trigger + " " + f.Source), state})
	}
	return rows
}

func queueRows(inv *run.Inventory) (rows [][]string) {
	for _, q := range inv.Queues {
		rows = append(rows, []string{q.Name, strconv.Itoa(q.Visible), strconv.Itoa(q.Invisible)})
	}
	return rows
}

func containerRows(inv *run.Inventory) (rows [][]string) {
	for _, c := range inv.Containers {
		rows = append(rows, []string{c.Name, strconv.Itoa(c.Blobs), strconv.FormatInt(c.Bytes, 10)})
	}
	return rows
}

// busRows lists the entities of Service Bus. A topic holds scheduled messages only.
func busRows(inv *run.Inventory) (rows [][]string) {
	for i := range inv.ServiceBus {
		e := &inv.ServiceBus[i]
		row := []string{e.Path}
		for n, count := range []int64{e.Active, e.Scheduled, e.Deferred, e.DeadLetter, e.TransferDeadLetter} {
			text := strconv.FormatInt(count, 10)
			if e.Kind == setting.Topic && n != 1 {
				text = "-"
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	return rows
}

func newLs(std cli.Streams) *cobra.Command {
	r := &remote.Remote{Std: std}
	var names []string
	for _, l := range listings() {
		names = append(names, l.name)
	}
	return r.Shows(&cobra.Command{
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
  redeliver ls --json`,
		Args:      func(_ *cobra.Command, args []string) error { return knownListings(args, names) },
		ValidArgs: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := r.Find()
			if err != nil {
				return err
			}
			if r.AsJSON {
				var raw json.RawMessage
				if err := c.Read(cmd.Context(), run.GetInventory{}, &raw); err != nil {
					return err
				}
				return writeInventory(std, raw, args)
			}
			inv, err := remote.Call(cmd.Context(), c, run.GetInventory{})
			if err == nil {
				showInventory(cli.NewConsole(std, false), &inv, args)
			}
			return err
		},
	})
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

// wanted reports whether a listing is asked for; without names all are.
func (l *listing) wanted(names []string) bool {
	return len(names) == 0 || slices.Contains(names, l.name)
}

// showInventory writes the tables that names ask for.
func showInventory(out *cli.Console, inv *run.Inventory, names []string) {
	var t strings.Builder
	for _, l := range listings() {
		rows := l.rows(inv)
		if !l.wanted(names) || l.quiet && len(rows) == 0 && len(names) == 0 {
			continue
		}
		if t.Len() > 0 {
			t.WriteByte('\n')
		}
		if len(rows) == 0 {
			cli.Writef(&t, "no %s\n", l.name)
			continue
		}
		writeTable(out, &t, l.columns, rows, l.numbers)
	}
	out.Print(t.String())
	if len(names) == 0 || slices.Contains(names, "functions") {
		for _, text := range inv.Errors {
			out.Warn("the app does not run: " + text)
		}
	}
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

// writeInventory writes what names ask for as JSON: all of it without names.
func writeInventory(std cli.Streams, raw json.RawMessage, names []string) error {
	v, err := chosenLists(raw, names)
	if err != nil {
		return err
	}
	return cli.WriteIndented(std, v)
}

// chosenLists are the lists of an inventory that names ask for: all of it without names.
func chosenLists(inv any, names []string) (any, error) {
	if len(names) == 0 {
		return inv, nil
	}
	text, err := json.Marshal(inv)
	if err != nil {
		return nil, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	chosen := map[string]json.RawMessage{}
	for _, name := range names {
		chosen[name] = fields[name]
	}
	return chosen, nil
}
