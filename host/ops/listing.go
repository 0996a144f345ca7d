package ops

import "encoding/json"

// A Listing is a list of the inventory as a client shows it to people.
type Listing struct {
	Name    string   // of the list: the word for it, and its member of the inventory
	Columns []string // in capitals; the first names the thing
	Numbers int      // how many of the last columns are numbers
	Quiet   bool     // not shown when it is empty, unless it is asked for

	Rows  func(list json.RawMessage) [][]string // see [Rows]
	Names func(list json.RawMessage) []string   // that a user may mean; nil: those of the first column. See [Names]
}

// Rows are the rows of a list, by those of one thing in it.
func Rows[Item any](of func(item *Item) [][]string) func(json.RawMessage) [][]string {
	return func(list json.RawMessage) [][]string { return members(list, of) }
}

// Names are the names in a list, by those of one thing in it.
func Names[Item any](of func(item *Item) []string) func(json.RawMessage) []string {
	return func(list json.RawMessage) []string { return members(list, of) }
}

// members joins what each item has. A list that a host of another version made has none.
func members[Item, T any](list json.RawMessage, of func(item *Item) []T) (all []T) {
	var items []Item
	if json.Unmarshal(list, &items) != nil {
		return nil
	}
	for i := range items {
		all = append(all, of(&items[i])...)
	}
	return all
}

// NamesIn are the names in the lists of an inventory that a user may mean.
func (l *Listing) NamesIn(list json.RawMessage) (names []string) {
	if l.Names != nil {
		return l.Names(list)
	}
	for _, row := range l.Rows(list) {
		names = append(names, row[0])
	}
	return names
}
