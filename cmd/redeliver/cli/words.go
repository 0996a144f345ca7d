package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// RoundTime shows a duration with as many digits as anybody reads.
func RoundTime(d time.Duration) string {
	switch {
	case d >= time.Minute:
		d = d.Round(time.Second)
	case d >= time.Second:
		d = d.Round(10 * time.Millisecond)
	case d >= time.Millisecond:
		d = d.Round(time.Millisecond)
	default:
		d = d.Round(time.Microsecond)
	}
	return d.String()
}

// Plural is a number of things: "1 message", "2 messages".
func Plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if stem, ok := strings.CutSuffix(what, "y"); ok {
		return strconv.Itoa(n) + " " + stem + "ies"
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// CommandFor is a command line about the app in dir.
func CommandFor(name, dir string) string {
	if filepath.Clean(dir) == "." {
		return "redeliver " + name
	}
	return "redeliver " + name + " " + ShellWord(dir)
}

// ShellWord is a path as a command line has it: in quotes when it holds a character
// that shells take for something else.
func ShellWord(path string) string {
	plain := func(c rune) bool {
		return c > 127 || unicode.IsLetter(c) || unicode.IsDigit(c) || strings.ContainsRune("/\\.:_-+,@%~", c)
	}
	if path != "" && strings.IndexFunc(path, func(c rune) bool { return !plain(c) }) < 0 {
		return path
	}
	if runtime.GOOS == "windows" {
		return `"` + path + `"`
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// Choice writes words as a choice: "real, debug, auto or manual".
func Choice(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// Short is a path below this folder as seen from here; others stay as they are.
func Short(path string) string {
	if here, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(here, path); err == nil && filepath.IsLocal(rel) {
			return rel
		}
	}
	return path
}
