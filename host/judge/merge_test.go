package judge_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A host of the platform starts in seconds, and there are many rows. Rows under which it is expected to run are
// asked together, as one host.json that says what each of them says; where that one does
// not run, halves of them are asked, down to single rows.

// runs is what becomes of a good app.
var runs = []string{"Running", "runs"} // read only

// groups are the rows that may be asked together; the others are alone.
func (tab *golden) groups(expected func(i int) []string) (groups [][]int) {
	var texts []map[string]any
	for i, r := range tab.rows {
		want := expected(i)
		members, plain := plainMembers(r.in[0])
		place := -1
		if plain && slices.Equal(want, runs) {
			place = slices.IndexFunc(texts, func(other map[string]any) bool { return other != nil && compatible(other, members) })
		}
		switch {
		case place >= 0:
			groups[place] = append(groups[place], i)
			add(texts[place], members)
			continue
		case !plain || !slices.Equal(want, runs):
			members = nil
		}
		groups, texts = append(groups, []int{i}), append(texts, members)
	}
	return groups
}

// merged asks for a group of rows.
func (tab *golden) merged(t *testing.T, group []int, facts [][]string, ask func(*testing.T, string) []string) {
	t.Helper()
	text := tab.rows[group[0]].in[0]
	if len(group) > 1 {
		all := map[string]any{}
		for _, i := range group {
			members, _ := plainMembers(tab.rows[i].in[0])
			add(all, members)
		}
		whole, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		text = string(whole)
	}
	var fact []string
	t.Run(fmt.Sprint("rows ", group), func(t *testing.T) { fact = ask(t, text) })
	if len(group) > 1 && !slices.Equal(fact, runs) {
		tab.merged(t, group[:len(group)/2], facts, ask)
		tab.merged(t, group[len(group)/2:], facts, ask)
		return
	}
	for _, i := range group {
		facts[i] = fact
	}
}

// plainMembers are the members of a host.json that is written as others read it too.
func plainMembers(text string) (members map[string]any, plain bool) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber() // 2147483648 stays as it is written
	if err := d.Decode(&members); err != nil || members["version"] != "2.0" {
		return nil, false
	}
	again, err := json.Marshal(members)
	return members, err == nil && len(again) == len(text) // nothing twice, no comment
}

// compatible says whether no member has two values.
func compatible(a, b map[string]any) bool {
	for key, value := range b {
		for own := range a {
			if !strings.EqualFold(own, key) || own == key && key == "version" {
				continue
			}
			x, object := a[own].(map[string]any)
			y, both := value.(map[string]any)
			if own != key || !object || !both || len(x) == 0 || len(y) == 0 || !compatible(x, y) {
				return false
			}
		}
	}
	return true
}

// add adds members to an object.
func add(to, members map[string]any) {
	for key, value := range members {
		inner, object := value.(map[string]any)
		own, both := to[key].(map[string]any)
		if object && both {
			add(own, inner)
			continue
		}
		if object {
			copied := map[string]any{}
			add(copied, inner)
			value = copied
		}
		to[key] = value
	}
}
