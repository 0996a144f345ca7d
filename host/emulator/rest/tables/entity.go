package tables

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/bindings/table"
	"github.com/redeliver/redeliver/host/emulator/rest"
	"github.com/redeliver/redeliver/host/emulator/rest/odata"
)

// form is the form in which an answer writes entities of a table.
func (c call) form(level table.Level, query url.Values, of string) *table.Form {
	return &table.Form{Level: level, Base: c.Base(), Account: c.Account.Name, Table: of, Select: odata.Select(query)}
}

// answerWith writes the answer to a request that stands alone.
func (c call) answerWith(a odata.Answer) error {
	contentType := ""
	for _, h := range a.Header {
		if h[0] == "Content-Type" {
			contentType = h[1]
			continue
		}
		c.W.Header().Set(h[0], h[1])
	}
	return c.AnswerAs(a.Status, contentType, a.Body)
}

// json is an answer with a body of entities or tables.
func (c call) json(status int, body []byte) error {
	return c.AnswerAs(status, odata.ContentType(c.request().level), body)
}

// write is a write that a request asks for, alone or in a batch.
type write struct {
	table.Write
	prefer string // what is to come back of an insert; empty: nothing was said
	level  table.Level
}

// readWrite reads a write: the method that is meant, the address, the headers and the body.
func readWrite(method string, to odata.Address, h http.Header, body []byte) (w write, err error) {
	w.prefer, _ = preference(h)
	w.level, _, _ = odata.Negotiate("", h.Get("Accept"))
	in := table.Input{}
	if method != http.MethodDelete && (len(body) > 0 || method == http.MethodPost || method == http.MethodPut) {
		if in, err = table.Parse(body); err != nil {
			return w, err
		}
	}
	w.Entity = in.Entity
	if to.Kind == odata.Rows {
		if in.NoPartitionKey || in.NoRowKey {
			return w, table.NewError(table.CodePropertiesNeedValue)
		}
		return w, nil
	}
	w.Entity.PartitionKey, w.Entity.RowKey = to.Partition, to.Row // those of a body do not count (T-21)
	w.Mode = map[string]table.Mode{http.MethodPut: table.Replace, http.MethodDelete: table.Delete}[method]
	if w.Mode == table.Insert {
		w.Mode = table.Merge
	}
	if len(h.Values("If-None-Match")) > 0 && (w.Mode != table.Merge || ifMatch(h)) || ifMatch(h) && h.Get("If-Match") == "" {
		return w, table.NewError(storage.CodeInvalidInput)
	}
	w.Match = h.Get("If-Match")
	return w, nil
}

// done is the answer to a write that has succeeded.
func (c call) done(w write, to odata.Address, stamp time.Time) odata.Answer {
	if w.Mode != table.Insert {
		a := odata.Answer{Status: http.StatusNoContent, Header: [][2]string{{"X-Content-Type-Options", "nosniff"}, {"Cache-Control", "no-cache"}, {"DataServiceVersion", "1.0;"}}}
		if w.Mode != table.Delete {
			a.Header = append(a.Header, [2]string{"ETag", table.ETag(stamp)})
		}
		return a
	}
	address := c.Base() + "/" + table.Address(to.Table, w.Entity.PartitionKey, w.Entity.RowKey)
	a := odata.Answer{Status: http.StatusCreated, Header: [][2]string{{"X-Content-Type-Options", "nosniff"}, {"Cache-Control", "no-cache"}}}
	if w.prefer != "" {
		a.Header = append(a.Header, [2]string{"Preference-Applied", w.prefer})
	}
	a.Header = append(a.Header, [2]string{"DataServiceVersion", "3.0;"}, [2]string{"Location", address})
	if w.prefer == "return-no-content" {
		a.Status = http.StatusNoContent
		a.Header = append(a.Header, [2]string{"DataServiceId", address})
	} else {
		a.Header = append(a.Header, [2]string{"Content-Type", odata.ContentType(w.level)})
		w.Entity.Timestamp = stamp
		form := c.form(w.level, nil, to.Table)
		a.Body = form.Append(nil, &w.Entity, c.metadata(to.Table, true))
	}
	a.Header = append(a.Header, [2]string{"ETag", table.ETag(stamp)})
	return a
}

// metadata is the odata.metadata of an answer about a table, or about one of its elements.
func (c call) metadata(of string, element bool) string {
	address := c.Base() + "/$metadata#" + of
	if element {
		address += "/@Element"
	}
	return address
}

// checkWrite refuses what the caller's signature does not allow of a write.
func (c call) checkWrite(w write, to string) *rest.Error {
	if c.Letters() == nil {
		return nil
	}
	letters := map[table.Mode]string{table.Insert: "a", table.Delete: "d"}[w.Mode]
	if letters == "" {
		letters = "u"
		if w.Match == "" {
			letters = "au" // it may insert and update, so it needs both (T-25)
		}
	}
	for _, letter := range letters {
		if !strings.ContainsRune(*c.Letters(), letter) {
			return rest.ErrNotAuthorized("Permission", "permission")
		}
	}
	if c.Query.Has("tn") && !c.Query.Has("ss") && !c.ofTableSAS(to) || !c.tableRange().Holds(table.Key{Partition: w.Entity.PartitionKey, Row: w.Entity.RowKey}) {
		return errSAS()
	}
	return nil
}

// writeEntity does one write, and answers.
func writeEntity(c call) error {
	method, err := tunnelled(c.R.Method, c.R.Header)
	if err != nil {
		return err
	}
	body, err := c.Body(table.MaxPayload)
	if err != nil {
		return err
	}
	w, err := readWrite(method, c.request().Address, c.R.Header, body)
	if storage.CodeOf(err) == table.CodePropertiesNeedValue { // of a table that is there
		if missing := c.Inside(func(ctx context.Context) error {
			_, err := c.Account.TableAdmin.TablePolicies(ctx, c.request().Table)
			return err
		}); missing != nil {
			return missing
		}
	}
	if err != nil {
		return err
	}
	w.level = c.request().level
	if refused := c.checkWrite(w, c.request().Table); refused != nil {
		return refused
	}
	var stamp time.Time
	err = c.Inside(func(ctx context.Context) (err error) {
		stamp, err = c.Account.Tables.Table(c.request().Table).Write(ctx, w.Write)
		return err
	})
	if err != nil {
		return err
	}
	return c.answerWith(c.done(w, c.request().Address, stamp))
}

func getEntity(c call) error {
	a, err := c.readEntity(c.request().Address, c.request().level, c.Query.Values)
	if err != nil {
		return err
	}
	return c.answerWith(a)
}

// readEntity reads one entity.
func (c call) readEntity(from odata.Address, level table.Level, query url.Values) (odata.Answer, error) {
	if err := odata.CheckQuery(query); err != nil {
		return odata.Answer{}, err
	}
	if !c.tableRange().Holds(table.Key{Partition: from.Partition, Row: from.Row}) {
		return odata.Answer{}, errSAS()
	}
	var e *table.Entity
	err := c.Inside(func(ctx context.Context) (err error) {
		e, err = c.Account.Tables.Table(from.Table).Get(ctx, from.Partition, from.Row)
		return err
	})
	if err != nil {
		return odata.Answer{}, err
	}
	form := c.form(level, query, from.Table)
	return odata.Answer{
		Status: http.StatusOK,
		Header: [][2]string{{"Content-Type", odata.ContentType(level)}, {"DataServiceVersion", "3.0;"}, {"ETag", e.ETag()}},
		Body:   form.Append(nil, e, c.metadata(from.Table, true)),
	}, nil
}

func queryEntities(c call) error {
	a, err := c.readEntities(c.request().Address, c.request().level, c.Query.Values)
	if err != nil {
		return err
	}
	return c.answerWith(a)
}

// readEntities reads a page of entities.
func (c call) readEntities(from odata.Address, level table.Level, query url.Values) (a odata.Answer, err error) {
	if err := odata.CheckQuery(query); err != nil {
		return a, err
	}
	q := &table.Query{Filter: query.Get("$filter"), Within: c.tableRange()}
	var limited bool
	if q.Top, limited, err = odata.Top(query); err != nil {
		return a, err
	}
	if q.From, err = odata.From(query); err != nil {
		return a, err
	}
	none := limited && q.Top == 0
	var page *table.Page
	err = c.Inside(func(ctx context.Context) (err error) {
		page, err = c.Account.Tables.Table(from.Table).Query(ctx, q)
		return err
	})
	if err != nil {
		return a, err
	}
	if none {
		page = &table.Page{}
	}
	c.tellMixed(q.Filter, page.Mixed)
	form := c.form(level, query, from.Table)
	a = odata.Answer{Status: http.StatusOK, Header: [][2]string{{"Content-Type", odata.ContentType(level)}, {"DataServiceVersion", "3.0;"}}}
	if page.Next != nil {
		a.Header = append(a.Header, [2]string{"x-ms-continuation-NextPartitionKey", odata.Token(page.Next.Partition)}, [2]string{"x-ms-continuation-NextRowKey", odata.Token(page.Next.Row)})
	}
	a.Body = list(level, c.metadata(from.Table, false), len(page.Entities), func(b []byte, i int) []byte {
		return form.Append(b, &page.Entities[i], "")
	})
	return a, nil
}

// list writes the body of a list.
func list(level table.Level, metadata string, n int, element func(b []byte, i int) []byte) []byte {
	b := make([]byte, 0, 128+n*256)
	b = append(b, '{')
	if level != table.None {
		b = append(table.AppendValue(append(b, `"odata.metadata":`...), metadata), ',')
	}
	b = append(b, `"value":[`...)
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = element(b, i)
	}
	return append(b, "]}"...)
}

// tellMixed says once of each filter that it compares numbers of different types (T-8).
func (c call) tellMixed(filter, mixed string) {
	if mixed != "" {
		c.WarnOnce("$filter "+filter, mixed+": "+filter)
	}
}
