package recorded

import (
	"errors"
	"strings"
	"sync"
)

// faults are the writes of outputs that are to fail. Its methods may be called
// concurrently.
type faults struct {
	mu   sync.Mutex
	byID map[string]*fault // by function/binding, in lower case
}

type fault struct {
	left int // -1: all
	text string
}

func key(function, binding string) string { return strings.ToLower(function + "/" + binding) }

func (o *faults) set(function, binding string, times int, text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.byID == nil {
		o.byID = map[string]*fault{}
	}
	delete(o.byID, key(function, binding))
	if times != 0 {
		o.byID[key(function, binding)] = &fault{left: times, text: text}
	}
}

func (o *faults) left(function, binding string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	if f := o.byID[key(function, binding)]; f != nil {
		return f.left
	}
	return 0
}

// next takes the fault of one write; nil: it goes well.
func (o *faults) next(function, binding string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	f := o.byID[key(function, binding)]
	if f == nil {
		return nil
	}
	if f.left > 0 {
		if f.left--; f.left == 0 {
			delete(o.byID, key(function, binding))
		}
	}
	return errors.New(f.text)
}

func (o *faults) clear() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.byID = nil
}
