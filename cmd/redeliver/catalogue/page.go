package catalogue

import (
	"fmt"
	"strings"
)

// heading is what stands before the sections.
const heading = `# Troubleshooting

<!-- names: written from cmd/redeliver/catalogue by go test ./cmd/redeliver/catalogue -update -->

Paste the line that you see into the search, or look for it below: the part that differs from case to case is ` + "`…`" + ` here. An error comes with a hint, and the hint is the next command to type. ` + "`redeliver doctor`" + ` says what this machine has: interpreters, workers, ports, a host that runs.

Each entry has an identity such as R-1. Commands that have ` + "`--verbose`" + ` print it in brackets after the line, and ` + "`redeliver check --output json`" + ` has it as ` + "`id`" + `.
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
			fmt.Fprintf(&b, "\n### `%s`\n\n<a id=%q></a>**%s.** %s %s\n", e.Sentence, strings.ToLower(e.ID), e.ID, e.Cause, e.Fix)
		}
	}
	return b.String()
}
