package run

import (
	"fmt"

	"github.com/redeliver/redeliver/host/clock"
)

// setPace sets the pace of the clock. Accounts outside this host end their locks in real
// time, so with one it can only be real.
func (c *common) setPace(mode clock.Pace) error {
	c.pacing.Lock()
	defer c.pacing.Unlock()
	if mode != clock.Real && c.onlyReal != "" {
		return fmt.Errorf("the clock has to be real: %s is an account outside this host, and its locks end in real time", c.onlyReal)
	}
	c.clock.SetPace(mode)
	return nil
}

// outside is told the first connection to an account outside this host.
func (c *common) outside(setting string) {
	c.pacing.Lock()
	defer c.pacing.Unlock()
	c.onlyReal = setting
	if c.clock.Pace() == clock.Real {
		return
	}
	c.clock.SetPace(clock.Real)
	c.out.Say("info", fmt.Sprintf("%s is an account outside this host, and its locks end in real time: the clock follows the wall", setting))
}

// hurryUp lets a clock that stands still go on for the end of the host, whose waits for
// handlers are limited by it.
func (c *common) hurryUp() {
	if mode := c.clock.Pace(); mode == clock.Manual || mode == clock.Debug {
		_ = c.setPace(clock.Real) // which is always possible
	}
}
