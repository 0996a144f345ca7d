package servicebus

import (
	"context"
	"errors"
	"time"

	"github.com/redeliver/redeliver/host/emulator/store"
)

// errReloaded is what a queue of a state that was read anew says.
var errReloaded = errors.New("read again from the store")

// change collects what one operation writes. Without a store it collects
// nothing.
type change struct {
	db    *store.Store
	batch *store.Batch
	err   error
}

func (c *change) written() bool { return c.batch != nil }

func (c *change) saveSequence(*queue)                             {}
func (c *change) saveMessage(*queue, *message)                    {}
func (c *change) saveState(*queue, *message)                      {}
func (c *change) dropMessage(*queue, *message)                    {}
func (c *change) saveSession(*queue, *session)                    {}
func (c *change) saveSeen(*entity, string, time.Time)             {}
func (c *change) dropSeen(*entity, string)                        {}
func (c *change) saveEntity(*entity)                              {}
func (c *change) dropEntity(*entity)                              {}
func (ns *Namespace) readyLocked() error                          { return nil }
func (ns *Namespace) commitLocked(*change) (*store.Commit, error) { return nil, nil }
func (ns *Namespace) wait(context.Context, *store.Commit) error   { return nil }
