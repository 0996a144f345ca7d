package verbs

import (
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
}

// A Word is what a command says of a field in its own words; empty: as the operation has it.
type Word struct{ Field, Name, Usage string }

// Command makes the command.
func (v Verb[In, Out]) Command(std cli.Streams) *cobra.Command {
	r, in := &remote.Remote{Std: std}, v.In
	cmd := &cobra.Command{Use: v.Use, Short: v.Short, Long: v.Long, Example: v.Example}
	f := fill(cmd, reflect.ValueOf(&in).Elem(), v.Args, v.Words, v.Only)
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
		if err := f.takeBody(std, args, v.Body); err != nil {
			return err
		}
		return remote.Tell(cmd, r, in, func(out *Out) string { return v.Text(&in, out) })
	}
	return affecting(r, cmd, v.effect())
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
	w := mcp.Asked(ask, word, effect, v.In, v.Text)
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
