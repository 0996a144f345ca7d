//go:build !linux

package readonlytest

func mount(string) (undo func(), err error) { return nil, ErrCannot }
