package explain

import (
	"regexp"
	"strings"
)

var (
	// functionPrefix matches who failed, which has a column of its own.
	functionPrefix = regexp.MustCompile(`^function "[^"]*"( panicked)?: `)

	// goType matches the Go type before an error's text. A name without a pointer
	// counts only when it cannot be a file name, as in "host.json: ...".
	goType = regexp.MustCompile(`^(?:\*\w+\.\w+|\w+\.[A-Z]\w*|runtime\.\w+)(?:\[[^ ]*\])?: `)

	// exception matches the type of .NET before one: its name and the exceptions inside say
	// what the message does not.
	exception = regexp.MustCompile(`^[A-Z]\w*(?:[.+][A-Z]\w*)+(?:` + "`" + `\d+)?(?:: | ---> |$)`)
)

// Brief is the outermost message of a failure, without the function's name, the
// Go types and the chain of causes, which every message repeats. The journal has
// them all.
func Brief(text string) string {
	panicked, text := ended(text)
	text, _, _ = strings.Cut(text, " ---> ")
	return panicked + goType.ReplaceAllString(text, "")
}

// InWords is Brief for people: a failure of .NET, whose messages repeat nothing, keeps its
// type and its causes.
func InWords(text string) string {
	if panicked, text := ended(text); exception.MatchString(text) {
		return panicked + text
	}
	return Brief(text)
}

// ended takes the function's name off.
func ended(text string) (panicked, rest string) {
	if m := functionPrefix.FindStringSubmatch(text); m != nil {
		text = text[len(m[0]):]
		if m[1] != "" {
			panicked = "panicked: "
		}
	}
	return panicked, text
}
