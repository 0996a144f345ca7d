package scenario

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/redeliver/redeliver/host/explain"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/schemas"
)

// attempts are a number of attempts, or facts of each.
type attempts struct {
	count int // -1: the list counts
	list  []attempt
}

type attempt struct {
	RetryCount    *int       `json:"retryCount"`
	DeliveryCount *int64     `json:"deliveryCount"`
	Status        string     `json:"status"`
	Error         *pattern   `json:"error"`
	At            *spanRange `json:"at"`
	MessageID     *ids       `json:"messageId"`
	Body          *body      `json:"body"`
	Instance      int        `json:"instance"` // 0: any
	IsPastDue     *bool      `json:"isPastDue"`
}

// ids are the ID of a message, or those of a batch.
type ids []string

func (l *ids) UnmarshalJSON(raw []byte) error {
	if raw[0] == '[' {
		return json.Unmarshal(raw, (*[]string)(l))
	}
	*l = ids{textOf(raw)}
	return nil
}

func (a *attempts) UnmarshalJSON(raw []byte) error {
	return countOrList(raw, &a.count, &a.list)
}

// attempted is the end of an attempt, and the receipt of its delivery.
type attempted struct {
	journal.Record
	received journal.Record
}

// had compares what the function was given: of a batch a list.
func (a *attempted) had(want body) bool {
	got := a.received.Beside.Body
	if !slices.ContainsFunc(a.received.Fields, func(f journal.Field) bool { return f.Key == "messages" }) { // no batch
		return want.matches(got)
	}
	var wanted []body
	var texts []string
	if json.Unmarshal(want.raw, &wanted) != nil || json.Unmarshal([]byte(got), &texts) != nil {
		return false
	}
	return slices.EqualFunc(wanted, texts, body.matches)
}

// instance is the number of the instance that made the attempt; see [run.journaled].
func (a *attempted) instance() int {
	number, _, ok := strings.Cut(a.Delivery, ".")
	if n, err := strconv.Atoi(number); ok && err == nil {
		return n
	}
	return 1
}

// isPastDue is what a timer's tick says of itself; nil: it is no tick.
func (a *attempted) isPastDue() *bool {
	var tick struct{ IsPastDue *bool }
	if json.Unmarshal([]byte(a.received.Beside.Body), &tick) != nil {
		return nil
	}
	return tick.IsPastDue
}

func (r inspection) attempts(at, name string, want *attempts, got []attempted) {
	if want.count >= 0 {
		if len(got) != want.count {
			r.mismatch(at, name+" made another number of attempts", fmt.Sprint(want.count), fmt.Sprint(len(got)), r.of(name))
		}
		return
	}
	if len(got) != len(want.list) {
		r.mismatch(at, name+" made another number of attempts", fmt.Sprint(len(want.list)), fmt.Sprint(len(got)), r.of(name))
		return
	}
	for i, w := range want.list {
		rec := &got[i]
		have := explain.Members(&rec.received)
		messages := make(ids, len(have))
		for n, id := range have {
			messages[n] = id.ID
		}
		path := schemas.IndexPath(at, i)
		differs := func(key, want, got string) {
			r.mismatch(schemas.JoinPath(path, key), fmt.Sprintf("attempt %d of %s differs", i+1, name), want, got, r.of(name))
		}
		switch after := rec.Time.Sub(r.begins); {
		case w.RetryCount != nil && *w.RetryCount != rec.RetryCount():
			differs("retryCount", fmt.Sprint(*w.RetryCount), fmt.Sprint(rec.RetryCount()))
		case w.DeliveryCount != nil && *w.DeliveryCount != rec.DeliveryCount:
			differs("deliveryCount", fmt.Sprint(*w.DeliveryCount), fmt.Sprint(rec.DeliveryCount))
		case w.Status != "" && w.Status != rec.Status:
			differs("status", w.Status, rec.Status)
		case w.Error != nil && (rec.Error == "" || !w.Error.matches(explain.Brief(rec.Error))):
			differs("error", w.Error.String(), quote(explain.Brief(rec.Error)))
		case w.MessageID != nil && !slices.Equal(*w.MessageID, messages):
			differs("messageId", strings.Join(*w.MessageID, ", "), strings.Join(messages, ", "))
		case w.Body != nil && !rec.had(*w.Body):
			differs("body", w.Body.text(), quote(rec.received.Beside.Body))
		case w.Instance != 0 && w.Instance != rec.instance():
			differs("instance", fmt.Sprint(w.Instance), fmt.Sprint(rec.instance()))
		case w.IsPastDue != nil && (rec.isPastDue() == nil || *rec.isPastDue() != *w.IsPastDue):
			differs("isPastDue", fmt.Sprint(*w.IsPastDue), quote(rec.received.Beside.Body))
		case w.At != nil && !w.At.holds(after):
			differs("at", w.At.text, explain.Span(after))
		}
	}
}
