// Package recorded keeps a host's records of its functions' outputs: the values that went
// nowhere, because their service is not served, and the writes that are made to fail. It
// knows neither attempts nor services.
package recorded

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/app"
)

// ErrUnknown is returned for a name that is of no output of the running app.
var ErrUnknown = errors.New("there is no such output")

// Book has the outputs of a host. Its methods may be called concurrently. The zero value
// is ready when Running is set.
type Book struct {
	// Running returns the outputs of the app that runs.
	Running func() []Output
	// Whole keeps all values, and all of each. Without it the latest 1,000 are kept, or
	// 16 MiB of them, and of each the first 256 KiB.
	Whole bool

	recorded recorded
	faults   faults
}

// Output is an output binding of a function.
type Output struct {
	Function string
	Binding  *app.Binding
}

// means reports whether a name means an output of a function: the function's name,
// for all its outputs, or "function/binding". Letter case does not count.
func means(name, function, binding string) bool {
	return strings.EqualFold(name, function) || strings.EqualFold(name, function+"/"+binding)
}

func unknown(name string) error { return fmt.Errorf("output %q: %w", name, ErrUnknown) }

// OutputInfo is an output of a function, and what was recorded of it.
type OutputInfo struct {
	Function string `json:"function"`
	Binding  string `json:"binding"`
	Type     string `json:"type"`
	Recorded int    `json:"recorded"`          // values that are kept
	Failing  int    `json:"failing,omitempty"` // writes that fail next; -1: all
}

// Infos lists the outputs that are recorded, of the running app and of earlier
// generations, and the outputs that are made to fail, by function.
func (b *Book) Infos() []OutputInfo {
	var list []OutputInfo
	find := func(function, binding, typ string) *OutputInfo {
		for i := range list {
			if strings.EqualFold(list[i].Function, function) && strings.EqualFold(list[i].Binding, binding) {
				return &list[i]
			}
		}
		list = append(list, OutputInfo{Function: function, Binding: binding, Type: typ})
		return &list[len(list)-1]
	}
	for _, out := range b.Running() {
		failing := b.faults.left(out.Function, out.Binding.Name)
		if out.Binding.Foreign || failing != 0 {
			find(out.Function, out.Binding.Name, out.Binding.Type).Failing = failing
		}
	}
	for _, o := range b.recorded.all() {
		find(o.Function, o.Binding, o.Type).Recorded++
	}
	slices.SortStableFunc(list, func(a, b OutputInfo) int {
		return strings.Compare(strings.ToLower(a.Function), strings.ToLower(b.Function))
	})
	return list
}

// Recorded returns the kept values of the outputs that name means, "function" or
// "function/binding", oldest first. ErrUnknown: there is no such output, and nothing of it
// is kept.
func (b *Book) Recorded(name string) ([]RecordedOutput, error) {
	found := slices.DeleteFunc(b.recorded.all(), func(o RecordedOutput) bool { return !means(name, o.Function, o.Binding) })
	if len(found) > 0 {
		return found, nil
	}
	for _, o := range b.Infos() {
		if means(name, o.Function, o.Binding) {
			return nil, nil
		}
	}
	return nil, unknown(name)
}

// Fail makes the next writes of outputs fail, in number times: -1 for all, 0 for
// none any more. name is "function", for all outputs of a function but its HTTP answer,
// or "function/binding"; they may be of any type. text is the error, empty for a default
// one. It holds until Clear. ErrUnknown: the running app has no such output.
func (b *Book) Fail(name string, times int, text string) error {
	if text == "" {
		text = "the write was made to fail"
	}
	found := false
	for _, out := range b.Running() {
		if !out.Binding.Answers() && means(name, out.Function, out.Binding.Name) {
			found = true
			b.faults.set(out.Function, out.Binding.Name, max(times, -1), text)
		}
	}
	if !found {
		return unknown(name)
	}
	return nil
}

// Fault takes the fault of one write; nil: the write goes well.
func (b *Book) Fault(function, binding string) error { return b.faults.next(function, binding) }

// Clear forgets what was recorded, and which writes are to fail.
func (b *Book) Clear() {
	b.recorded.clear()
	b.faults.clear()
}
