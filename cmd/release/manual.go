package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

// manualFile is a completion script or a manual page, by its name in an archive.
type manualFile struct {
	name string
	data []byte
}

// command is a command with its flags, as "redeliver help --json" describes it.
type command struct {
	Path, Usage, Short, Long, Example string
	Flags                             []struct{ Name, Shorthand, Type, Default, Usage string }
	Commands                          []command
}

// shells are the shells for which the program writes completions, with the names of the
// files that these look for.
var shells = [][2]string{{"bash", "redeliver.bash"}, {"zsh", "_redeliver"}, {"fish", "redeliver.fish"}, {"powershell", "redeliver.ps1"}} // read only

// readManual asks a program for its completions and its commands.
func (r *release) readManual(program string) (out []manualFile, err error) {
	for _, shell := range shells {
		text, err := output(r.root, program, "completion", shell[0])
		if err != nil {
			return nil, err
		}
		out = append(out, manualFile{"completions/" + shell[1], []byte(text + "\n")})
	}
	text, err := output(r.root, program, "help", "--json")
	if err != nil {
		return nil, err
	}
	var root command
	if err := json.Unmarshal([]byte(text), &root); err != nil {
		return nil, fmt.Errorf("help --json: %w", err)
	}
	return append(out, r.pages(root)...), nil
}

// pages are the manual pages of a command and of all below it.
func (r *release) pages(c command) []manualFile {
	out := []manualFile{{"man/" + strings.ReplaceAll(c.Path, " ", "-") + ".1", []byte(r.page(c))}}
	for _, below := range c.Commands {
		out = append(out, r.pages(below)...)
	}
	return out
}

// page is a manual page in the macros of man.
func (r *release) page(c command) string {
	var b strings.Builder
	name := strings.ReplaceAll(c.Path, " ", "-")
	fmt.Fprintf(&b, ".TH %q 1 %q %q %q\n", strings.ToUpper(name), r.date.Format("2006-01-02"), "redeliver "+r.version, "Redeliver")
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n.SH SYNOPSIS\n.B %s\n", roff(name), roff(c.Short), roff(c.Usage))
	if c.Long != "" {
		b.WriteString(".SH DESCRIPTION\n")
		for paragraph := range strings.SplitSeq(c.Long, "\n\n") {
			fmt.Fprintf(&b, ".PP\n%s\n", roff(paragraph))
		}
	}
	if len(c.Flags) > 0 {
		b.WriteString(".SH OPTIONS\n")
		for _, f := range c.Flags {
			flag := "--" + f.Name
			if f.Shorthand != "" {
				flag = "-" + f.Shorthand + ", " + flag
			}
			if f.Type != "" {
				flag += " " + f.Type
			}
			fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(flag), roff(f.Usage))
		}
	}
	if c.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(c.Example))
	}
	if len(c.Commands) > 0 {
		b.WriteString(".SH COMMANDS\n")
		for _, below := range c.Commands {
			fmt.Fprintf(&b, ".TP\n.BR %s (1)\n%s\n", roff(strings.ReplaceAll(below.Path, " ", "-")), roff(below.Short))
		}
	}
	return b.String()
}

// roff is a text that no line of is a request of roff.
func roff(text string) string {
	lines := strings.Split(strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
