package hosttest

import (
	"context"
	"errors"

	"github.com/redeliver/redeliver/bindings"
)

// create makes something inside the clock, unless it is there.
func create(h *Host, what string, make func(context.Context) error) {
	h.tb.Helper()
	var err error
	h.do("create "+what, func() { err = make(context.Background()) })
	if err != nil && !errors.Is(err, bindings.ErrAlreadyExists) {
		h.tb.Fatalf("hosttest: create %s: %v", what, err)
	}
}

// list lists something inside the clock.
func list(h *Host, what string, look func(context.Context) ([]string, error)) (names []string) {
	h.tb.Helper()
	var err error
	h.do("list "+what, func() { names, err = look(context.Background()) })
	if err != nil {
		h.tb.Fatalf("hosttest: list %s: %v", what, err)
	}
	return names
}
