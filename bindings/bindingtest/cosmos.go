package bindingtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/cosmos"
)

// CosmosBackend is one fresh, empty account under test.
type CosmosBackend struct {
	Account cosmos.Account

	// Do runs f where the account may be called. Nil: anywhere will do.
	Do func(f func())
}

// RunCosmos holds a backend to the contract of cosmos.Account. open is called once
// for each subtest.
func RunCosmos(t *testing.T, open func(t *testing.T) *CosmosBackend) {
	for _, test := range []struct {
		name string
		run  func(ctx context.Context, b *cosmosBench)
	}{
		{"Containers", cosmosContainers},
		{"Documents", cosmosDocuments},
		{"BadDocuments", cosmosBadDocuments},
		{"Conditions", cosmosConditions},
		{"Transactions", cosmosTransactions},
		{"Feed", cosmosFeed},
		{"FeedPages", cosmosFeedPages},
		{"Ranges", cosmosRanges},
		{"BadPositions", cosmosBadPositions},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := &cosmosBench{T: t, CosmosBackend: open(t)}
			do := b.Do
			if do == nil {
				do = func(f func()) { f() }
			}
			do(func() { test.run(context.Background(), b) })
		})
	}
}

type cosmosBench struct {
	*testing.T
	*CosmosBackend
}

// want reports an error that is not what it should be; nil means none.
func (b *cosmosBench) want(what string, err, want error) {
	b.Helper()
	if !errors.Is(err, want) {
		b.Errorf("%s: %v, want %v", what, err, want)
	}
}

func (b *cosmosBench) container(ctx context.Context, key string, ranges int) cosmos.Container {
	b.Helper()
	c, err := b.Account.CreateContainer(ctx, cosmos.ContainerSpec{Database: "shop", Name: "orders", PartitionKey: key, Ranges: ranges})
	if err != nil {
		b.Error(err)
	}
	return c
}

// write creates or replaces documents, one transaction each.
func (b *cosmosBench) write(ctx context.Context, c cosmos.Container, documents ...string) {
	b.Helper()
	for _, text := range documents {
		if _, err := c.Upsert(ctx, []byte(text)); err != nil {
			b.Error(err)
		}
	}
}

// changes reads a page of range 0 and returns the identifiers in it.
func (b *cosmosBench) changes(ctx context.Context, c cosmos.Container, from cosmos.Position, limit int) (ids, next string) {
	b.Helper()
	page, err := c.Changes(ctx, "0", from, limit)
	if err != nil {
		b.Error(err)
	}
	var list []string
	for _, item := range page.Items {
		list = append(list, item.ID)
	}
	return strings.Join(list, ","), page.Continuation
}

func cosmosContainers(ctx context.Context, b *cosmosBench) {
	_, err := b.Account.Container(ctx, "shop", "orders")
	b.want("missing container", err, bindings.ErrNotFound)
	c := b.container(ctx, "", 0)
	info := c.Info()
	if info.PartitionKey != "/id" || info.Ranges != 1 || info.RID == "" || !strings.HasPrefix(info.RID, info.DatabaseRID[:5]) {
		b.Errorf("info %+v", info)
	}
	again, err := b.Account.Container(ctx, "shop", "orders")
	if err != nil || again.Info() != info {
		b.Errorf("found %+v, %v", again, err)
	}
	for what, test := range map[string]struct {
		spec cosmos.ContainerSpec
		want error
	}{
		"again":          {cosmos.ContainerSpec{Database: "shop", Name: "orders"}, bindings.ErrAlreadyExists},
		"no name":        {cosmos.ContainerSpec{Database: "shop"}, bindings.ErrInvalidName},
		"slash":          {cosmos.ContainerSpec{Database: "shop", Name: "a/b"}, bindings.ErrInvalidName},
		"long":           {cosmos.ContainerSpec{Database: strings.Repeat("a", 256), Name: "a"}, bindings.ErrInvalidName},
		"key":            {cosmos.ContainerSpec{Database: "shop", Name: "a", PartitionKey: "id"}, bindings.ErrInvalidArgument},
		"too many":       {cosmos.ContainerSpec{Database: "shop", Name: "a", Ranges: cosmos.MaxRanges + 1}, bindings.ErrInvalidArgument},
		"other case new": {cosmos.ContainerSpec{Database: "shop", Name: "Orders"}, nil},
	} {
		_, err := b.Account.CreateContainer(ctx, test.spec)
		b.want(what, err, test.want)
	}
}

func cosmosDocuments(ctx context.Context, b *cosmosBench) {
	c := b.container(ctx, "/customer", 1)
	made, err := c.Create(ctx, []byte(`{"id":"7","customer":"a","text":"<b>","_etag":"mine","_lsn":5}`))
	if err != nil {
		b.Error(err)
		return
	}
	var body map[string]any
	if err := json.Unmarshal(made.Body, &body); err != nil {
		b.Error(err)
	}
	if body["_etag"] != made.ETag || body["text"] != "<b>" || body["_lsn"] != nil || body["_rid"] == nil || body["_self"] == nil || body["_ts"] == nil {
		b.Errorf("body %s", made.Body)
	}
	_, err = c.Create(ctx, []byte(`{"id":"7","customer":"a"}`))
	b.want("create again", err, bindings.ErrAlreadyExists)
	_, err = c.Create(ctx, []byte(`{"id":"7","customer":"b"}`))
	b.want("same identifier, other key", err, nil)
	_, err = c.Create(ctx, []byte(`{"id":"7"}`))
	b.want("same identifier, no key", err, nil)
	_, err = c.Replace(ctx, []byte(`{"id":"8","customer":"a"}`), "")
	b.want("replace what is missing", err, bindings.ErrNotFound)
	if found, err := c.Read(ctx, "7", cosmos.KeyText("a")); err != nil || string(found.Body) != string(made.Body) {
		b.Errorf("read %v, %v", found, err)
	}
	_, err = c.Read(ctx, "7", cosmos.KeyText("c"))
	b.want("read with another key", err, bindings.ErrNotFound)
	items, err := c.Items(ctx, "7")
	if err != nil || len(items) != 3 || items[0].Key != "" || items[1].Key != `"a"` {
		b.Errorf("items %v, %v", items, err)
	}
	if items, err := c.Items(ctx, "77"); err != nil || len(items) != 0 {
		b.Errorf("items %v, %v", items, err)
	}
	b.want("delete", c.Delete(ctx, "7", cosmos.KeyText("a"), ""), nil)
	b.want("delete again", c.Delete(ctx, "7", cosmos.KeyText("a"), ""), bindings.ErrNotFound)
}

func cosmosBadDocuments(ctx context.Context, b *cosmosBench) {
	c := b.container(ctx, "/customer", 1)
	for what, text := range map[string]string{
		"no JSON": `{`, "empty": ``, "array": `[]`, "text": `"a"`, "no identifier": `{"a":1}`, "number": `{"id":1}`,
		"null": `{"id":null}`, "empty identifier": `{"id":""}`, "slash": `{"id":"a/b"}`, "long": `{"id":"` + strings.Repeat("a", 256) + `"}`,
		"two identifiers": `{"id":"a","id":"b"}`, "key": `{"id":"a","customer":{}}`, "two objects": `{"id":"a"}{"id":"b"}`,
	} {
		_, err := c.Create(ctx, []byte(text))
		b.want(what, err, bindings.ErrInvalidArgument)
		_, err = c.Upsert(ctx, []byte(text))
		b.want(what, err, bindings.ErrInvalidArgument)
	}
	_, err := c.Create(ctx, fmt.Appendf(nil, `{"id":"a","text":%q}`, strings.Repeat("x", cosmos.MaxItem)))
	b.want("large", err, bindings.ErrTooLarge)
	if items, err := c.Items(ctx, ""); err != nil || len(items) != 0 {
		b.Errorf("items %v, %v", items, err)
	}
}

func cosmosConditions(ctx context.Context, b *cosmosBench) {
	c := b.container(ctx, "", 1)
	first, err := c.Create(ctx, []byte(`{"id":"a"}`))
	b.want("create", err, nil)
	second, err := c.Replace(ctx, []byte(`{"id":"a","n":2}`), first.ETag)
	b.want("replace", err, nil)
	if second.ETag == first.ETag {
		b.Errorf("etag %s again", second.ETag)
	}
	_, err = c.Replace(ctx, []byte(`{"id":"a","n":3}`), first.ETag)
	b.want("replace another version", err, bindings.ErrConditionNotMet)
	b.want("delete another version", c.Delete(ctx, "a", `"a"`, first.ETag), bindings.ErrConditionNotMet)
	b.want("delete", c.Delete(ctx, "a", `"a"`, second.ETag), nil)
}

func cosmosTransactions(ctx context.Context, b *cosmosBench) {
	c := b.container(ctx, "/customer", 1)
	_, err := c.Upsert(ctx, []byte(`{"id":"1","customer":"a"}`), []byte(`{"id":"2","customer":"b"}`))
	b.want("two keys", err, bindings.ErrInvalidArgument)
	_, err = c.Upsert(ctx, []byte(`{"id":"1","customer":"a"}`), []byte(`{}`))
	b.want("one bad", err, bindings.ErrInvalidArgument)
	_, err = c.Upsert(ctx, make([][]byte, cosmos.MaxTransaction+1)...)
	b.want("too many", err, bindings.ErrTooLarge)
	if ids, _ := b.changes(ctx, c, cosmos.Position{}, 0); ids != "" {
		b.Errorf("stored in spite of that: %s", ids)
	}
	b.write(ctx, c, `{"id":"0","customer":"a"}`)
	_, err = c.Upsert(ctx, []byte(`{"id":"1","customer":"a"}`), []byte(`{"id":"2","customer":"a"}`), []byte(`{"id":"3","customer":"a"}`))
	b.want("upsert", err, nil)
	ids, next := b.changes(ctx, c, cosmos.Position{}, 2)
	if rest, _ := b.changes(ctx, c, cosmos.Position{Continuation: next}, 2); ids != "0,1,2,3" || rest != "" {
		b.Errorf("pages of two: %s, then %q", ids, rest)
	}
}

func cosmosFeed(ctx context.Context, b *cosmosBench) {
	c := b.container(ctx, "", 1)
	ids, empty := b.changes(ctx, c, cosmos.Position{}, 0)
	if ids != "" || empty == "" {
		b.Errorf("empty feed: %q, continuation %q", ids, empty)
	}
	b.write(ctx, c, `{"id":"a"}`, `{"id":"b"}`, `{"id":"c"}`, `{"id":"a","n":2}`)
	b.want("delete", c.Delete(ctx, "b", `"b"`, ""), nil)
	for what, from := range map[string]cosmos.Position{"beginning": {}, "continuation": {Continuation: empty}} {
		if ids, _ := b.changes(ctx, c, from, 0); ids != "c,a" {
			b.Errorf("from the %s: %s, want c,a", what, ids)
		}
	}
	page, err := c.Changes(ctx, "0", cosmos.Position{}, 0)
	b.want("changes", err, nil)
	var last struct {
		N   int
		LSN int64 `json:"_lsn"`
	}
	if err := json.Unmarshal(page.Items[1].Body, &last); err != nil || last.N != 2 || last.LSN == 0 {
		b.Errorf("latest version %+v, %v", last, err)
	}
	ids, now := b.changes(ctx, c, cosmos.Position{Now: true}, 0)
	if ids != "" {
		b.Errorf("from now: %s", ids)
	}
	b.write(ctx, c, `{"id":"d"}`)
	if ids, _ := b.changes(ctx, c, cosmos.Position{Continuation: now}, 0); ids != "d" {
		b.Errorf("since: %s", ids)
	}
}

func cosmosFeedPages(ctx context.Context, b *cosmosBench) {
	c := b.container(ctx, "", 1)
	const n = 250
	for i := range n {
		b.write(ctx, c, fmt.Sprintf(`{"id":"%03d"}`, i))
	}
	for i := range 150 { // many that are not seen any more
		b.write(ctx, c, fmt.Sprintf(`{"id":"%03d"}`, i))
	}
	var at cosmos.Position
	var all []string
	for {
		page, err := c.Changes(ctx, "0", at, 0)
		if err != nil || len(page.Items) == 0 {
			b.want("changes", err, nil)
			break
		}
		if len(page.Items) > cosmos.DefaultPage {
			b.Errorf("page of %d", len(page.Items))
		}
		for _, item := range page.Items {
			all = append(all, item.ID)
		}
		at.Continuation = page.Continuation
	}
	if len(all) != n || all[0] != "150" || all[100] != "000" || all[n-1] != "149" {
		b.Errorf("%d documents, from %s to %s", len(all), all[0], all[len(all)-1])
	}
}

func cosmosRanges(ctx context.Context, b *cosmosBench) {
	c := b.container(ctx, "/customer", 4)
	ranges, err := c.Ranges(ctx)
	if err != nil || len(ranges) != 4 || ranges[0].Min != "" || ranges[3].Max != "FF" || ranges[1].Min != ranges[0].Max {
		b.Errorf("ranges %+v, %v", ranges, err)
	}
	for i := range 200 {
		b.write(ctx, c, fmt.Sprintf(`{"id":"%d","customer":%d}`, i, i%50))
	}
	of := map[cosmos.Key]string{}
	total := 0
	for _, r := range ranges {
		page, err := c.Changes(ctx, r.ID, cosmos.Position{}, 1000)
		b.want("changes", err, nil)
		if len(page.Items) == 0 {
			b.Errorf("range %s has nothing", r.ID)
		}
		for _, item := range page.Items {
			if other, ok := of[item.Key]; ok && other != r.ID {
				b.Errorf("key %s is in ranges %s and %s", item.Key, other, r.ID)
			}
			of[item.Key] = r.ID
			total++
		}
	}
	if total != 200 {
		b.Errorf("%d documents in all", total)
	}
}

func cosmosBadPositions(ctx context.Context, b *cosmosBench) {
	c := b.container(ctx, "", 1)
	for _, token := range []string{"abc", "5", `"abc"`, `"1`, `"-1"`, `"01"`, `"5"`} {
		_, err := c.Changes(ctx, "0", cosmos.Position{Continuation: token}, 0)
		b.want("continuation "+token, err, bindings.ErrInvalidArgument)
	}
	_, err := c.Changes(ctx, "1", cosmos.Position{}, 0)
	b.want("missing range", err, bindings.ErrNotFound)
}
