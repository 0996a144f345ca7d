package worker

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/worker/workerpb"
)

// The members of a map of protobuf have an order on the wire, which workers keep: the
// platform sends the parameters of a query in the order in which they came. Go's library
// sends them in any.

// The numbers of the fields of RpcHttp.
const (
	queryField         = 15
	nullableQueryField = 22
)

// queries calls f for each request of a message that has several parameters, with their
// names in the order in which they came, each of them in it.
func queries(m *message, f func(r *workerpb.RpcHttp, names []string)) {
	for _, in := range m.GetInvocationRequest().GetInputData() {
		r := in.GetData().GetHttp()
		if len(r.GetQuery())+len(r.GetNullableQuery()) < 2 {
			continue
		}
		var names []string
		for _, p := range (&bindings.HTTPRequest{URL: r.GetUrl()}).Parameters() {
			names = append(names, p.Name)
		}
		for _, name := range slices.Sorted(maps.Keys(r.GetQuery())) { // that the URL does not have
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(r.GetNullableQuery())) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		f(r, names)
	}
}

// inOrder makes the parameters of queries travel in their order over gRPC: already encoded.
// It changes m.
func inOrder(m *message) *message {
	queries(m, func(r *workerpb.RpcHttp, names []string) {
		var raw []byte
		entry := func(field protowire.Number, name string, value []byte) {
			body := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), name)
			body = protowire.AppendBytes(protowire.AppendTag(body, 2, protowire.BytesType), value)
			raw = protowire.AppendBytes(protowire.AppendTag(raw, field, protowire.BytesType), body)
		}
		for _, name := range names {
			if value, ok := r.GetQuery()[name]; ok {
				entry(queryField, name, []byte(value))
			}
			if value, ok := r.GetNullableQuery()[name]; ok {
				encoded, _ := proto.Marshal(value) // text
				entry(nullableQueryField, name, encoded)
			}
		}
		r.Query, r.NullableQuery = nil, nil
		r.ProtoReflect().SetUnknown(raw)
	})
	return m
}

// linesInOrder is the line of m with the parameters of queries in their order.
func linesInOrder(line []byte, m *message) ([]byte, error) {
	var err error
	queries(m, func(r *workerpb.RpcHttp, names []string) {
		members := func(r *workerpb.RpcHttp) []byte { // {"query":{"a":"1"}} without the outer braces
			text, e := protojson.Marshal(r)
			if e != nil {
				err = fmt.Errorf("encode a query: %w", e)
				return nil
			}
			return bytes.TrimSuffix(bytes.TrimPrefix(text, []byte("{")), []byte("}"))
		}
		sorted := members(&workerpb.RpcHttp{Query: r.GetQuery(), NullableQuery: r.GetNullableQuery()})
		var ordered []byte
		for _, name := range names {
			one := &workerpb.RpcHttp{}
			if value, ok := r.GetQuery()[name]; ok {
				one.Query = map[string]string{name: value}
			}
			if value, ok := r.GetNullableQuery()[name]; ok {
				one.NullableQuery = map[string]*workerpb.NullableString{name: value}
			}
			if proto.Size(one) == 0 {
				continue
			}
			text := members(one)
			if len(ordered) > 0 { // the name of the map stands before the first alone
				text = text[bytes.IndexByte(text, '{')+1:]
				ordered = append(ordered[:len(ordered)-1], ',')
			}
			ordered = append(ordered, text...)
		}
		line = bytes.Replace(line, sorted, ordered, 1)
	})
	return line, err
}
