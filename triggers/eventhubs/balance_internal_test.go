package eventhubs

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

// The next partition, by the owners of all: "a" is this listener, "-" nobody.
func TestNext(t *testing.T) {
	t.Parallel()
	for owners, want := range map[string]string{
		"----":        "0",
		"aaaa":        "",
		"bbbb":        "3",
		"bbba":        "2",
		"bbaa":        "",
		"bbb":         "2",
		"bba":         "", // an owner with one more keeps it
		"aab":         "",
		"b-a":         "1", // one more is free, and nobody has one more yet
		"b--bb":       "1",
		"aaab-":       "", // the free one is for others
		"aabb-":       "4",
		"bbbcccaaa":   "",
		"bbbbccccaaa": "",
		"bbbbccccaa-": "10",
		"bbbbbccccaa": "4", // from the largest
	} {
		v := &view{me: "a", owned: map[string]Ownership{}}
		for i, o := range owners {
			p := strconv.Itoa(i)
			v.partitions = append(v.partitions, p)
			v.owned[p] = Ownership{Partition: p, Owner: strings.TrimLeft(string(o), "-")}
		}
		if got, ok := v.next(); got != want || ok != (want != "") {
			t.Errorf("%s: next is %q, want %q", owners, got, want)
		}
	}
	v := &view{me: "a", partitions: []string{"0"}, owned: map[string]Ownership{"0": {Owner: "b", Since: time.Unix(1, 0)}}, expired: time.Unix(2, 0)}
	if got, _ := v.next(); got != "0" {
		t.Errorf("a partition whose owner has not renewed it: next is %q", got)
	}
}
