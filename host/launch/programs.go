package launch

import (
	"maps"
	"slices"
	"sync"
)

// Programs are the built programs that generations of this host run, retiring ones
// included: a crashed process is started again from its file.
type Programs struct {
	mu    sync.Mutex
	users map[string]int
}

// Use takes note of one more user of a program.
func (p *Programs) Use(path string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.users == nil {
		p.users = map[string]int{}
	}
	p.users[path]++
}

// Release takes note of one user less.
func (p *Programs) Release(path string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.users[path]--; p.users[path] == 0 {
		delete(p.users, path)
	}
}

// Use takes note of one more user of a program.
// Used are the programs that have users, in order.
func (p *Programs) Used() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Sorted(maps.Keys(p.users))
}
