package tables

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/bindings/table"
	"github.com/redeliver/redeliver/host/emulator/rest/odata"
)

// runBatch carries out a transaction, or the one query that stands in its place. Whatever
// comes of it, the batch itself is accepted (spec tables 5).
func runBatch(c call) error {
	body, err := c.Body(table.MaxPayload)
	if err != nil {
		return err
	}
	batch, err := odata.Read(c.R.Header.Get("Content-Type"), body)
	if err != nil {
		return err
	}
	var answers []odata.Answer
	if batch.Query {
		answers = []odata.Answer{c.batchQuery(batch.Parts[0])}
	} else {
		answers = c.transaction(batch.Parts)
	}
	var more []odata.Answer
	if batch.Another {
		more = append(more, c.failedPart(0, nil, table.NewError(storage.CodeInvalidInput)))
	}
	contentType, out := odata.Write(c.ID(), answers, batch.Query, more...)
	return c.AnswerAs(http.StatusAccepted, contentType, out)
}

// transaction does the writes of a change set: all, or none and an answer that says why.
func (c call) transaction(parts []odata.Part) []odata.Answer {
	fail := func(i int, err error) []odata.Answer {
		return []odata.Answer{c.failedPart(i, parts[i].Header, err)}
	}
	if len(parts) > table.MaxTransaction {
		return fail(table.MaxTransaction-1, table.Invalid("The batch request operation exceeds the maximum %d changes per change set.", table.MaxTransaction))
	}
	writes := make([]write, len(parts))
	addresses := make([]odata.Address, len(parts))
	wanted := make([]table.Write, len(parts))
	for i, p := range parts {
		var err error
		if writes[i], addresses[i], err = c.readPart(p); err != nil {
			return fail(i, err)
		}
		if table.Fold(addresses[i].Table) != table.Fold(addresses[0].Table) {
			return fail(i, table.NewError(table.CodeDifferentPartitions))
		}
		wanted[i] = writes[i].Write
	}
	var stamp time.Time
	err := c.Inside(func(ctx context.Context) (err error) {
		stamp, err = c.Account.Tables.Table(addresses[0].Table).Submit(ctx, wanted)
		return err
	})
	if err != nil {
		index := 0
		if at, ok := errors.AsType[*table.WriteError](err); ok {
			index = at.Index
		}
		return fail(index, err)
	}
	answers := make([]odata.Answer, len(parts))
	for i, w := range writes {
		answers[i] = c.done(w, addresses[i], stamp)
		answers[i].ContentID = parts[i].ContentID
	}
	return answers
}

// readPart reads a write of a change set.
func (c call) readPart(p odata.Part) (w write, to odata.Address, err error) {
	if to, err = odata.Parse(c.OwnPath(p.Path)); err != nil {
		return w, to, err
	}
	method, err := tunnelled(p.Method, p.Header)
	if err != nil {
		return w, to, err
	}
	switch {
	case to.Kind == odata.Rows && method == http.MethodPost:
	case to.Kind == odata.Row && method != http.MethodPost && method != http.MethodGet:
	default:
		return w, to, table.NewError(storage.CodeInvalidInput)
	}
	if w, err = readWrite(method, to, p.Header, p.Body); err != nil {
		return w, to, err
	}
	if refused := c.checkWrite(w, to.Table); refused != nil {
		return w, to, refused
	}
	return w, to, nil
}

// batchQuery answers a query that stands alone in a batch.
func (c call) batchQuery(p odata.Part) odata.Answer {
	a, err := c.queryPart(p)
	if err != nil {
		return c.failedPart(0, p.Header, err)
	}
	return a
}

func (c call) queryPart(p odata.Part) (odata.Answer, error) {
	from, err := odata.Parse(c.OwnPath(p.Path))
	if err != nil {
		return odata.Answer{}, err
	}
	query := p.Values()
	level, _, err := odata.Negotiate(query.Get("$format"), p.Header.Get("Accept"))
	if err != nil {
		return odata.Answer{}, err
	}
	if c.Letters() != nil && (!strings.Contains(*c.Letters(), "r") || c.Query.Has("tn") && !c.Query.Has("ss") && !c.ofTableSAS(from.Table)) {
		return odata.Answer{}, errSAS()
	}
	switch from.Kind {
	case odata.Row:
		return c.readEntity(from, level, query)
	case odata.Rows:
		return c.readEntities(from, level, query)
	}
	return odata.Answer{}, table.NewError(storage.CodeInvalidInput)
}

// failedPart is the one answer of a transaction that has failed, or of a query.
func (c call) failedPart(index int, h http.Header, err error) odata.Answer {
	e := failure(c.Call, err)
	a := odata.Answer{Status: e.Status, Header: [][2]string{{"X-Content-Type-Options", "nosniff"}, {"Cache-Control", "no-cache"}}}
	if prefer, ok := preference(h); ok {
		a.Header = append(a.Header, [2]string{"Preference-Applied", prefer})
	}
	a.Header = append(a.Header, [2]string{"DataServiceVersion", "3.0;"}, [2]string{"Content-Type", odata.ErrorContentType(table.Minimal)})
	now := c.Now().Format("2006-01-02T15:04:05.0000000Z")
	a.Body = odata.Error(e.Code, fmt.Sprintf("%d:%s\nRequestId:%s\nTime:%s", index, e.Message, c.ID(), now))
	return a
}
