package bindingtest

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/bindings/table"
)

// rows returns the row keys that a filter finds.
func (b *tableBench) rows(filter string) string {
	b.Helper()
	page, err := b.query(&table.Query{Filter: filter})
	if err != nil {
		b.Errorf("%s: %v", filter, err)
		return ""
	}
	var keys []string
	for _, e := range page.Entities {
		keys = append(keys, e.RowKey)
	}
	return strings.Join(keys, " ")
}

// tableQueryTests hold queries to spec tables 4.
var tableQueryTests = []tableTest{
	{"Order", func(b *tableBench) {
		b.create()
		b.insert(row("b", "1"), row("a", "2"), row("a", "10"), row("a", "1"), row("B", "1"), row("", "x"), row("a", "\U0001D11E"), row("a", "\uFF5E"))
		b.want(row("", "x"), row("B", "1"), row("a", "1"), row("a", "10"), row("a", "2"), row("a", "\U0001D11E"), row("a", "\uFF5E"), row("b", "1"))
	}},
	{"NumbersByValue", func(b *tableBench) { // an Int64 is not rounded to a Double first (T-8)
		b.create()
		const exact = int64(1) << 53
		b.insert(row("p", "1", "n", exact), row("p", "2", "n", exact+1), row("p", "3", "n", float64(exact)), row("p", "4", "n", int64(math.MaxInt64)), row("p", "5", "n", 0x1p63), row("p", "6", "n", int64(math.MinInt64)))
		for filter, want := range map[string]string{
			"n eq 9007199254740992.0":                  "1 3",
			"n gt 9007199254740992.0":                  "2 4 5",
			"9007199254740992.0 lt n":                  "2 4 5",
			"n eq 9007199254740993L":                   "2",
			"n lt 9007199254740993L":                   "1 3 6",
			"n eq 9223372036854775807L":                "4",
			"n ge 9223372036854775808.0":               "5",
			"n lt 9223372036854775808.0 and n gt 1e18": "4",
			"n le -9223372036854775808.0":              "6",
			"n eq 9223372036854775807L or n eq 9.3e18": "4",
			"n ne NaN": "1 2 3 4 5 6",
			"n eq NaN or n lt NaN or n ge NaN or not(true)": "",
		} {
			if got := b.rows(filter); got != want {
				b.Errorf("%s found %q, want %q", filter, got, want)
			}
		}
	}},
	{"Filters", func(b *tableBench) {
		b.create()
		b.insert(
			row("p", "1", "s", "o'clock & co + 1", "n", int32(5), "f", true, "Foo", "x"),
			row("p", "2", "s", "", "n", int64(5), "f", false, "Foo", ""),
			row("p", "3", "n", 5.0, "d", time.Date(2020, 1, 1, 0, 0, 0, 100, time.UTC)),
			row("p", "4", "l", int64(5454161346626), "d", time.Date(2020, 1, 1, 0, 0, 0, 200, time.UTC)),
			row("q", "5", "g", bindings.GUID{0xc9, 0xda, 0x64, 15: 1}, "gs", "c9da6400-0000-0000-0000-000000000001"),
			row("q", "6", "b", []byte{1, 2}, "n", "5"),
		)
		for filter, want := range map[string]string{
			"":                                      "1 2 3 4 5 6",
			"   ":                                   "1 2 3 4 5 6",
			"true":                                  "1 2 3 4 5 6",
			"False":                                 "",
			"PartitionKey eq 'p'":                   "1 2 3 4",
			"'q' eq PartitionKey":                   "5 6",
			"PartitionKey eq 'p' and RowKey lt '3'": "1 2",
			"RowKey ge '3' and RowKey le '5'":       "3 4 5",
			"'3' gt RowKey":                         "1 2",
			"(PartitionKey eq 'p' and RowKey eq '2') or (PartitionKey eq 'q' and RowKey eq '6')": "2 6",
			"PartitionKey eq 'q' or RowKey eq '1'":                                               "1 5 6",
			"PartitionKey ne 'p'":                                                                "5 6",
			"PartitionKey eq 'p' and PartitionKey eq 'q'":                                        "",
			"PartitionKey gt 'p' and RowKey eq '5'":                                              "5",
			"not (PartitionKey lt 'q')":                                                          "5 6",
			"s eq 'o''clock & co + 1'":                                                           "1",
			"s ge ''":                                                                            "1 2",
			"Foo ne ''":                                                                          "1",
			"not (Foo ne '')":                                                                    "2 3 4 5 6",
			"n eq 5":                                                                             "1 2 3",
			"n eq 5L":                                                                            "1 2 3",
			"n eq 5.0":                                                                           "1 2 3",
			"n lt 6 and n gt 4.5":                                                                "1 2 3",
			"n eq '5'":                                                                           "6",
			"n ne 5":                                                                             "",
			"n ne 4":                                                                             "1 2 3",
			"l eq 5454161346626L":                                                                "4",
			"l gt 1e3":                                                                           "4",
			"f":                                                                                  "1",
			"not f":                                                                              "2 3 4 5 6",
			"(PartitionKey eq 'p')and(f eq True )":                                               "1",
			"f ne true":                                                                          "2",
			"f lt true":                                                                          "2",
			"d eq datetime'2020-01-01T00:00:00.0000002Z'":      "4",
			"d gt datetime'2019-12-31T19:00:00-05:00'":         "3 4",
			"Timestamp gt datetime'1970-01-01'":                "1 2 3 4 5 6",
			"g eq guid'C9DA6400-0000-0000-0000-000000000001'":  "5",
			"gs eq guid'c9da6400-0000-0000-0000-000000000001'": "",
			"gs eq 'c9da6400-0000-0000-0000-000000000001'":     "5",
			"b eq X'0102'":        "6",
			"b eq binary'0102'":   "6",
			"b lt x'010200'":      "6",
			"(f eq true) eq true": "1",
			"1 eq 1":              "1 2 3 4 5 6",
			"RowKey eq '1' or RowKey eq '2' and f eq true":             "1",
			"(RowKey eq '1' or RowKey eq '2') and f eq true":           "1",
			strings.Repeat("(", 100) + "f" + strings.Repeat(")", 100):  "1",
			"RowKey eq '1'" + strings.Repeat(" or RowKey eq '1'", 300): "1",
		} {
			if got := b.rows(filter); got != want {
				b.Errorf("%s: found %q, want %q", filter, got, want)
			}
		}
	}},
	{"FiltersThatAreNone", func(b *tableBench) {
		b.create()
		for filter, want := range map[string]string{
			"aaa bbb ccc":                 "Syntax error at position 7 in 'aaa bbb ccc'.",
			"1":                           "must evaluate to a single boolean value",
			"'a'":                         "must evaluate to a single boolean value",
			"(1 1 1)":                     "Syntax error",
			"PartitionKey eq 'a' eq 5.0":  "Syntax error",
			"a eq 1 and and b eq 2":       "Syntax error",
			"a eq 1 or":                   "Syntax error",
			"a eq":                        "Syntax error",
			"(a eq 1":                     "Syntax error",
			"a eq 1)":                     "Syntax error",
			"a EQ 1":                      "Syntax error",
			"a eq 1 AND b eq 2":           "Syntax error",
			"not PartitionKey lt 'Part2'": "Syntax error",
			"a eq null":                   "Syntax error",
			"a eq 'x'and b eq 1":          "Syntax error",
			"a eq 'open":                  "unterminated",
			"a eq b":                      "",
			"n eq 5454161346626":          "Unrecognized 'Edm.Int32' literal '5454161346626' at '5' in 'n eq 5454161346626'.",
			"n eq 99999999999999999999L":  "Unrecognized 'Edm.Int64' literal",
			"g eq guid'x'":                "Unrecognized 'Edm.Guid' literal",
			"d eq datetime'yesterday'":    "Unrecognized 'Edm.DateTime' literal",
			"b eq X'0'":                   "Unrecognized 'Edm.Binary' literal",
			"n eq 5x":                     "Syntax error",
			"n eq 5.":                     "Syntax error",
			"n eq -":                      "Syntax error",
			"a eq 1 and 2":                "Syntax error",
			"not 5":                       "Syntax error",
			"a ! b":                       "Syntax error",
			strings.Repeat("(", 400) + "f" + strings.Repeat(")", 400): "",
		} {
			_, err := b.query(&table.Query{Filter: filter})
			b.refused(filter, err, storage.CodeInvalidInput)
			if err != nil && !strings.Contains(err.Error(), want) {
				b.Errorf("%s: %v, want %q", filter, err, want)
			}
		}
		for _, filter := range []string{"startswith(a, 'x')", "substringof('x', a)", "a add 1 eq 2"} {
			_, err := b.query(&table.Query{Filter: filter})
			b.refused(filter, err, storage.CodeNotImplemented)
		}
	}},
	{"Pages", func(b *tableBench) {
		b.create()
		for i := range 25 {
			b.insert(row(fmt.Sprint("p", i%3), fmt.Sprintf("%02d", i), "n", int32(i%2)))
		}
		for _, filter := range []string{"", "n eq 1", "PartitionKey eq 'p1'", "PartitionKey eq 'p0' or PartitionKey eq 'p2'", "RowKey eq '03' or RowKey eq '04'"} {
			all, err := b.query(&table.Query{Filter: filter})
			b.must("query", err)
			for _, top := range []int{1, 2, 7, 25} {
				var got []table.Entity
				q := &table.Query{Filter: filter, Top: top}
				for {
					page, err := b.query(q)
					b.must("page", err)
					if len(page.Entities) > top {
						b.Fatalf("a page of %d has %d", top, len(page.Entities))
					}
					got = append(got, page.Entities...)
					if q.From = page.Next; page.Next == nil {
						break
					}
				}
				same := func(a, b table.Entity) bool { return a.PartitionKey == b.PartitionKey && a.RowKey == b.RowKey }
				if !slices.EqualFunc(got, all.Entities, same) {
					b.Errorf("%q by %d: %d entities, want %d", filter, top, len(got), len(all.Entities))
				}
			}
		}
		// What goes and comes between two pages.
		page, err := b.query(&table.Query{Top: 1})
		b.must("page", err)
		_, err = b.put(table.Write{Mode: table.Delete, Entity: row("p0", "03"), Match: table.AnyETag})
		b.must("delete", err)
		b.insert(row("", "before"))
		after, err := b.query(&table.Query{Top: 1, From: page.Next})
		b.must("page", err)
		if after.Entities[0].RowKey != "06" {
			b.Errorf("behind a deleted entity comes %q, want 06", after.Entities[0].RowKey)
		}
		_, err = b.query(&table.Query{Top: 1001})
		b.refused("a page of 1001", err, storage.CodeInvalidInput)
	}},
	{"Thousands", func(b *tableBench) {
		b.create()
		var writes []table.Write
		for i := range 1001 {
			writes = append(writes, table.Write{Entity: row("p", fmt.Sprintf("%04d", i))})
			if len(writes) == 100 || i == 1000 {
				_, err := b.submit(writes...)
				b.must("submit", err)
				writes = nil
			}
		}
		page, err := b.query(nil)
		b.must("query", err)
		if len(page.Entities) != 1000 || page.Next == nil || !b.Opaque && *page.Next != (table.Key{Partition: "p", Row: "1000"}) {
			b.Errorf("the first page has %d entities and goes on at %v, want 1000 and p, 1000", len(page.Entities), page.Next)
		}
	}},
	{"Within", func(b *tableBench) {
		b.create()
		for _, p := range []string{"a", "b", "c"} {
			for _, r := range []string{"1", "2", "3"} {
				b.insert(row(p, p+r))
			}
		}
		text := func(s string) *string {
			if s == "" {
				return nil
			}
			return &s
		}
		for bounds, want := range map[[4]string]string{
			{"a", "", "b", "b2"}:   "a1 a2 a3 b1 b2",
			{"b", "b2", "", ""}:    "b2 b3 c1 c2 c3",
			{"b", "b2", "b", "b2"}: "b2",
			{"", "", "a", ""}:      "a1 a2 a3",
			{"c", "", "a", ""}:     "",
		} {
			q := &table.Query{Within: table.Range{StartPartition: text(bounds[0]), StartRow: text(bounds[1]), EndPartition: text(bounds[2]), EndRow: text(bounds[3])}}
			page, err := b.query(q)
			b.must("query", err)
			var keys []string
			for _, e := range page.Entities {
				keys = append(keys, e.RowKey)
			}
			if got := strings.Join(keys, " "); got != want {
				b.Errorf("within %q: %q, want %q", bounds, got, want)
			}
		}
	}},
}
