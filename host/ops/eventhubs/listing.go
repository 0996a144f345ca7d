package eventhubs

import (
	"strconv"

	hubskind "github.com/redeliver/redeliver/host/kinds/eventhubs"
)

// rows are those of a hub: each partition once for each consumer group.
func rows(hub *hubskind.HubInfo) (rows [][]string) {
	number := func(n int64) string {
		if n < 0 {
			return "-"
		}
		return strconv.FormatInt(n, 10)
	}
	for _, p := range hub.Partitions {
		for _, c := range p.Checkpoints {
			checkpoint := "-"
			switch {
			case c.Error != "":
				checkpoint = "unreadable"
			case c.SequenceNumber != nil:
				checkpoint = number(*c.SequenceNumber)
			}
			rows = append(rows, []string{hub.Name + "/" + p.ID, c.ConsumerGroup, number(p.Events), number(p.LastSequence), checkpoint, number(c.Behind)})
		}
	}
	return rows
}
