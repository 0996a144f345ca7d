package verbs

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/timespan"
)

// A filler sets the fields of an operation from a command line.
type filler struct {
	flags *pflag.FlagSet
	args  []ops.Param // the first are those that have to be there
	at    reflect.Value
	least int
	first func(arg string) error // reads the first argument in the place of args; nil: it is one of them
	body  reflect.Value          // the last argument; not valid: there is none
	file  bool                   // the body is a stream, from the file that the last argument names
	late  []func() error         // refuse values of flags, in the order of the fields
}

// fill makes flags and arguments of the fields of an operation that are not set. See the tags
// in the comment of package ops.
func fill(cmd *cobra.Command, in reflect.Value, args []string, words []Word, only []string) *filler {
	f := &filler{flags: cmd.Flags(), at: in}
	var optional []ops.Param
	for _, field := range reflect.VisibleFields(in.Type()) {
		p, at := paramOf(field), in.FieldByIndex(field.Index)
		said := wordOf(words, field)
		switch {
		case p.Name == "" || !at.IsZero():
		case p.In == "body" && said.Usage == "":
			if at.Kind() == reflect.Slice {
				f.body = at
			} else {
				f.file = true
			}
		case p.Required || slices.Contains(args, field.Name):
			f.args = append(f.args, p)
		case field.Tag.Get("arg") != "":
			optional = append(optional, p)
		case said.Usage != "" && (only == nil || slices.Contains(only, field.Name)):
			f.flag(p, at, said)
		}
	}
	f.least = len(f.args)
	f.args = append(f.args, optional...)
	f.accept(cmd)
	return f
}

// accept limits the arguments of a command.
func (f *filler) accept(cmd *cobra.Command) {
	least, most := f.least, f.before()
	if f.body.IsValid() {
		most++
	}
	if f.file {
		least, most = least+1, most+1
	}
	cmd.Args = cli.Arguments(least, most)
}

// before is how many arguments may stand before the body.
func (f *filler) before() int {
	if f.first != nil {
		return 1
	}
	return len(f.args)
}

// paramOf is the parameter that a field is, or, without a place, the field of a JSON body.
func paramOf(field reflect.StructField) ops.Param {
	p := ops.Param{Field: field}
	for _, in := range []string{"path", "query", "header", "body", "json"} {
		tag, ok := field.Tag.Lookup(in)
		if name, more, _ := strings.Cut(tag, ","); ok && p.Name == "" && name != "-" && !field.Anonymous {
			p.In, p.Name, p.Required = in, name, in == "path" || more == "required"
		}
	}
	return p
}

// wordOf is what a command says of a field.
func wordOf(words []Word, field reflect.StructField) Word {
	said := Word{field.Name, field.Tag.Get("flag"), field.Tag.Get("usage")}
	for _, w := range words {
		if w.Field == field.Name {
			said.Name, said.Usage = cmp.Or(w.Name, said.Name), cmp.Or(w.Usage, said.Usage)
		}
	}
	return said
}

// after is what may come after the first argument.
func (f *filler) after(file bool) cobra.ShellCompDirective {
	if file && f.body.IsValid() {
		return remote.OrFile
	}
	return remote.NoMore
}

// take sets the fields that are arguments, and refuses values of flags.
func (f *filler) take(args []string) error {
	if f.first != nil {
		return f.first(args[0])
	}
	for i, p := range f.args[:min(len(args), len(f.args))] {
		at := f.at.FieldByIndex(p.Field.Index)
		if at.Type() != reflect.TypeFor[time.Duration]() {
			at.SetString(args[i])
			continue
		}
		d, err := timespan.Parse(args[i])
		if err != nil || p.Beyond(int64(d)) {
			return cli.Misused(fmt.Errorf("%q: want %s, %s", args[i], p.Field.Tag.Get("want"), timespan.Forms))
		}
		at.SetInt(int64(d))
	}
	for _, refuse := range f.late {
		if err := refuse(); err != nil {
			return err
		}
	}
	return nil
}

// takeBody sets the body from the last argument.
func (f *filler) takeBody(std cli.Streams, args []string, read func(cli.Streams, []string) ([]byte, error)) error {
	if !f.body.IsValid() {
		return nil
	}
	if read == nil {
		read = remote.Body
	}
	body, err := read(std, args[f.before():])
	f.body.SetBytes(body)
	return err
}

// flag makes a flag of a field.
func (f *filler) flag(p ops.Param, at reflect.Value, said Word) {
	tag, name, usage := p.Field.Tag, cmp.Or(said.Name, kebab(p.Name)), said.Usage
	if l, ok := f.at.Interface().(interface{ Limits(field string) string }); ok {
		usage += l.Limits(p.Field.Name)
	}
	otherwise, _ := strconv.Atoi(tag.Get("default"))
	switch at := at.Addr().Interface().(type) {
	case *bool:
		f.flags.BoolVar(at, name, false, usage)
	case **bool:
		f.flags.VarPF(denial{at}, name, "", usage).NoOptDefVal = "true"
	case *string:
		if tag.Get("unit") == "iso" {
			f.flags.Var((*cli.IsoSpan)(at), name, usage)
		} else {
			f.flags.StringVar(at, name, "", usage)
		}
	case **string:
		f.flags.Var(cli.Maybe{Text: at}, name, usage) // an empty one is one
	case *[]byte:
		f.flags.Var((*text)(at), name, usage)
	case *int:
		f.flags.IntVar(at, name, otherwise, usage)
	case *int64:
		f.flags.Int64Var(at, name, int64(otherwise), usage)
	case *[]int64:
		// In backquotes the library is told the word for a value; it would print [] as well.
		f.flags.Int64SliceVar(at, name, nil, strings.Replace(usage, "number", "`number`", 1)+" (repeatable)")
		f.flags.Lookup(name).DefValue = ""
	case *[]string:
		if tag.Get("split") == "," {
			f.flags.StringSliceVar(at, name, nil, usage+" (repeatable)")
		} else {
			f.flags.StringArrayVar(at, name, nil, usage+" (repeatable)")
		}
	case *time.Duration:
		f.span(p, at, name, usage)
	default:
		panic(fmt.Sprintf("field %s: no flag has the type %T", p.Field.Name, at))
	}
	if want := tag.Get("want"); want != "" && at.CanInt() && at.Type() != reflect.TypeFor[time.Duration]() {
		f.late = append(f.late, func() error {
			if f.flags.Changed(name) && p.Beyond(at.Int()) {
				return cli.Misused(errors.New("--" + name + ": want " + want))
			}
			return nil
		})
	}
}

// span makes a flag of a duration. One that says what it wants may have any value, and is
// refused late.
func (f *filler) span(p ops.Param, at *time.Duration, name, usage string) {
	want := p.Field.Tag.Get("want")
	switch {
	case want != "":
		given := f.flags.String(name, "", usage)
		f.late = append(f.late, func() (err error) {
			if *given == "" {
				return nil
			}
			if *at, err = timespan.Parse(*given); err != nil || p.Beyond(int64(*at)) {
				return cli.Misused(fmt.Errorf("--%s %q: want %s, %s", name, *given, want, timespan.Forms))
			}
			return nil
		})
	case p.Beyond(0):
		f.flags.Var((*cli.Span)(at), name, usage)
	default:
		f.flags.DurationVar(at, name, 0, usage)
	}
}

// denial is the value of a flag that says no.
type denial struct{ of **bool }

// String implements pflag.Value.
func (d denial) String() string { return strconv.FormatBool(d.of != nil && *d.of != nil) }

// Set implements pflag.Value.
func (d denial) Set(text string) error {
	no, err := strconv.ParseBool(text)
	*d.of = nil
	if no {
		*d.of = new(bool)
	}
	return err
}

// Type implements pflag.Value.
func (d denial) Type() string { return "bool" }

// IsBoolFlag has the library print it as a flag without a value.
func (d denial) IsBoolFlag() bool { return true }

// text is the value of a flag that is kept as bytes.
type text []byte

// String implements pflag.Value.
func (t *text) String() string { return string(*t) }

// Set implements pflag.Value.
func (t *text) Set(text string) error {
	*t = []byte(text)
	return nil
}

// Type implements pflag.Value.
func (t *text) Type() string { return "string" }

// kebab is the name of a parameter as flags are called.
func kebab(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 && name[i-1] != '-' { // a header has its own
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
