package eventgrid

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redeliver/redeliver/host/emulator/eventgrid"
)

// rows are those of the event subscriptions of a topic, and its own when it has none.
func rows(topic *GridTopic) (rows [][]string) {
	if len(topic.Subscriptions) == 0 {
		rows = append(rows, []string{topic.Name, "-", "-", "-", "-", "-"})
	}
	for i := range topic.Subscriptions {
		s := &topic.Subscriptions[i]
		state := string(s.State)
		if !s.SparedUntil.IsZero() {
			state = "spared until " + moment(s.SparedUntil)
		}
		rows = append(rows, []string{topic.Name + "/" + s.Name, s.Function + s.Endpoint, state, moment(s.Next), strconv.Itoa(s.Pending), strconv.Itoa(s.DeadLetters)})
	}
	return rows
}

// SubscriptionNames are those of its event subscriptions, TOPIC/SUBSCRIPTION.
func (topic *GridTopic) SubscriptionNames() (names []string) {
	for i := range topic.Subscriptions {
		names = append(names, topic.Name+"/"+topic.Subscriptions[i].Name)
	}
	return names
}

// deliveryRows are the row of an event that is not delivered yet.
func deliveryRows(d *eventgrid.DeliveryInfo) [][]string {
	next := moment(d.Next)
	switch {
	case d.Next.IsZero():
		next = "now"
	case d.Reason != "":
		next = "ends " + next
	}
	return [][]string{{d.EventID, d.Topic + "/" + d.Subscription, last(d), next, strconv.Itoa(len(d.Attempts))}}
}

// last is the outcome of the last attempt, or the reason for no further one.
func last(d *eventgrid.DeliveryInfo) string {
	words := slices.DeleteFunc([]string{string(d.Outcome), string(d.Reason)}, func(w string) bool { return w == "" })
	if len(words) == 0 {
		return "-"
	}
	return strings.Join(words, ", ")
}

func moment(at time.Time) string {
	if at.IsZero() {
		return "-"
	}
	return at.Local().Format(time.DateTime)
}
