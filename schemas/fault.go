package schemas

import (
	"fmt"
	"slices"
	"strings"
)

// Kind is the platform's class of error, without its .NET name. The empty Kind
// marks a fault that only this emulator reports.
type Kind string

// The kinds of fault that the platform knows.
const (
	KindFormat             Kind = "format"
	KindArgument           Kind = "argument"
	KindArgumentNull       Kind = "argument-null"
	KindArgumentOutOfRange Kind = "argument-out-of-range"
	KindInvalidOperation   Kind = "invalid-operation"
	KindConfiguration      Kind = "configuration"
	KindJSON               Kind = "json"
)

// A Fault is one thing that is wrong in one place of an app: an error or a
// warning, as the list that holds it says. It is a plain value; its owner may
// change it.
type Fault struct {
	// File is the place as the user knows it: a path relative to the app folder
	// ("host.json", "Orders/function.json"), "environment", "--set" or "code".
	File string `json:"file"`
	// Line and Column count from 1, columns in characters. Both are 0 where there
	// is no text: a setting, a missing file.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
	// Path is the JSON path: "retry.maxRetryCount", "bindings[1].name". It is
	// empty if the whole file is meant.
	Path string `json:"path,omitempty"`
	// Found is the value in the file, as JSON and cut short; empty if there was
	// none.
	Found string `json:"found,omitempty"`
	// Allowed says what may stand there.
	Allowed string `json:"allowed,omitempty"`
	// Reason says what is wrong, in one sentence.
	Reason string `json:"reason"`
	// Hint says what to do next. It may be empty.
	Hint string `json:"hint,omitempty"`
	// Kind is the class of error that the platform reports here.
	Kind Kind `json:"kind,omitempty"`
	// First marks the one fault of a file or function that the platform, which
	// stops at its first, would report.
	First bool `json:"first,omitempty"`
}

// Error puts everything but hint and kind into one line:
//
//	Orders/function.json:7:22: retry.maxRetryCount: found -4: out of range; allowed: -1 (forever), 0 or more
func (f *Fault) Error() string {
	var b strings.Builder
	b.WriteString(f.File)
	if f.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", f.Line, f.Column)
	}
	if f.Path != "" {
		b.WriteString(": " + f.Path)
	}
	if f.Found != "" {
		b.WriteString(": found " + f.Found)
	}
	b.WriteString(": " + f.Reason)
	if f.Allowed != "" {
		b.WriteString("; allowed: " + f.Allowed)
	}
	return b.String()
}

// Sort puts faults of one file in the order of their text. Faults without a
// position come last; faults in the same place keep their order. Files keep
// the order in which they first occur.
func Sort(faults []*Fault) {
	files := map[string]int{}
	for _, f := range faults {
		if _, ok := files[f.File]; !ok {
			files[f.File] = len(files)
		}
	}
	slices.SortStableFunc(faults, func(a, b *Fault) int {
		if n := files[a.File] - files[b.File]; n != 0 {
			return n
		}
		if (a.Line == 0) != (b.Line == 0) {
			return b.Line - a.Line
		}
		if n := a.Line - b.Line; n != 0 {
			return n
		}
		return a.Column - b.Column
	})
}
