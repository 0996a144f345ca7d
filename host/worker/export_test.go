package worker

// AwaitLost returns when the connections of all processes that serve nobody have ended.
func (p *Pool) AwaitLost() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.idle {
		c.Wait()
	}
}
