package catalogue

import (
	"fmt"
	"strings"
)

// heading is what stands before the sections.
const heading = `# Troubleshooting

<!-- names: written from cmd/redeliver/catalogue by go test ./cmd/redeliver/catalogue -update -->

Search for the words of the line that you see, without your own names, numbers and paths: the search wants every word, and takes a hyphen before one for "not this". Here the part that differs from case to case is ` + "`…`" + `. An error comes with a hint, and the hint is the next command to type. ` + "`redeliver doctor`" + ` says what this machine has: interpreters, workers, ports, a host that runs.

Each entry has an identity such as R-1, and the search finds it. Commands that have ` + "`--verbose`" + ` print it in brackets after the line, and ` + "`redeliver check --output json`" + ` has it as ` + "`id`" + `.
`

// Page is docs/help/troubleshooting.md.
func Page() string {
	var b strings.Builder
	b.WriteString(heading)
	for _, s := range Sections() {
		fmt.Fprintf(&b, "\n## %s\n", s.Title)
		for _, e := range s.Entries {
			if e.ID == "" {
				fmt.Fprintf(&b, "\n### %s\n\n%s %s\n", e.Sentence, e.Cause, e.Fix)
				continue
			}
			fmt.Fprintf(&b, "\n### %s: `%s`\n\n```text\n%s\n```\n\n<a id=%q></a>%s %s\n", e.ID, e.Sentence, e.line(), strings.ToLower(e.ID), e.Cause, e.Fix)
		}
	}
	return b.String()
}
