package azure

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/redeliver/redeliver/bindings/storage"
	tableapi "github.com/redeliver/redeliver/bindings/table"
)

// writeEntity is the JSON of an entity with the type of each property.
func writeEntity(e *tableapi.Entity) []byte {
	members := map[string]json.RawMessage{"PartitionKey": jsonOf(e.PartitionKey), "RowKey": jsonOf(e.RowKey)}
	for _, p := range e.Properties {
		if p.Value == nil {
			continue
		}
		members[p.Name] = tableapi.AppendValue(nil, p.Value)
		members[p.Name+"@odata.type"] = jsonOf(string(tableapi.TypeOf(p.Value)))
	}
	return jsonOf(members)
}

func jsonOf(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil { // texts, and JSON that was written
		panic(err)
	}
	return raw
}

// readEntity reads an entity of an answer.
func readEntity(body []byte) (*tableapi.Entity, error) {
	in, err := tableapi.Parse(body)
	if err != nil {
		return nil, err
	}
	var system struct {
		Timestamp string
		ETag      string `json:"odata.etag"`
	}
	if err := json.Unmarshal(body, &system); err != nil {
		return nil, err
	}
	if in.Timestamp, err = stampOf(system.ETag); err != nil {
		return nil, err
	}
	return &in.Entity, nil
}

func readEntities(body []byte) ([]tableapi.Entity, error) {
	var list struct{ Value []json.RawMessage }
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, err
	}
	var out []tableapi.Entity
	for _, raw := range list.Value {
		e, err := readEntity(raw)
		if err != nil {
			return nil, err
		}
		out = append(out, *e)
	}
	return out, nil
}

// stampOf is the Timestamp in the tag of an entity.
func stampOf(tag string) (time.Time, error) {
	_, date, _ := strings.Cut(tag, "datetime'")
	date, _, ok := strings.Cut(date, "'")
	plain, err := url.PathUnescape(date)
	if !ok || err != nil {
		return time.Time{}, fmt.Errorf("the service's tag %q has no date", tag)
	}
	return tableapi.ParseTime(plain)
}

// batchStamp is the Timestamp that a transaction has given, the zero one if it only deleted.
func batchStamp(body []byte) (time.Time, error) {
	for line := range strings.Lines(string(body)) {
		if name, tag, ok := strings.Cut(line, ":"); ok && strings.EqualFold(name, "ETag") {
			return stampOf(strings.TrimSpace(tag))
		}
	}
	return time.Time{}, nil
}

// translateTable returns the error of a call in the terms of package table: a *storage.Error
// for a refusal by the service, in a *table.WriteError for that of a write of a transaction.
func translateTable(ctx context.Context, err error, got *answer) error {
	if own, ok := errors.AsType[*storage.Error](err); ok {
		return own
	}
	r, ok := errors.AsType[*azcore.ResponseError](err)
	if !ok || ctx.Err() != nil {
		return translate(ctx, err)
	}
	text := ""
	if got != nil {
		text = string(got.body)
	}
	refused := refusedTable(text, r)
	if r.StatusCode != http.StatusAccepted {
		return refused
	}
	index, rest, ok := strings.Cut(refused.Text, ":")
	n, err := strconv.Atoi(index)
	if !ok || err != nil {
		return refused
	}
	refused.Text = rest
	return &tableapi.WriteError{Index: n, Err: refused}
}

// refusedTable reads the code and the text of a failure, also where it is a part of a batch.
func refusedTable(body string, r *azcore.ResponseError) *storage.Error {
	out := &storage.Error{Code: storage.Code(r.ErrorCode), Status: r.StatusCode}
	if r.StatusCode == http.StatusAccepted {
		out.Code = ""
		if _, rest, ok := strings.Cut(body, "HTTP/1.1 "); ok && len(rest) > 3 {
			out.Status, _ = strconv.Atoi(rest[:3])
		}
	}
	if i := strings.IndexByte(body, '{'); i >= 0 {
		var doc struct {
			Error struct {
				Code    string
				Message struct{ Value string }
			} `json:"odata.error"`
		}
		if json.NewDecoder(strings.NewReader(body[i:])).Decode(&doc) == nil && doc.Error.Code != "" {
			out.Code = storage.Code(doc.Error.Code)
			out.Text, _, _ = strings.Cut(doc.Error.Message.Value, "\n")
		}
	}
	if out.Code == "" {
		out.Code = codeOfTableStatus(out.Status)
	}
	return out
}

// codeOfTableStatus is for answers without a code, as an answer to a point read has it by way
// of some proxies.
func codeOfTableStatus(status int) storage.Code {
	switch status {
	case http.StatusNotFound:
		return tableapi.CodeResourceNotFound
	case http.StatusConflict:
		return tableapi.CodeEntityAlreadyExists
	case http.StatusPreconditionFailed:
		return tableapi.CodeUpdateConditionNotSatisfied
	}
	return ""
}
