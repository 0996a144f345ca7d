package rest_test

import (
	"bufio"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/bindings/table"
	"github.com/redeliver/redeliver/host/emulator/rest"
	"github.com/redeliver/redeliver/host/emulator/storage"
)

// What an address cannot name is refused, alone and in a transaction: a key that is no UTF-8
// would come back as another one, and no token could lead to it.
func TestAddressesOfEntities(t *testing.T) {
	t.Parallel()
	b := newTableBench(t)
	long := strings.Repeat("k", table.MaxKey+1)
	for key, code := range map[string]string{"%FF": "InvalidUri", "%ED%A0%80": "InvalidUri", long: "KeyValueTooLarge", "a%2Fb": "InvalidInput"} {
		for _, method := range []string{"PUT", "PATCH"} {
			b.want(400, code, method, "/orders(PartitionKey='"+key+"',RowKey='1')", "{}")
			b.want(400, code, method, "/orders(PartitionKey='1',RowKey='"+key+"')", "{}")
		}
		a := b.changeSet("PUT /devstoreaccount1/orders(PartitionKey='1',RowKey='" + key + "') HTTP/1.1\r\n\r\n{}")
		b.expect(a.Body, "HTTP/1.1 400 Bad Request", `"code":"`+code+`"`)
	}
	a := b.changeSet("PUT /devstoreaccount1/orders(PartitionKey='1',RowKey='%zz') HTTP/1.1\r\n\r\n{}")
	b.expect(a.Body, "HTTP/1.1 400 Bad Request", `"code":"InvalidUri"`)
	if a := b.want(200, "", "GET", "/orders", ""); !strings.Contains(a.Body, `"value":[]`) {
		t.Errorf("an address that was refused has made a row: %s", a.Body)
	}
}

// changeSet sends operations as one transaction.
func (b *tableBench) changeSet(operations ...string) answer {
	b.Helper()
	body := "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n"
	for _, o := range operations {
		body += "--c\r\nContent-Type: application/http\r\n\r\n" + o + "\r\n"
	}
	return b.want(202, "", "POST", "/$batch", body+"--c--\r\n--b--\r\n", header("Content-Type", "multipart/mixed; boundary=b"))
}

// Both conditions at once are refused for every write (spec tables 8).
func TestTwoConditions(t *testing.T) {
	t.Parallel()
	b := newTableBench(t)
	b.insert("a", "1", "")
	for _, method := range []string{"PUT", "PATCH", "MERGE", "DELETE"} {
		b.want(400, "InvalidInput", method, "/orders(PartitionKey='a',RowKey='1')", "{}", header("If-Match", "*"), header("If-None-Match", "*"))
	}
}

// What a write ignores it ignores whatever its value (spec tables 3.2).
func TestIgnoredMembers(t *testing.T) {
	t.Parallel()
	b := newTableBench(t)
	a := b.want(201, "", "POST", "/orders", `{"odata.x":{"a":[1,{}]},"PartitionKey":"a","Timestamp":[{}],"RowKey":"1","n":1}`)
	b.expect(a.Body, `"RowKey":"1","Timestamp":"2030-01-02T03:04:05`, `Z","n":1}`)
	b.want(400, "InvalidInput", "POST", "/orders", `{"PartitionKey":"a","RowKey":"2","odata.x":{"a":1}`)
	b.want(400, "InvalidInput", "POST", "/orders", `{"PartitionKey":"a","RowKey":"2","odata.x":[`)
}

func TestSelectedTwice(t *testing.T) {
	t.Parallel()
	b := newTableBench(t)
	b.insert("a", "1", `,"n":1`)
	b.expect(b.want(200, "", "GET", "/orders?$select=n,RowKey,n", "").Body, `"n":1,"RowKey":"1"}`)
}

// The header Allow names what the address takes with this comp.
func TestTableMethods(t *testing.T) {
	t.Parallel()
	b := newTableBench(t)
	for path, allow := range map[string]string{
		"/orders?comp=acl": "GET, HEAD, PUT", "/orders": "GET, POST", "/Tables": "GET, POST", "/Tables('orders')": "DELETE, GET",
		"/orders(PartitionKey='a',RowKey='1')": "DELETE, GET, MERGE, PATCH, PUT", "/$batch": "POST",
	} {
		if a := b.want(405, "MethodNotAllowed", "TRACE", path, ""); a.Header.Get("Allow") != allow {
			t.Errorf("%s allows %q, want %q", path, a.Header.Get("Allow"), allow)
		}
	}
}

// A body has a length, or comes in chunks (spec tables 8).
func TestTableBodyWithoutLength(t *testing.T) {
	t.Parallel()
	b := newTableBench(t)
	for method, status := range map[string]int{"POST": 411, "PUT": 411, "PATCH": 411, "MERGE": 411, "GET": 404, "DELETE": 404} {
		r := b.request(method, "/orders(PartitionKey='a',RowKey='1')", "")
		text := r.Header.Get("X-Ms-Date") + "\n/" + rest.DevAccount + r.URL.EscapedPath()
		conn := b.dial()
		fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: localhost\r\nIf-Match: *\r\nX-Ms-Date: %s\r\nAuthorization: SharedKeyLite %s:%s\r\n\r\n",
			method, r.URL.EscapedPath(), r.Header.Get("X-Ms-Date"), rest.DevAccount, mac(t, rest.DevKey, text))
		resp, err := http.ReadResponse(bufio.NewReader(conn), r)
		if err != nil {
			t.Fatal(err)
		}
		if resp.Body.Close(); resp.StatusCode != status {
			t.Errorf("%s was answered %d %s, want %d", method, resp.StatusCode, resp.Header.Get("X-Ms-Error-Code"), status)
		}
		conn.Close()
	}
	b.want(204, "", "PUT", "/orders(PartitionKey='a',RowKey='1')", "{}", func(r *http.Request) { r.ContentLength = -1 })
}

// A fault that names a code of the service is answered as the service does (spec tables 10.5).
func TestTableFaults(t *testing.T) {
	t.Parallel()
	var text string
	b := newTableBench(t, func(s *setup) {
		s.store.Fault = func(p storage.FaultPoint) error { return table.Failure(text) }
	})
	for code, status := range map[string]int{"TableBeingDeleted": 409, "ServerBusy": 503, "OperationTimedOut": 500, "InternalError": 500, "EntityTooLarge": 400} {
		text = code
		b.want(status, code, "POST", "/orders", `{"PartitionKey":"a","RowKey":"1"}`)
		b.expect(b.changeSet("PUT /devstoreaccount1/orders(PartitionKey='a',RowKey='1') HTTP/1.1\r\n\r\n{}").Body, fmt.Sprintf("HTTP/1.1 %d ", status), `"code":"`+code+`"`, `"value":"0:`)
	}
	if text = "no such code"; table.Failure(text) != nil {
		t.Error("a text that is no code is a failure of its own")
	}
	b.want(201, "", "POST", "/orders", `{"PartitionKey":"a","RowKey":"1"}`)
}
