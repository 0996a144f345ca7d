package remote

import (
	"encoding/json"
	"io"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/host/ops"
)

// A Remote is a command for a running host: for which one, and whether it writes the
// host's answer as JSON.
type Remote struct {
	Target
	Std    cli.Streams
	AsJSON bool

	careful bool // it destroys: a host that was found by its port alone is not enough
	yes     bool
}

// plain adds the flags of a command that has no answer to write as JSON.
func (r *Remote) plain(cmd *cobra.Command) *cobra.Command {
	addTarget(cmd, &r.Target)
	return cmd
}

// Changes adds the flags of a command that changes something, --json with them.
func (r *Remote) Changes(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().BoolVar(&r.AsJSON, "json", false, "write the host's answer as JSON")
	return r.plain(cmd)
}

// Shows adds the flags of a command that shows something: --output text or json, or
// --json for short.
func (r *Remote) Shows(cmd *cobra.Command) *cobra.Command {
	var output string
	cli.AddOutput(cmd, &output, "text", "text or json")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		r.AsJSON = output == "json"
		return cli.OneOf("output", output, "text", "json")
	}
	return r.plain(cmd)
}

// Tell asks the host for an operation, and writes the answer: as show does, or with --json as
// it came. An error of show is a failure that the answer tells of.
func Tell[Out any](cmd *cobra.Command, r *Remote, in ops.Request[Out], show func(to *cli.Console, out *Out) error, edit ...func(*http.Request)) error {
	c, err := r.Reach(cmd.Context())
	if err != nil {
		return err
	}
	if !r.AsJSON {
		out, err := Call(cmd.Context(), c, in, edit...)
		if err == nil {
			err = show(cli.NewConsole(r.Std, true), &out)
		}
		return err
	}
	var none Out
	if _, empty := any(none).(ops.None); empty {
		if _, err := Call(cmd.Context(), c, in, edit...); err != nil {
			return err
		}
		return cli.WriteIndented(r.Std, struct{}{})
	}
	var raw json.RawMessage
	if err := c.Read(cmd.Context(), in, &raw, edit...); err != nil {
		return err
	}
	if err := cli.WriteIndented(r.Std, raw); err != nil {
		return err
	}
	quiet := cli.NewConsole(cli.Streams{Out: io.Discard, Err: io.Discard}, true)
	if json.Unmarshal(raw, &none) == nil && show(quiet, &none) != nil {
		return cli.ExitCode(cli.ExitFailure)
	}
	return nil
}

// Text shows an answer as a text.
func Text[Out any](text func(out *Out) string) func(to *cli.Console, out *Out) error {
	return func(to *cli.Console, out *Out) error {
		to.Print(text(out))
		return nil
	}
}

// Say writes what a command has done: as text, or with --json.
func (r *Remote) Say(done any, text string) error {
	if r.AsJSON {
		return cli.WriteIndented(r.Std, done)
	}
	cli.NewConsole(r.Std, true).Print(text)
	return nil
}

// Written is a file that a command has written.
type Written struct {
	File        string `json:"file"`
	Bytes       int64  `json:"bytes"`
	ContentType string `json:"contentType,omitempty"`
}
