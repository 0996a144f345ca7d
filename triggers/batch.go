package triggers

import (
	"cmp"
	"encoding/json"
	"slices"
)

// IDs are the identities of a batch's messages, as an array in JSON; a record names the
// first one by itself, and it is empty where there is no other.
func IDs(batch []Message) string {
	if !slices.ContainsFunc(batch[min(1, len(batch)):], func(m Message) bool { return m.ID != "" }) {
		return ""
	}
	return listOf(batch, func(m *Message) any { return m.ID })
}

// Numbers are the numbers of a batch's messages, as an array in JSON, where IDs has their
// identities and their source counts.
func Numbers(batch []Message) string {
	if len(batch) < 2 || batch[0].Number == 0 {
		return ""
	}
	return listOf(batch, func(m *Message) any { return m.Number })
}

// Counts are the delivery counts of a batch's messages, as an array in JSON; empty where
// all have that of the first.
func Counts(batch []Message) string {
	if !slices.ContainsFunc(batch, func(m Message) bool { return m.Count != batch[0].Count }) {
		return ""
	}
	return listOf(batch, func(m *Message) any { return m.Count })
}

// Decisions are those on a batch's messages, as an array in JSON; empty where all have that
// of the batch.
func Decisions(batch []Message, all Decision) string {
	if !slices.ContainsFunc(batch, func(m Message) bool { return m.Decision != "" && m.Decision != all }) {
		return ""
	}
	return listOf(batch, func(m *Message) any { return cmp.Or(m.Decision, all) })
}

func listOf(batch []Message, of func(*Message) any) string {
	list := make([]any, len(batch))
	for i := range batch {
		list[i] = of(&batch[i])
	}
	text, _ := json.Marshal(list) // texts and numbers always marshal
	return string(text)
}
