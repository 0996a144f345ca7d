package verbs

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/mcp"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/cmd/redeliver/show"
	"github.com/redeliver/redeliver/host/app/hostjson"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/ops/run"
	"github.com/redeliver/redeliver/host/timespan"
	"github.com/redeliver/redeliver/schemas"
)

// LogFilter says which records "redeliver logs" shows.
type LogFilter struct {
	Function string // its name, whatever the case
	Message  string // beginning of a message's identity; a delivery; an invocation
	Failed   bool   // only failures, and what ends badly
}

// FollowLogs is "redeliver logs", by hand since it asks the host twice (what runs, then the
// journal) and filters and prints records here, as "redeliver start" does.
func FollowLogs(std cli.Streams) *cobra.Command {
	r := &remote.Remote{Std: std}
	var f LogFilter
	var since string
	var verbose bool
	cmd := r.Shows(&cobra.Command{
		Use:     "logs",
		Aliases: []string{"watch"},
		Short:   "Follow deliveries and attempts of the running host",
		Long: `Logs prints what happens in the running host, in the lines of "redeliver start":
each attempt, each settlement, what handlers write. It goes on until the host
ends, or Ctrl+C. Times are times of the host's clock.

--since begins earlier: a duration (10m: the last ten minutes of the host's
clock), or the sequence number of a record; --since 1 shows all that the journal
keeps. logging.logLevel of host.json hides lines as in "start"; --verbose shows
all. What has left the journal is said, with how many records it keeps.
Filters are joined: a line is shown when all of them want it. --failed shows
failed attempts, messages that are released, poison or dead-lettered, open
circuits, and what went wrong with the app and its services. --json prints the
records of the journal, one JSON object a line.`,
		Example: `  redeliver logs
  redeliver logs --function ProcessOrder --failed
  redeliver logs --message 1f0c --since 1
  redeliver logs --since 10m --json`,
		Args: cli.Arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := r.Find()
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			defer context.AfterFunc(ctx, std.Watch().Leave)()
			l := &logs{c: c, out: cli.NewConsole(std, false), json: r.AsJSON, verbose: verbose, filter: f}
			if err := l.follow(ctx, since); ctx.Err() == nil {
				return err
			}
			return nil
		},
	})
	flags := cmd.Flags()
	flags.StringVar(&f.Function, "function", "", "show only this function")
	flags.StringVar(&f.Message, "message", "", "show only this message (or the beginning of its identity), delivery or invocation")
	flags.BoolVar(&f.Failed, "failed", false, "show only what failed")
	flags.StringVar(&since, "since", "", "begin earlier: a `DURATION` of the host's clock (10m), or a sequence number (1: all)")
	flags.BoolVarP(&verbose, "verbose", "v", false, "also show events of services and processes, and lines that host.json hides")
	return cmd
}

// logs follows the journal of a running host.
type logs struct {
	c       *remote.Client
	out     *cli.Console
	json    bool
	verbose bool
	filter  LogFilter

	host   run.Status // at the beginning
	from   time.Time  // records before it are not shown
	mode   clock.Pace
	runs   bool
	hushed string // what was said of lines that are hidden
	gone   uint64 // records before the first one that came
	came   bool   // the first one
}

// follow prints until the host ends, or ctx.
func (l *logs) follow(ctx context.Context, since string) error {
	first, err := l.begin(ctx, since)
	if err != nil {
		return err
	}
	resp, err := l.c.Ask(ctx, run.ReadJournal{Since: first, Follow: true})
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	l.out.Say("info", "following the host at "+l.c.Base+"; Ctrl+C ends this")
	l.hush()
	p := l.printer()
	lines := bufio.NewReader(resp.Body)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break // the host has ended, in good order or not
		}
		if err := l.take(ctx, p, bytes.TrimSuffix(line, []byte("\n"))); err != nil {
			return err
		}
	}
	if ctx.Err() == nil {
		l.out.Say("info", "the host at "+l.c.Base+" has ended")
	}
	return nil
}

// begin asks the host what it runs, and says with which record to begin.
func (l *logs) begin(ctx context.Context, since string) (first int64, err error) {
	ago, first, err := parseSince(since)
	if err != nil {
		return 0, err
	}
	if l.host, err = remote.Call(ctx, l.c, run.GetStatus{}); err != nil {
		return 0, err
	}
	l.mode, l.runs = l.host.Clock.Mode, l.host.Report != nil
	switch {
	case ago > 0:
		first, l.from = 1, l.host.Clock.Now.Add(-ago)
	case first == 0:
		first = int64(l.host.Journal) + 1
	}
	return first, l.known()
}

// logged is a part of the journal.
type logged struct {
	Before  int               `json:"before,omitempty"` // lines that were asked for and are not shown
	Records []json.RawMessage `json:"records"`
}

// Logs are the latest lines of the journal that are wanted, and their records.
func Logs(ctx context.Context, c *remote.Client, f LogFilter, verbose bool, since string, most int) (mcp.Answer, error) {
	var said, line bytes.Buffer
	l := &logs{c: c, verbose: verbose, filter: f}
	l.out = cli.NewConsole(cli.Streams{Out: &line, Err: &said}, true)
	first, err := l.begin(ctx, since)
	if err != nil {
		return mcp.Answer{}, err
	}
	resp, err := l.c.Ask(ctx, run.ReadJournal{Since: first})
	if err != nil {
		return mcp.Answer{}, err
	}
	defer resp.Body.Close()
	l.hush()
	p, from := l.printer(), bufio.NewReader(resp.Body)
	var kept []entry
	before := 0
	for {
		record, err := from.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break // that was all
		} else if err != nil {
			return mcp.Answer{}, l.c.Unreachable(err)
		}
		if err := l.take(ctx, p, bytes.TrimSuffix(record, []byte("\n"))); err != nil {
			return mcp.Answer{}, err
		}
		if line.Len() == 0 {
			continue
		}
		if len(kept) == 2*most { // half of them are too old
			kept = append(kept[:0], kept[most:]...)
			before += most
		}
		e := entry{strings.TrimSuffix(line.String(), "\n"), bytes.TrimSpace(record)}
		mcp.Shorten(&e)
		kept = append(kept, e)
		line.Reset()
	}
	return gathered(said.String(), kept, before, most), nil
}

// An entry is a record of the journal and what is printed of it.
type entry struct {
	Text   string
	Record json.RawMessage
}

// gathered are the latest entries that there is room for, most at most.
func gathered(said string, kept []entry, before, most int) mcp.Answer {
	room, old := mcp.NewRoom(), len(kept)
	for old > max(len(kept)-most, 0) && room.Takes(kept[old-1].Text, kept[old-1].Record) {
		old--
	}
	data, text := logged{Before: before + old, Records: []json.RawMessage{}}, strings.Builder{}
	text.WriteString(said)
	if data.Before > 0 {
		cli.Writef(&text, "... %d lines before these: function, message, failed and since choose among them, and a larger max shows more where there is room\n", data.Before)
	}
	for _, e := range kept[old:] {
		text.WriteString(e.Text + "\n")
		data.Records = append(data.Records, e.Record)
	}
	if len(kept) == 0 {
		text.WriteString("nothing of that is in the journal\n")
	}
	return mcp.Answer{Text: text.String(), Data: data}
}

// known refuses a filter for a function that the app does not have, and completes the name
// of one that only one of several apps has.
func (l *logs) known() error {
	if l.filter.Function == "" || l.host.Report == nil {
		return nil
	}
	var names, of []string
	for i := range l.host.Report.Functions {
		name := l.host.Report.Functions[i].Name
		if strings.EqualFold(name, l.filter.Function) {
			return nil
		}
		if strings.EqualFold(name[strings.LastIndexByte(name, '/')+1:], l.filter.Function) {
			of = append(of, name)
		}
		names = append(names, name)
	}
	switch len(of) {
	case 0:
	case 1:
		l.filter.Function = of[0]
		return nil
	default:
		return cli.Hinted(fmt.Errorf("%d apps of this run have a function %q", len(of), l.filter.Function), "say which: "+strings.Join(of, " or "))
	}
	hint := `"redeliver ls" lists the functions`
	if near := schemas.Nearest(l.filter.Function, names); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return cli.Hinted(fmt.Errorf("the app has no function %q", l.filter.Function), hint)
}

// parseSince reads where to begin: so long ago, or a sequence number; neither is now.
func parseSince(text string) (ago time.Duration, first int64, err error) {
	if text == "" {
		return 0, 0, nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n > 0 {
		return 0, n, nil
	}
	if d, err := timespan.Parse(text); err == nil && d > 0 {
		return d, 0, nil
	}
	return 0, 0, cli.Misused(fmt.Errorf("--since %q: want a duration above 0, %s, or a sequence number from 1", text, timespan.Forms))
}

// printer is the printer of "redeliver start", for a host in another process.
func (l *logs) printer() *show.Printer {
	of := show.Of{
		Out: l.out, JSON: l.json, Verbose: l.verbose, Day: l.host.Clock.Now.Local(),
		Pace: func() clock.Pace { return l.mode }, Running: func() bool { return l.runs },
		Ends:  func(status string) bool { return strings.HasPrefix(status, "signal: ") },
		Wants: func(rec *journal.Record) bool { return !rec.Time.Before(l.from) && l.filter.admits(rec) },
		Since: l.host.Journal + 1, Levels: l.levels, LevelsOf: l.levelsOf,
	}
	if l.host.Report != nil {
		for i := range l.host.Report.Functions {
			of.Width = max(of.Width, len([]rune(l.host.Report.Functions[i].Name)))
		}
	}
	return show.New(of)
}

// levels are those of the app that runs.
func (l *logs) levels() hostjson.LogLevels {
	if l.host.Report == nil {
		return nil
	}
	return l.host.Report.LogLevels
}

// levelsOf are those of one of several apps.
func (l *logs) levelsOf(name string) hostjson.LogLevels {
	for i := range l.host.Apps {
		if l.host.Apps[i].Name == name {
			return l.host.Apps[i].LogLevels
		}
	}
	return l.levels()
}

// hush says that lines are hidden, when that was not said.
func (l *logs) hush() {
	if l.host.Report == nil || l.verbose || l.json || len(l.host.Apps) > 0 {
		return
	}
	names := make([]string, len(l.host.Report.Functions))
	for i := range names {
		names[i] = l.host.Report.Functions[i].Name
	}
	if text := show.Hushed(l.levels(), names); text != l.hushed {
		if l.hushed = text; text != "" {
			l.out.Say("info", text)
		}
	}
}

// take prints a line of the journal.
func (l *logs) take(ctx context.Context, p *show.Printer, line []byte) error {
	var gap struct{ Missed uint64 }
	if err := json.Unmarshal(line, &gap); err != nil {
		return fmt.Errorf("journal of %s: %w", l.c.Base, err)
	}
	if gap.Missed > 0 {
		if !l.came {
			l.gone = gap.Missed
		} else {
			p.Missing(gap.Missed)
		}
		return nil
	}
	rec, err := journal.Read(line)
	if err != nil {
		return fmt.Errorf("journal of %s: record %d: %w", l.c.Base, rec.Seq, err)
	}
	if !l.came {
		l.came = true
		l.left(&rec)
	}
	switch rec.Kind {
	case journal.GenerationLoaded:
		l.runs = true
		if now, err := remote.Call(ctx, l.c, run.GetStatus{}); err == nil { // else it has ended, and says so
			l.host.Report, l.host.Apps = now.Report, now.Apps
			l.hush()
		}
	case journal.ClockMoved:
		if rec.Cause == "mode" {
			l.mode = clock.Pace(rec.Name)
		}
	}
	if !l.json {
		p.Show(&rec, 0)
	} else if p.Wanted(&rec) {
		l.out.Print(string(line) + "\n") // as it came: it may have members that this program does not know
	}
	if out, ok := l.out.Out.(*cli.Output); ok {
		return out.Failure()
	}
	return nil
}

// left says, by the first record that came, which of those that were asked for have left
// the journal, and how many it keeps.
func (l *logs) left(first *journal.Record) {
	if l.gone == 0 || first.Time.Before(l.from) {
		return
	}
	kept := max(l.host.Journal+1, first.Seq+1) - first.Seq
	l.out.Warn(fmt.Sprintf("records before number %d (%s) have left the journal, which keeps %d now", first.Seq, first.Time.Local().Format(time.TimeOnly), kept))
}

// admits reports whether a record is to be shown.
func (f *LogFilter) admits(rec *journal.Record) bool {
	if f.Function != "" && !strings.EqualFold(rec.Function, f.Function) {
		return false
	}
	return (f.Message == "" || f.means(rec)) && (!f.Failed || failure(rec))
}

// means reports whether a record is about the message, delivery or invocation, as
// "redeliver explain" takes them.
func (f *LogFilter) means(rec *journal.Record) bool {
	begins := len(rec.MessageID) >= len(f.Message) && strings.EqualFold(rec.MessageID[:len(f.Message)], f.Message)
	return begins || rec.Delivery == f.Message || rec.Invocation == f.Message
}

// failure reports whether a record tells of something that went wrong.
func failure(rec *journal.Record) bool {
	switch rec.Kind {
	case journal.AttemptEnded:
		return rec.Status != "succeeded"
	case journal.Settled:
		switch rec.Decision {
		case "deleted", "completed", "checkpointed", "responded", "recorded", "reported", "deferred":
			status, refused := show.Answered(rec)
			return refused || strings.HasPrefix(status, "with 5") || rec.Error != ""
		}
		return true
	case journal.HandlerLog:
		return rec.Level == "error" || rec.Level == "critical"
	case journal.EventAttempted:
		return rec.Status != "Delivered"
	case journal.ProcessExited:
		return rec.Error != ""
	case journal.DeadLettered, journal.EventDropped, journal.EventDelayed, journal.LockExpired, journal.ListenerLockLost,
		journal.RetriesExhausted, journal.RetryCancelled, journal.GenerationRefused, journal.FunctionError,
		journal.ServiceUnreachable, journal.FaultInjected, journal.CircuitOpened:
		return true
	}
	return false
}
