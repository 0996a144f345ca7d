package process

// NewGuest returns the run of a program that somebody else has started and will end: this
// host has a connection with it and no more. It is ready at once. leave, which must not wait,
// ends what the host still does with it; the program lives on.
func NewGuest(spec Spec, number int, leave func()) *Child {
	return &Child{
		spec: spec.WithDefaults(), number: number, keep: func() bool { return true }, out: &output{deliver: spec.Output},
		leave: leave, done: make(chan struct{}), //clock:outside the end of a connection
	}
}

// Gone notes that a guest has gone, and why, for people: its end for this host. The first
// call counts.
func (c *Child) Gone(why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.goneLocked(why, !c.killed)
}

func (c *Child) goneLocked(why string, byItself bool) {
	if c.over {
		return
	}
	c.over, c.exited, c.gone = true, byItself, why
	close(c.done) //clock:outside the end of a connection
}

// dismissLocked ends a guest for this host.
func (c *Child) dismissLocked() {
	if !c.over {
		c.killed = true
		c.goneLocked("the host has left it", false)
		c.leave()
	}
}
