package show

import "github.com/redeliver/redeliver/host/clock"

// ClockModes are the modes of the clock.
var ClockModes = []string{string(clock.Real), string(clock.Debug), string(clock.Auto), string(clock.Manual)}

// ModeText says what the clock does in a mode.
func ModeText(mode clock.Pace) string {
	switch mode {
	case clock.Auto:
		return "auto: waiting is skipped whenever nothing is left to do"
	case clock.Manual:
		return "manual: time stands still until it is moved (redeliver clock advance 15m, clock next)"
	case clock.Debug:
		return "debug: follows the wall, but stands still while a handler runs"
	}
	return "real: follows the wall"
}
