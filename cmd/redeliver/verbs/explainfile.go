package verbs

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/host/explain"
	"github.com/redeliver/redeliver/host/journal"
)

// explainCommand is Explain, which also reads the journal of a host that is no more.
func explainCommand(std cli.Streams) *cobra.Command {
	cmd := Explain.Command(std)
	running := cmd.RunE
	var file string
	cmd.Flags().StringVar(&file, "journal", "", "read this file, the output of start --output json or of a test kit, and not a running host (- is the standard input)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !cmd.Flags().Changed("journal") {
			return running(cmd, args)
		}
		return explainFile(cmd, std, file, args)
	}
	return cmd
}

func explainFile(cmd *cobra.Command, std cli.Streams, file string, args []string) error {
	records, err := readJournal(std, file)
	if err != nil {
		return err
	}
	var about explain.Subject
	if len(args) > 0 {
		about.Message = args[0]
	}
	about.Function, _ = cmd.Flags().GetString("function") // the command has both
	last, err := strconv.Atoi(cmd.Flag("last").Value.String())
	if err != nil || last < 1 {
		return cli.Misused(errors.New("last must be a number of 1 or more"))
	}
	var out explain.Told
	if out.Tell(records, about, last); len(out.Lives)+len(out.Orchestrations) == 0 && (about.Message != "" || about.Function != "") {
		return cli.Hinted(fmt.Errorf("the journal %s has no such message", file), `"redeliver explain --journal `+cli.ShellWord(file)+`" without a message tells the latest ones`)
	}
	if len(records) > 0 {
		out.Now = records[len(records)-1].Time
	}
	if asJSON, _ := cmd.Flags().GetBool("json"); asJSON {
		text, err := json.MarshalIndent(out, "", "  ")
		if err == nil {
			_, err = std.Out.Write(append(text, '\n'))
		}
		return err
	}
	_, err = io.WriteString(std.Out, explained(nil, &out))
	return err
}

// readJournal reads records, a line each. Lines of another kind are left out, such as the
// endpoints at the beginning, and so is a last line that is cut off: the host was killed while
// it wrote it.
func readJournal(std cli.Streams, file string) (records []journal.Record, err error) {
	from := std.In
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		from = f
	}
	lines := bufio.NewReader(from)
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 && !bytes.HasPrefix(line, []byte(`{"version":`)) && !bytes.HasPrefix(line, []byte(`{"missed":`)) {
			r, wrong := journal.Read(line)
			switch cut := errors.Is(err, io.EOF) && line[0] == '{' && len(records) > 0; {
			case wrong == nil:
				records = append(records, r)
			case cut:
				cli.NewConsole(std, true).Warn(fmt.Sprintf("%s:%d: the last line is cut off, and left out", file, number))
			default:
				return nil, fmt.Errorf("%s:%d: this is no line of a journal: %w", file, number, wrong)
			}
		}
		if errors.Is(err, io.EOF) {
			return records, nil
		}
		if err != nil {
			return nil, err
		}
	}
}
