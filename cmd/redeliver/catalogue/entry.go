package catalogue

import "strings"

// Any stands in a sentence for the part that differs from case to case.
const Any = "…"

// An Entry is one error or hint. One without an identity is a symptom: something that is seen, and
// that no line tells.
type Entry struct {
	// ID is R- and a number. It stays with its entry: the number of one that is removed is never
	// given to another.
	ID string
	// Sentence is the text as the program prints it, with Any for what differs.
	Sentence string
	// Cause and Fix are Markdown, with links as in a file below docs/help.
	Cause, Fix string
	// Example is a line that the program prints. Without "redeliver: " before it, it is an error.
	Example string
}

// A Section is a part of the page.
type Section struct {
	Title   string
	Entries []Entry
}

// Sections is the table, in the order of the page.
func Sections() []Section {
	return []Section{
		{"The host does not start", starting},
		{"A function does not run", functions},
		{"A message does something else than you thought", messages},
		{"A command does not find the host", commanding},
		{"A command line is refused", refused},
		{"A test fails", testing},
	}
}

// Find returns the entry whose sentence is in a text; of several the one that says most. It
// returns false for a text that is not known. Safe for concurrent use.
func Find(text string) (Entry, bool) {
	var found Entry
	most := 0
	for _, s := range Sections() {
		for _, e := range s.Entries {
			if n := e.said(text); e.ID != "" && n > most {
				found, most = e, n
			}
		}
	}
	return found, most > 0
}

// said is how many bytes of the sentence are in a text, its parts in their order; 0 if one is not.
func (e Entry) said(text string) int {
	n := 0
	for part := range strings.SplitSeq(e.Sentence, Any) {
		part = strings.TrimSpace(part)
		at := strings.Index(text, part)
		if at < 0 {
			return 0
		}
		text = text[at+len(part):]
		n += len(part)
	}
	return n
}

// line is the example as it stands on a screen. With the words that begin each line of the
// program, a whole line finds its entry in the search.
func (e Entry) line() string {
	const program = "redeliver: "
	if strings.HasPrefix(e.Example, program) {
		return e.Example
	}
	return program + "error: " + e.Example
}
