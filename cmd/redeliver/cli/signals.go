package cli

import (
	"os"
	"time"
)

// oneSignal is how long a further signal counts as the first one: a terminal sends Ctrl+C to
// its whole process group, and what runs the host there (npx, npm run) passes it on.
const oneSignal = 500 * time.Millisecond

// Again waits, after a first signal, for one that asks once more. It reports false when done
// is closed before.
func Again(signals <-chan os.Signal, done <-chan struct{}, now func() time.Time) bool {
	first := now()
	for {
		select {
		case <-signals:
			if now().Sub(first) >= oneSignal {
				return true
			}
		case <-done:
			return false
		}
	}
}
