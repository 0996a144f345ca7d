package listen

import (
	"errors"

	"golang.org/x/sys/windows"
)

// isBusy also counts ports that the system keeps for others: the effect and the
// cure are the same.
func isBusy(err error) bool {
	return errors.Is(err, windows.WSAEADDRINUSE) || errors.Is(err, windows.WSAEACCES)
}
