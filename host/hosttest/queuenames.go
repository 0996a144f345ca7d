package hosttest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/schemas"
	"github.com/redeliver/redeliver/triggers/blob"
)

// misspelt says which queue of the app is meant by the name of one that is not there: such a
// queue is empty whatever happens. A name that resembles none of them may be of a queue that
// a handler makes when it first sends to it.
func (h *Host) misspelt(name string) (reason string) {
	h.tb.Helper()
	known := []string{blob.PoisonQueue}
	if a := h.App(); a != nil {
		for _, f := range a.Functions {
			for _, b := range append(slices.Clone(f.Bindings), f.Trigger) {
				if b == nil {
					continue
				}
				if queue := strings.ToLower(b.String("queueName")); queue != "" {
					known = append(known, queue, queue+"-poison")
				}
			}
		}
	}
	near := schemas.Meant(name, known)
	if near == "" || slices.Contains(known, name) || slices.Contains(h.Queues(), name) {
		return ""
	}
	return fmt.Sprintf("there is no queue %q; did you mean %q? (CreateQueue makes one)", name, near)
}
