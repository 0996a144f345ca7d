package verbs

import (
	"bytes"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/mcp"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/ops/run"
)

// A Verb is the command for an operation of a running host.
type Verb[In ops.Request[Out], Out any] struct {
	In In // fields that are set are so in each call, and are neither argument nor flag

	Use, Short, Long, Example string

	Args  []string // the fields that are arguments, where the operation's tags do not say it
	Words []Word   // of flags for which the operation has others
	Only  []string // the fields that are flags; nil: all that the operation has
	Brief bool     // it has no --output, though it only shows something

	// First reads the first argument, where that says all that the operation requires; nil: each
	// required field is an argument.
	First func(in *In, arg string) error
	// Names completes the first argument; nil: it names something new, or nothing.
	Names func(inv *run.Inventory) []string
	// Complete completes all arguments, in the place of Names.
	Complete func(t *remote.Target, in *In) remote.Completion
	// Body reads the last argument; nil: it is the body, or "-" for the standard input.
	Body func(std cli.Streams, args []string) ([]byte, error)
	// Check refuses what cannot be before the host is asked, and may put it right.
	Check func(in *In) error
	// Instead does what an argument of another kind asks for; done is false when it is none.
	Instead func(cmd *cobra.Command, r *remote.Remote, in *In) (done bool, err error)

	Text func(in *In, out *Out) string // the answer for people
	// Show shows it in the place of Text; its error is a failure that the answer tells of.
	Show func(to *cli.Console, in *In, out *Out) error

	// Opened completes an operation whose body is a stream.
	Opened func(in *In, from *input)
	// Implied is the file of an answer that is a stream; nil: the last argument has to name it.
	Implied func(in *In) (string, error)
	What    func(in *In) string            // such an answer, in errors
	Kept    func(to remote.Written) string // what is said when it is in its file
}

// A Word is what a command says of a field in its own words; empty: as the operation has it.
type Word struct{ Field, Name, Usage string }

// Command makes the command.
func (v Verb[In, Out]) Command(std cli.Streams) *cobra.Command {
	r, in := &remote.Remote{Std: std}, v.In
	cmd := &cobra.Command{Use: v.Use, Short: v.Short, Long: v.Long, Example: v.Example}
	f := fill(cmd, reflect.ValueOf(&in).Elem(), v.Args, v.Words, v.Only)
	if v.First != nil {
		f.args, f.least, f.first = nil, 1, func(arg string) error { return v.First(&in, arg) }
		f.accept(cmd)
	}
	kept := v.kept()
	if kept {
		least := f.least + 1
		if v.Implied != nil {
			least--
		}
		cmd.Args = cli.Arguments(least, f.before()+1)
	}
	switch {
	case v.Complete != nil:
		cmd.ValidArgsFunction = v.Complete(&r.Target, &in)
	case v.Names != nil:
		cmd.ValidArgsFunction = remote.CompleteFirst(&r.Target, f.after(v.Body != nil), v.Names)
	case f.least > 0:
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := f.take(args); err != nil {
			return err
		}
		if v.Check != nil {
			if err := v.Check(&in); err != nil {
				return err
			}
		}
		if v.Instead != nil {
			if done, err := v.Instead(cmd, r, &in); done || err != nil {
				return err
			}
		}
		if kept {
			return v.keep(cmd, r, &in, args[f.before():])
		}
		if err := f.takeBody(std, args, v.Body); err != nil {
			return err
		}
		return v.tell(cmd, r, &in, f, args)
	}
	return affecting(r, cmd, v.effect())
}

// kept reports whether the answer is a stream, which goes to a file.
func (v Verb[In, Out]) kept() bool { return reflect.TypeFor[Out]() == reflect.TypeFor[ops.Stream]() }

// tell asks for the operation, with the file that is its body if there is one, and tells the
// answer.
func (v Verb[In, Out]) tell(cmd *cobra.Command, r *remote.Remote, in *In, f *filler, args []string) error {
	show := func(to *cli.Console, out *Out) error { return v.show(to, in, out) }
	if !f.file {
		return remote.Tell(cmd, r, *in, show)
	}
	from, err := openInput(r.Std, args[f.before()])
	if err != nil {
		return err
	}
	defer from.Close()
	v.take(in, from)
	if from.file == "-" {
		r.Std.In = nil // it is the body, and no answer
	}
	return remote.Tell(cmd, r, *in, show, from.measured)
}

// show shows an answer to people.
func (v Verb[In, Out]) show(to *cli.Console, in *In, out *Out) error {
	if v.Show != nil {
		return v.Show(to, in, out)
	}
	to.Print(v.Text(in, out))
	return nil
}

// text is an answer as it is shown, or the failure that it tells of.
func (v Verb[In, Out]) text(in *In, out *Out) string {
	if v.Show == nil {
		return v.Text(in, out)
	}
	var text, said bytes.Buffer
	if err := v.show(cli.NewConsole(cli.Streams{Out: &text, Err: &said}, true), in, out); err != nil {
		return cli.PrintableLines(err.Error()) + "\n"
	}
	return text.String() + strings.TrimPrefix(said.String(), "redeliver: info: ")
}

func (v Verb[In, Out]) effect() ops.Effect {
	if e := ops.RouteOf(v.In).Effect; e != ops.Reads || !v.Brief {
		return e
	}
	return ops.Changes
}

// affecting adds the flags of a command that has an effect.
func affecting(r *remote.Remote, cmd *cobra.Command, effect ops.Effect) *cobra.Command {
	switch effect {
	case ops.Reads:
		return r.Shows(cmd)
	case ops.Destroys:
		return r.Destroys(cmd)
	}
	return r.Changes(cmd)
}

// Way is the same for the tools of an assistant, where the first argument is the "name".
func (v Verb[In, Out]) Way(ask mcp.Ask) mcp.Way {
	word, _, _ := strings.Cut(v.Use, " ")
	effect := map[ops.Effect]mcp.Effect{ops.Reads: mcp.Reads, ops.Changes: mcp.Changes, ops.Destroys: mcp.Destroys}[ops.RouteOf(v.In).Effect]
	w := mcp.Asked(ask, word, effect, v.In, v.text)
	name := ""
	for _, field := range reflect.VisibleFields(reflect.TypeFor[In]()) {
		p, isArg := paramOf(field), slices.Contains(v.Args, field.Name)
		if v.Only != nil && !isArg && !slices.Contains(v.Only, field.Name) {
			w = w.Without(p.Name)
		}
		if (isArg || p.Required) && name == "" && field.Type == reflect.TypeFor[string]() && reflect.ValueOf(v.In).FieldByIndex(field.Index).IsZero() {
			name = p.Name
			if field.Tag.Get("usage") != "" { // which is not of a name
				w = w.Described(name, "")
			}
		}
		for _, said := range v.Words {
			if said.Field == field.Name && said.Usage != "" {
				w = w.Described(p.Name, said.Usage)
			}
		}
	}
	if name != "" {
		w = w.Named(name)
	}
	return w.Like(v.Command(cli.Streams{}))
}
