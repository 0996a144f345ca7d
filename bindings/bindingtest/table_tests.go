package bindingtest

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/bindings/table"
)

// tableTests are named by behaviour. The rules come from spec tables 2, 3 and 5 and from
// the comments in package table.
var tableTests = []tableTest{
	{"TableLives", func(b *tableBench) {
		b.create()
		b.insert(row("a", "1"))
		b.refused("create again", b.do(func(ctx context.Context, _ table.Table) error { return b.Account.Table("ORDERS").Create(ctx) }), table.CodeTableAlreadyExists)
		b.must("delete", b.do(func(ctx context.Context, t table.Table) error { return t.DeleteTable(ctx) }))
		b.refused("delete again", b.do(func(ctx context.Context, t table.Table) error { return t.DeleteTable(ctx) }), table.CodeResourceNotFound)
		b.create()
		b.want()
	}},
	{"ATableNameHasNoCase", func(b *tableBench) {
		b.create()
		b.must("insert", b.do(func(ctx context.Context, _ table.Table) error {
			_, err := b.Account.Table("OrDers").Write(ctx, table.Write{Entity: row("a", "1")})
			return err
		}))
		b.want(row("a", "1"))
	}},
	{"MissingTableFailsEveryCall", func(b *tableBench) {
		_, err := b.put(table.Write{Entity: row("a", "1")})
		b.refused("insert", err, table.CodeTableNotFound)
		_, err = b.put(table.Write{Mode: table.Delete, Entity: row("a", "1"), Match: table.AnyETag})
		b.refused("delete", err, table.CodeTableNotFound)
		_, err = b.submit(table.Write{Entity: row("a", "1")})
		b.refused("submit", err, table.CodeTableNotFound)
		_, err = b.get("a", "1")
		b.refused("get", err, table.CodeTableNotFound)
		_, err = b.query(nil)
		b.refused("query", err, table.CodeTableNotFound)
	}},
	{"Names", func(b *tableBench) {
		for name, code := range map[string]storage.Code{
			"1ab": storage.CodeInvalidResourceName, "a_b": storage.CodeInvalidResourceName, "tables": storage.CodeInvalidResourceName, "Tables": storage.CodeInvalidResourceName,
			"的的的的的": storage.CodeInvalidResourceName, "ab": storage.CodeOutOfRangeInput, strings.Repeat("a", 64): storage.CodeOutOfRangeInput,
			"abc": "", strings.Repeat("Z", 63): "", "t1x": "",
		} {
			b.refused("create "+name, b.do(func(ctx context.Context, _ table.Table) error { return b.Account.Table(name).Create(ctx) }), code)
		}
	}},
	{"EveryTypeComesBack", func(b *tableBench) {
		b.create()
		e := row("p'1", "r ä+%&", "text", "a\"'\\\n<", "empty", "", "i", int32(-5), "l", int64(math.MaxInt64), "d", 5.0, "small", 1.5e-7, "yes", true, "no", false,
			"when", time.Date(2013, 8, 2, 17, 37, 43, 9004300, time.UTC), "old", time.Date(1601, 1, 1, 0, 0, 0, 0, time.UTC),
			"g", bindings.GUID{1, 2, 3, 15: 9}, "b", []byte{0, 255}, "none", []byte{}, "nan", math.NaN(), "inf", math.Inf(1), "minus", math.Inf(-1),
			"birthday", "a", "Birthday", "b", "ꉂꊰ", "yi", "etag", "x")
		b.insert(e)
		b.want(e)
	}},
	{"EmptyKeys", func(b *tableBench) {
		b.create()
		b.insert(row("", "", "n", int32(1)))
		if e, err := b.get("", ""); err != nil || e.Value("n") != int32(1) {
			b.Errorf("get of empty keys: %+v, %v", e, err)
		}
		_, err := b.put(table.Write{Mode: table.Delete, Entity: row("", ""), Match: table.AnyETag})
		b.must("delete", err)
		b.want()
	}},
	{"WhatIsThere", func(b *tableBench) { // spec tables 3.3, row by row
		b.create()
		modes := map[table.Mode][3]storage.Code{ // without a condition, with *, with a wrong tag
			table.Replace: {"", table.CodeResourceNotFound, table.CodeResourceNotFound},
			table.Merge:   {"", table.CodeResourceNotFound, table.CodeResourceNotFound},
			table.Delete:  {storage.CodeInvalidInput, table.CodeResourceNotFound, table.CodeResourceNotFound},
		}
		wrong := table.ETag(time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC))
		for mode, missing := range modes {
			for i, match := range []string{"", table.AnyETag, wrong} {
				e := row(mode.String(), fmt.Sprint(i))
				_, err := b.put(table.Write{Mode: mode, Entity: e, Match: match})
				b.refused(fmt.Sprintf("%s of nothing with %q", mode, match), err, missing[i])
				_, err = b.put(table.Write{Mode: table.Replace, Entity: e})
				b.must("replace", err)
				there := [3]storage.Code{"", "", table.CodeUpdateConditionNotSatisfied}
				if mode == table.Delete {
					there[0] = storage.CodeInvalidInput
				}
				_, err = b.put(table.Write{Mode: mode, Entity: e, Match: match})
				b.refused(fmt.Sprintf("%s with %q", mode, match), err, there[i])
			}
		}
		b.insert(row("x", "1"))
		_, err := b.put(table.Write{Entity: row("x", "1")})
		b.refused("insert twice", err, table.CodeEntityAlreadyExists)
		_, err = b.put(table.Write{Mode: table.Merge, Entity: row("x", "1"), Match: "abc"})
		b.refused("a tag that is none", err, storage.CodeInvalidInput)
	}},
	{"ReplaceAndMerge", func(b *tableBench) {
		b.create()
		b.insert(row("a", "1", "x", int32(1), "y", int32(2)))
		_, err := b.put(table.Write{Mode: table.Merge, Entity: row("a", "1", "y", "two", "z", true)})
		b.must("merge", err)
		b.want(row("a", "1", "x", int32(1), "y", "two", "z", true))
		_, err = b.put(table.Write{Mode: table.Replace, Entity: row("a", "1", "z", false)})
		b.must("replace", err)
		b.want(row("a", "1", "z", false))
	}},
	{"TagsFollowTheTimestamp", func(b *tableBench) {
		b.create()
		b.insert(row("a", "1"))
		first, err := b.get("a", "1")
		b.must("get", err)
		stamp, err := b.put(table.Write{Mode: table.Replace, Entity: row("a", "1"), Match: first.ETag()})
		b.must("replace with the tag", err)
		if !stamp.After(first.Timestamp) || stamp.Nanosecond()%100 != 0 {
			b.Errorf("the Timestamp went from %v to %v, want a later one in ticks", first.Timestamp, stamp)
		}
		second, err := b.get("a", "1")
		b.must("get", err)
		if second.ETag() != table.ETag(stamp) {
			b.Errorf("the tag is %s, the write said %s", second.ETag(), table.ETag(stamp))
		}
		_, err = b.put(table.Write{Mode: table.Delete, Entity: row("a", "1"), Match: first.ETag()})
		b.refused("delete with the old tag", err, table.CodeUpdateConditionNotSatisfied)
		_, err = b.put(table.Write{Mode: table.Delete, Entity: row("a", "1"), Match: strings.ReplaceAll(second.ETag(), "%3A", ":")})
		b.must("delete with a tag in another spelling", err)
		b.want()
	}},
	{"Limits", func(b *tableBench) {
		b.create()
		many := row("a", "1")
		for i := range 253 {
			many.Properties = append(many.Properties, table.Property{Name: fmt.Sprint("p", i), Value: int32(1)})
		}
		large := row("a", "1")
		for i := range 17 {
			large.Properties = append(large.Properties, table.Property{Name: fmt.Sprint("p", i), Value: make([]byte, 64<<10)})
		}
		for what, test := range map[string]struct {
			e    table.Entity
			code storage.Code
		}{
			"253 properties":            {many, table.CodeTooManyProperties},
			"a name of 256 letters":     {row("a", "1", strings.Repeat("n", 256), true), table.CodePropertyNameTooLong},
			"a name with a dash":        {row("a", "1", "a-b", true), table.CodePropertyNameInvalid},
			"a text of 32769 letters":   {row("a", "1", "t", strings.Repeat("x", 32769)), table.CodePropertyValueTooLarge},
			"a text of 16385 pairs":     {row("a", "1", "t", strings.Repeat("𝄞", 16385)), table.CodePropertyValueTooLarge},
			"65537 bytes":               {row("a", "1", "t", make([]byte, 65537)), table.CodePropertyValueTooLarge},
			"more than a MiB":           {large, table.CodeEntityTooLarge},
			"a key of 513 letters":      {row("a", strings.Repeat("k", 513)), table.CodeKeyValueTooLarge},
			"a key with a slash":        {row("a/", "1"), storage.CodeOutOfRangeInput},
			"a key with a control":      {row("a", "\u0080"), storage.CodeOutOfRangeInput},
			"a text of 32768 letters":   {row("a", "long", "t", strings.Repeat("ü", 32768)), ""},
			"a key of 512 letters":      {row("a", strings.Repeat("ö", 512)), ""},
			"a name of another script":  {row("a", "yi", "ꉂꊰ_1", true), ""},
			"252 properties and a half": {table.Entity{PartitionKey: "a", RowKey: "most", Properties: many.Properties[:252]}, ""},
		} {
			_, err := b.put(table.Write{Entity: test.e})
			b.refused(what, err, test.code)
		}
		_, err := b.put(table.Write{Mode: table.Merge, Entity: table.Entity{PartitionKey: "a", RowKey: "most", Properties: many.Properties[252:]}})
		b.refused("a merge that makes 253 properties", err, table.CodeTooManyProperties)
	}},
	{"TransactionIsOneWrite", func(b *tableBench) {
		b.create()
		b.insert(row("a", "old"), row("a", "gone"))
		stamp, err := b.submit(
			table.Write{Entity: row("a", "1")},
			table.Write{Mode: table.Merge, Entity: row("a", "old", "n", int32(1)), Match: table.AnyETag},
			table.Write{Mode: table.Delete, Entity: row("a", "gone"), Match: table.AnyETag},
			table.Write{Mode: table.Replace, Entity: row("a", "2")},
		)
		b.must("submit", err)
		b.want(row("a", "1"), row("a", "2"), row("a", "old", "n", int32(1)))
		for _, key := range []string{"1", "2", "old"} {
			if e, err := b.get("a", key); err != nil || !e.Timestamp.Equal(stamp) {
				b.Errorf("the Timestamp of %s is %v, want the transaction's %v (%v)", key, e, stamp, err)
			}
		}
	}},
	{"TransactionThatFailsDoesNothing", func(b *tableBench) {
		b.create()
		b.insert(row("a", "3", "n", int32(0)))
		before, err := b.get("a", "3")
		b.must("get", err)
		replace := table.Write{Mode: table.Replace, Entity: row("a", "3", "n", int32(9))}
		tests := []struct {
			what   string
			writes []table.Write
			index  int
			code   storage.Code
		}{
			{"the third is there", []table.Write{{Entity: row("a", "1")}, {Entity: row("a", "2")}, {Entity: row("a", "3")}}, 2, table.CodeEntityAlreadyExists},
			{"a wrong tag", []table.Write{replace, {Mode: table.Replace, Entity: row("a", "4"), Match: table.AnyETag}}, 1, table.CodeResourceNotFound},
			{"one row twice", []table.Write{replace, {Mode: table.Merge, Entity: row("a", "3")}}, 1, table.CodeInvalidDuplicateRow},
			{"two partitions", []table.Write{replace, {Entity: row("b", "1")}}, 1, table.CodeDifferentPartitions},
			{"a row twice before a failure", []table.Write{{Entity: row("a", "3")}, {Entity: row("a", "5")}, {Entity: row("a", "5")}}, 2, table.CodeInvalidDuplicateRow},
			{"a bad value", []table.Write{replace, {Entity: row("a", "5", "a-b", true)}}, 1, table.CodePropertyNameInvalid},
		}
		var many []table.Write
		for i := range 101 {
			many = append(many, table.Write{Entity: row("a", fmt.Sprint("m", i))})
		}
		tests = append(tests, struct {
			what   string
			writes []table.Write
			index  int
			code   storage.Code
		}{"101 writes", many, 99, storage.CodeInvalidInput})
		for _, test := range tests {
			_, err := b.submit(test.writes...)
			b.refused(test.what, err, test.code)
			if i := failedWrite(err); i != test.index {
				b.Errorf("%s: write %d failed, want %d", test.what, i, test.index)
			}
		}
		b.want(row("a", "3", "n", int32(0)))
		if after, err := b.get("a", "3"); err != nil || after.ETag() != before.ETag() {
			b.Errorf("the tag of what nobody wrote went from %s to %v (%v)", before.ETag(), after, err)
		}
		_, err = b.submit(many[:100]...)
		b.must("100 writes", err)
	}},
	{"Listing", func(b *tableBench) {
		for _, name := range []string{"zzza1", "Zzza0", "zzzb4", "zzza2", "zzza3"} {
			b.must("create", b.do(func(ctx context.Context, _ table.Table) error { return b.Account.Table(name).Create(ctx) }))
		}
		list := func(q *table.Query) (page *table.TablePage) {
			b.must("list", b.do(func(ctx context.Context, _ table.Table) (err error) {
				page, err = b.Account.Tables(ctx, q)
				return err
			}))
			return page
		}
		if got := list(nil); !slices.Equal(got.Names, []string{"Zzza0", "zzza1", "zzza2", "zzza3", "zzzb4"}) || got.Next != "" {
			b.Errorf("the list is %+v", got)
		}
		q := &table.Query{Filter: "TableName ge 'zzza' and TableName lt 'zzzb'", Top: 2}
		var names []string
		for {
			page := list(q)
			names = append(names, page.Names...)
			if page.Next == "" {
				break
			}
			q.From = &table.Key{Partition: page.Next}
		}
		if !slices.Equal(names, []string{"zzza1", "zzza2", "zzza3"}) { // Z comes before a
			b.Errorf("the filtered list is %q", names)
		}
	}},
}
