package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/mcp"
	"github.com/redeliver/redeliver/cmd/redeliver/show"
	"github.com/redeliver/redeliver/cmd/redeliver/verbs"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/explain"
	"github.com/redeliver/redeliver/host/ops/all"
	"github.com/redeliver/redeliver/host/ops/run"
)

// tools are the tools of an assistant, the ones for looking first.
func (a *assistant) tools() []mcp.Tool {
	tool := func(name, title, about, choose, first string, ways ...mcp.Way) mcp.Tool {
		return mcp.Tool{Name: name, Title: title, About: about, Choose: choose, First: first, Ways: ways}
	}
	return []mcp.Tool{
		tool("explain", "Explain messages", "Why was a message tried so often, and where has it gone?", "", "",
			mcp.Operation(a.ask, "", mcp.Reads, run.Explain{}, latestText).Like(verbs.Explain.Command(a.std))),
		tool("ls", "List functions and services", "", "", "", a.list()),
		tool("peek", "Show messages", "Show what a queue, a Service Bus entity, a Cosmos DB container, a table or a recorded output holds, and change nothing.", "service", "", a.peeks()...),
		tool("blobs", "List blobs", "", "", "", a.listBlobs()),
		tool("download", "Read a blob", "", "", "", a.download()),
		tool("logs", "Read the journal", "", "", "", a.logs()),
		tool("check", "Check the app", "", "", "", a.check()),
		tool("test", "Run scenarios", "", "", "", a.test()),
		tool("send", "Send a message", "Send a message, an event or a document to a service of the running host: a function with a trigger for it gets it.", "service", "", a.sends()...),
		tool("invoke", "Run a function by hand", "", "", "",
			alone(verbs.Invoke.Way(a.ask))),
		tool("upload", "Write a blob", "", "", "", a.upload()),
		tool("create", "Make an entity", "Make an entity of Service Bus, Event Grid, Event Hubs or Cosmos DB, or a table.", "service", "", a.creates()...),
		tool("clock", "Show or move the clock", "The clock of the running host: retry waits, locks, timers and lifetimes follow it. Without an action it is shown.", "action", "show", a.clocks()...),
		tool("fail", "Make something fail", "Make something of the running host fail, to see what the app makes of it.", "what", "", a.fails()...),
		tool("expire_lock", "End locks of Service Bus", "", "", "",
			alone(verbs.ExpireLockBus.Way(a.ask))),
		tool("redrive", "Redrive poison messages", "Give poison messages and dead letters another chance.", "service", "", a.redrives()...),
		tool("purge", "Remove messages", "Remove the messages of a queue or an entity, the documents of a container, or the entities of a table.", "service", "",
			verbs.PurgeQueue.Way(a.ask), verbs.PurgeBus.Way(a.ask), verbs.PurgeCosmos.Way(a.ask), verbs.PurgeTable.Way(a.ask)),
		tool("delete", "Remove an entity", "Remove an entity of Service Bus, Event Grid or Cosmos DB, or a table, with all that it holds.", "service", "", a.deletes()...),
		tool("state", "Save or load the state", "Keep everything that the embedded services hold in a file of the folder, or put a kept state in its place.", "action", "", a.saveState(), a.loadState()),
		tool("reset", "Empty all services", "", "", "",
			alone(verbs.ResetState.Way(a.ask))),
	}
}

// mostPeeked is how many messages are shown where no number is asked for.
const mostPeeked = 20

// alone is the only way of a tool.
func alone(w mcp.Way) mcp.Way {
	w.Name = ""
	return w
}

func (a *assistant) peeks() []mcp.Way {
	return []mcp.Way{
		verbs.PeekQueue.Way(a.ask).Otherwise("max", mostPeeked),
		verbs.PeekBus.Way(a.ask).Otherwise("max", mostPeeked),
		verbs.PeekCosmos.Way(a.ask).Otherwise("max", mostPeeked),
		verbs.PeekTable.Way(a.ask).Otherwise("max", mostPeeked),
		verbs.PeekOutput.Way(a.ask).Otherwise("max", mostPeeked),
	}
}

func (a *assistant) sends() []mcp.Way {
	return []mcp.Way{
		verbs.SendQueue.Way(a.ask).Renamed("visibility", "delay"),
		verbs.SendBus.Way(a.ask), verbs.SendGrid.Way(a.ask), verbs.SendHub.Way(a.ask),
		verbs.SendCosmos.Way(a.ask), verbs.SendTable.Way(a.ask),
	}
}

func (a *assistant) clocks() []mcp.Way {
	look, set := verbs.GetClock.Way(a.ask), verbs.SetClock("", "").Way(a.ask).Among("mode", show.ClockModes...)
	look.Name, set.Name = "show", "set"
	return []mcp.Way{look, verbs.AdvanceClock.Way(a.ask), verbs.NextDeadline.Way(a.ask), set}
}

func (a *assistant) fails() []mcp.Way {
	services := all.Table().Faults()
	fault := func(v verbs.Verb[run.AddFault, run.Faults]) mcp.Way {
		w := v.Way(a.ask)
		w.About = mcp.Prose(cmp.Or(v.Long, v.Short+"."), 1)
		return w
	}
	return []mcp.Way{
		verbs.FailOutput.Way(a.ask).Renamed("body", "error"),
		fault(verbs.FailOperation(services)).Among("service", services.Names()...),
		fault(verbs.FailHandler),
		fault(verbs.FailDisk),
		verbs.FailHost.Way(a.ask).Among("point", verbs.Points()...),
		verbs.FailNothing.Way(a.ask),
		mcp.Asked(a.ask, "list", mcp.Reads, run.ListFaults{}, func(_ *run.ListFaults, out *run.Faults) string {
			if len(out.Faults) == 0 {
				return "no fault waits\n"
			}
			return verbs.FaultLines(out.Faults)
		}),
	}
}

func (a *assistant) redrives() []mcp.Way {
	grid := verbs.RedriveGrid.Way(a.ask).Renamed("id", "event")
	grid.About = mcp.Prose(verbs.RedriveGrid.Long, 1) // the operation is wider
	return []mcp.Way{verbs.RedriveQueue.Way(a.ask), verbs.RedriveBus.Way(a.ask), grid}
}

// latestText are the latest lives that an answer has room for; the others leave it.
func latestText(out *explain.Told) string {
	room, first := mcp.NewRoom(), len(out.Lives)
	for first > 0 && room.Takes(out.Lives[first-1].Text(), out.Lives[first-1]) {
		first--
	}
	out.Lives, out.More = out.Lives[first:], out.More+first
	text := verbs.Explain.Text(nil, &explain.Told{Now: out.Now, Lives: out.Lives})
	if out.More > 0 {
		text = fmt.Sprintf("... %s before these: function and message choose among them\n\n%s", cli.Plural(out.More, "message"), text)
	}
	return text
}

// list is "redeliver ls".
func (a *assistant) list() mcp.Way {
	lists := run.Listings(all.Table().Services())
	list := verbs.List(a.std, lists)
	return mcp.Way{
		About:  mcp.Prose(list.Long, 2),
		Answer: "Inventory", Part: true,
		Arguments: []mcp.Argument{{Name: "what", Schema: map[string]any{
			"type": "array", "items": map[string]any{"type": "string", "enum": verbs.ListNames(lists)}, "description": "some of the lists; default all",
		}}},
		Do: func(ctx context.Context, given map[string]any) (mcp.Answer, error) {
			var inv run.Inventory
			if err := a.ask(ctx, run.GetInventory{}, &inv); err != nil {
				return mcp.Answer{}, err
			}
			maskInventory(&inv)
			mcp.Shorten(&inv)
			what, text := texts(given["what"]), &bytes.Buffer{}
			if err := verbs.ShowLists(cli.NewConsole(cli.Streams{Out: text, Err: text}, true), lists, &inv, what); err != nil {
				return mcp.Answer{}, err
			}
			data, err := verbs.ChosenLists(&inv, what)
			return mcp.Answer{Text: text.String(), Data: data}, err
		},
	}
}

// hidden stands in the place of a key.
const hidden = "********"

// maskInventory hides what lets others in: keys of topics, and codes in the addresses of web
// hooks.
func maskInventory(inv *run.Inventory) {
	for i := range inv.EventGrid {
		topic := &inv.EventGrid[i]
		topic.Key = hidden
		for j := range topic.Subscriptions {
			s := &topic.Subscriptions[j]
			if u, err := url.Parse(s.Endpoint); err == nil && u.RawQuery != "" {
				s.Endpoint, _, _ = strings.Cut(s.Endpoint, "?")
				s.Endpoint += "?********"
			}
		}
	}
}

// How many lines of the journal an assistant reads: where it asks for no number, and at
// most.
const (
	usualLines = 100
	mostLines  = 1000
)

// logs is "redeliver logs" up to now.
func (a *assistant) logs() mcp.Way {
	w := mcp.Way{
		About:     "What has happened in the running host, in the lines of \"redeliver start\": each attempt, each settlement, what handlers write. Times are times of the host's clock. Filters are joined. The latest lines are told, up to now.",
		Arguments: mcp.Flags(verbs.FollowLogs(a.std).Flags(), "function", "message", "failed", "since", "verbose"),
		Do: func(ctx context.Context, given map[string]any) (mcp.Answer, error) {
			var f verbs.LogFilter
			f.Function, _ = given["function"].(string)
			f.Message, _ = given["message"].(string)
			f.Failed, _ = given["failed"].(bool)
			verbose, _ := given["verbose"].(bool)
			since, ok := given["since"].(string)
			if !ok || since == "" {
				since = "1"
			}
			most, ok := given["max"].(int64)
			if !ok {
				most = usualLines
			}
			if most < 1 || most > mostLines {
				return mcp.Answer{}, fmt.Errorf("max must be a number from 1 to %d", mostLines)
			}
			c, err := a.host()
			if err != nil {
				return mcp.Answer{}, err
			}
			defer c.HTTP.CloseIdleConnections()
			answer, err := verbs.Logs(ctx, c, f, verbose, since, int(most))
			return answer, a.ended(ctx, c, err)
		},
	}
	w.Arguments = append(w.Arguments, mcp.Argument{Name: "max", Schema: map[string]any{
		"type": "integer", "minimum": 1, "maximum": mostLines, "default": usualLines, "description": "so many lines, the latest",
	}})
	return w
}

// check is "redeliver check".
func (a *assistant) check() mcp.Way {
	cmd := newCheck(a.std)
	return mcp.Way{
		About:     mcp.Prose(cmd.Long, 1),
		Arguments: mcp.Flags(cmd.Flags(), "no-build"),
		Do: func(ctx context.Context, given map[string]any) (mcp.Answer, error) {
			noBuild, _ := given["noBuild"].(bool)
			report, err := check(ctx, a.app(), nil, app.EntityFiles{}, noBuild, show.NewLog(cli.NewConsole(a.std, true), false, time.Now))
			if err != nil {
				return mcp.Answer{}, err
			}
			var text bytes.Buffer
			err = writeReport(&text, report, "text")
			return mcp.Answer{Text: text.String(), Data: report}, err
		},
	}
}

// mostRepeats is how often an assistant has each scenario run in one call.
const mostRepeats = 1000

// mostListed is how many runs of scenarios are listed one by one; of more only those that did
// not pass.
const mostListed = 100

// tested is what came of scenarios.
type tested struct {
	Passed    int        `json:"passed"`
	Failed    int        `json:"failed"`
	Skipped   int        `json:"skipped"`
	Scenarios []testLine `json:"scenarios"`
	Faults    []string   `json:"faults,omitempty"` // of the files
}

// test is "redeliver test", in the folder and below it.
func (a *assistant) test() mcp.Way {
	cmd := newTest(a.std)
	files := mcp.Argument{Name: "files", Also: []string{"file", "dir", "path"}, Schema: map[string]any{
		"type": "array", "items": map[string]any{"type": "string"}, "description": "files of scenarios, or folders with such files; default the whole folder",
	}}
	return mcp.Way{
		About:     mcp.Prose(cmd.Long, 2),
		Effect:    mcp.Changes,
		Arguments: append([]mcp.Argument{files}, mcp.Flags(cmd.Flags(), "run", "seed", "repeat", "verbose")...),
		Do: func(ctx context.Context, given map[string]any) (mcp.Answer, error) {
			flags := &testFlags{output: "text", repeat: 1, parallel: runtime.NumCPU()}
			flags.run, _ = given["run"].(string)
			flags.seed, _ = given["seed"].(string)
			flags.verbose, _ = given["verbose"].(bool)
			if n, ok := given["repeat"].(int64); ok {
				flags.repeat = int(n)
			}
			if flags.repeat > mostRepeats {
				return mcp.Answer{}, fmt.Errorf("repeat must be a number from 1 to %d", mostRepeats)
			}
			paths, err := a.below(texts(given["files"]))
			if err != nil {
				return mcp.Answer{}, err
			}
			var text bytes.Buffer
			r, err := flags.report(ctx, cli.Streams{Out: &text, Err: &text}, paths)
			if err != nil {
				return mcp.Answer{}, err
			}
			out := tested{Passed: r.sum.Passed, Failed: r.sum.Failed, Skipped: r.sum.Skipped, Scenarios: []testLine{}}
			for _, res := range r.results {
				if len(r.results) <= mostListed || !res.Passed() {
					out.Scenarios = append(out.Scenarios, lineOf(res))
				}
			}
			for _, f := range r.faults {
				out.Faults = append(out.Faults, f.Error())
			}
			mcp.Shorten(&out)
			return mcp.Answer{Text: text.String(), Data: out}, nil
		},
	}
}

// texts are the texts of a list.
func texts(list any) (out []string) {
	all, _ := list.([]any)
	for _, one := range all {
		if text, ok := one.(string); ok && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}
