package clock_test

import (
	"fmt"
	"testing"

	"github.com/redeliver/redeliver/host/clock"
)

// A visit from the real world that changes nothing changes no draw of a shuffled clock,
// whenever it comes; and it does come.
func TestVisitsDrawNothing(t *testing.T) {
	t.Parallel()
	run := func(visits int) string {
		v := clock.NewVirtual(epoch, &clock.VirtualOptions{Seed: 3, Shuffle: true})
		var order trace
		came := make(chan struct{}, visits)
		v.Do("start", func() {
			g := clock.NewGroup(v, 0)
			for i := range 12 {
				g.Go(fmt.Sprint("worker-", i), func() {
					for step := range 4 {
						order.add("w%d.%d", i, step)
						if i == 5 && step == 1 {
							for range visits {
								go v.Inside("visit", func() { came <- struct{}{} })
							}
							clock.AwaitReady(v, "visit", visits)
						}
						_ = v.Sleep(background(), 0)
					}
				})
			}
		})
		for range visits {
			<-came
		}
		return order.String()
	}
	want := run(0)
	for visits := 1; visits < 4; visits++ {
		if got := run(visits); got != want {
			t.Errorf("%d visits:\n got %s\nwant %s", visits, got, want)
		}
	}
}
