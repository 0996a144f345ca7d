package mcp

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Flags are arguments that are flags of a command: with their descriptions, types and
// defaults. A flag of two words, no-build, is the argument noBuild.
func Flags(set *pflag.FlagSet, names ...string) (out []Argument) {
	for _, name := range names {
		f := set.Lookup(name)
		if f == nil {
			panic("there is no flag " + name)
		}
		_, usage := pflag.UnquoteUsage(f)
		a := Argument{Name: camel(name), Schema: map[string]any{"type": "string", "description": usage}}
		switch f.Value.Type() {
		case "bool":
			a.Schema["type"] = "boolean"
		case "int", "int64", "uint64":
			a.Schema["type"] = "integer"
			if n, err := strconv.ParseInt(f.DefValue, 10, 64); err == nil && n != 0 {
				a.Schema["default"] = n
			}
		}
		if a.Name != name {
			a.Also = []string{name}
		}
		out = append(out, a)
	}
	return out
}

// Prose is the help of a command for an assistant, so many paragraphs of it: each on one
// line, and flags as the arguments that they are.
func Prose(help string, paragraphs int) string {
	all := strings.Split(strings.TrimSpace(help), "\n\n")
	for i, paragraph := range all {
		all[i] = Unflagged(strings.Join(strings.Fields(paragraph), " "))
	}
	return strings.Join(all[:min(paragraphs, len(all))], "\n")
}

// Unflagged is a text with flags as the arguments that they are: those that choose a host
// are none.
func Unflagged(text string) string {
	return flag.ReplaceAllStringFunc(text, func(f string) string {
		if f == "--dir" || f == "--port" {
			return f
		}
		return camel(f[2:])
	})
}

// unflagHead is Unflagged for the first line of an answer, where it says how to see more:
// what follows is data.
func unflagHead(text string, arguments []Argument) string {
	head, rest, found := strings.Cut(text, "\n")
	for _, a := range arguments {
		head = strings.ReplaceAll(head, " --"+a.Name, " "+a.Name)
	}
	if found {
		head += "\n"
	}
	return head + rest
}

var flag = regexp.MustCompile(`--[a-z]+(-[a-z]+)*`) // read only

// Like is the way with what the command for the same operation says of its name: the word in
// its usage, and the ones in its examples.
func (w Way) Like(cmd *cobra.Command) Way {
	words := strings.Fields(cmd.Use)
	if a := w.argument("name"); a == nil || cmp.Or(a.Schema["description"], any("")) != "" || len(words) < 2 {
		return w
	}
	text := words[1]
	if names := examples(cmd); len(names) > 0 {
		text += ", e.g. " + choice(names)
	}
	return w.Described("name", text)
}

// Described is the way with another description of an argument, in which flags are arguments.
func (w Way) Described(argument, text string) Way {
	return w.edit(argument, func(a *Argument) { a.Schema["description"] = Unflagged(text) })
}

// examples are the names in the examples of a command.
func examples(cmd *cobra.Command) (names []string) {
	for line := range strings.Lines(cmd.Example) {
		_, rest, _ := strings.Cut(line, " "+cmd.Name()+" ")
		name, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
		if name = strings.Trim(name, "'"); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// camel is the name of a flag as arguments are called.
func camel(flag string) string {
	words := strings.Split(flag, "-")
	for i, word := range words[1:] {
		words[i+1] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, "")
}
