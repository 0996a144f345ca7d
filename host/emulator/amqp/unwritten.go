package amqp

// unwritten is a delivery that was sent settled, by a node that has to know whether the
// client was given it.
type unwritten struct {
	l    *link
	m    Outgoing
	ends uint64 // where in the stream of bytes that is written
}

// trackLocked remembers a delivery whose last frame was added just now.
func (c *conn) trackLocked(l *link, m Outgoing) {
	if _, ok := l.node.(Deleter); ok && m.Settled() {
		c.tracked = append(c.tracked, unwritten{l, m, c.streamed + uint64(len(c.out))})
	}
}

// writtenLocked takes the deliveries that end within the first bytes of the stream.
func (c *conn) writtenLocked(bytes uint64) []unwritten {
	n := 0
	for n < len(c.tracked) && c.tracked[n].ends <= bytes {
		n++
	}
	if n == 0 {
		return nil
	}
	list := c.tracked[:n:n]
	if c.tracked = c.tracked[n:]; len(c.tracked) == 0 {
		c.tracked = nil
	}
	return list
}

// transferred tells nodes of deliveries that were written.
func transferred(list []unwritten) {
	byLink(list, func(l *link, list []Outgoing) { l.node.(Deleter).Transferred(list) })
}

// giveBack returns what cannot be written any more to its nodes.
func (c *conn) giveBack() {
	c.mu.Lock()
	list := c.tracked
	c.tracked = nil
	c.mu.Unlock()
	byLink(list, func(l *link, list []Outgoing) { l.node.(Deleter).Return(list) })
}

// byLink calls f for each run of deliveries of one link.
func byLink(list []unwritten, f func(*link, []Outgoing)) {
	for len(list) > 0 {
		l := list[0].l
		var out []Outgoing
		for len(list) > 0 && list[0].l == l {
			out, list = append(out, list[0].m), list[1:]
		}
		f(l, out)
	}
}
