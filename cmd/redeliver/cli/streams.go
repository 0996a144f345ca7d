package cli

import (
	"io"
)

// Streams are the ends of the process.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Watch returns the outlets of std, which can be left from now on.
func (s Streams) Watch() (both outlets) {
	out, err := s.Out, s.Err
	if o, ok := out.(*Output); ok {
		out = o.Writer
	}
	for _, w := range []io.Writer{out, err} {
		if o, ok := w.(*outlet); ok {
			o.watched.Store(true)
			both = append(both, o)
		}
	}
	return both
}
