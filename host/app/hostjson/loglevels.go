package hostjson

import (
	"slices"
	"strconv"
	"strings"

	"github.com/redeliver/redeliver/functions/call"
)

// LogLevels is logging.logLevel of host.json: the lowest level that a person sees, by the
// beginning of a category, in the platform's words; "default" stands for all others. Nil
// hides what is below Information.
type LogLevels map[string]string

// consoleCategory is the category of what the program that runs the functions writes outside
// of calls (host: WorkerConstants.cs).
const consoleCategory = "Host.Function.Console"

// HandlerCategory is the category of what handlers of a function write; of what their program
// writes by itself when function is empty (sdkhost: LogCategories.cs).
func HandlerCategory(function string) string {
	if function == "" {
		return consoleCategory
	}
	return FunctionCategory(function) + ".User"
}

// FunctionCategory is the category of what the host writes of a function's deliveries.
func FunctionCategory(function string) string { return "Function." + function }

// Show reports whether a line of that category and level, a word, is to be seen. The longest
// key that the category begins with decides, whatever the case (cli: LoggerRuleSelector.cs,
// spec host-and-retry 6.2).
func (l LogLevels) Show(category, level string) bool {
	least, length := call.Information, -1
	for key, word := range l {
		n := len(key)
		switch {
		case strings.EqualFold(key, "default"):
			n = 0
		case n > len(category) || !strings.EqualFold(category[:n], key):
			continue
		}
		if n > length {
			least, length = levelOf(word), n
		}
	}
	return levelOf(level) >= least
}

// ForUsers returns the levels with the least one of what concerns functions, which
// host.json's own goes before (cli: StartHostAction.cs, ConfigureHostLoggingForUserLogLevel).
// Another word says nothing, as there.
func (l LogLevels) ForUsers(word string) LogLevels {
	const section = "Function"
	out := LogLevels{}
	if isLevel(word) {
		out[section] = word
	}
	for key, own := range l {
		if strings.EqualFold(key, section) {
			delete(out, section)
		}
		out[key] = own
	}
	return out
}

// LogLevelWords are the words of the levels, lowest first; the last one hides everything.
func LogLevelWords() []string {
	return []string{"Trace", "Debug", "Information", "Warning", "Error", "Critical", "None"}
}

// logLevels reads them, in the platform's spelling. A level may be a number, and an empty one
// is none (runtime: LoggerFilterConfigureOptions.cs).
func logLevels(texts map[string]string) LogLevels {
	words := LogLevelWords()
	for key, word := range texts {
		word = strings.TrimSpace(word)
		texts[key] = word
		if word == "" {
			delete(texts, key)
		}
		for i, w := range words {
			if strings.EqualFold(w, word) || word == strconv.Itoa(i) {
				texts[key] = w
			}
		}
	}
	return texts
}

// isLevel reports whether a word is a level.
func isLevel(word string) bool {
	return slices.ContainsFunc(LogLevelWords(), func(w string) bool { return strings.EqualFold(w, word) })
}

func levelOf(word string) call.Level {
	for i, w := range LogLevelWords() {
		if strings.EqualFold(w, word) {
			return call.Level(i)
		}
	}
	return call.Information
}
