package rest_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/bindings/table"
	"github.com/redeliver/redeliver/host/emulator/rest"
)

// tableBench is a server with the Table service of the development account, in which the
// table orders exists.
type tableBench struct{ *bench }

func newTableBench(t *testing.T, edit ...func(*setup)) *tableBench {
	t.Helper()
	b := &tableBench{newBench(t, append(edit, func(s *setup) { s.tables = true })...)}
	b.endpoint = b.server.TableURL() + "/" + rest.DevAccount
	b.want(201, "", "POST", "/Tables", `{"TableName":"orders"}`)
	return b
}

// call sends a request that is signed as clients of tables sign it.
func (b *tableBench) call(method, path, body string, edit ...func(*http.Request)) answer {
	b.Helper()
	r := b.request(method, path, body)
	for _, e := range edit {
		e(r)
	}
	text := r.Header.Get("X-Ms-Date") + "\n/" + rest.DevAccount + r.URL.EscapedPath()
	if comp := r.URL.Query().Get("comp"); comp != "" {
		text += "?comp=" + comp
	}
	r.Header.Set("Authorization", "SharedKeyLite "+rest.DevAccount+":"+mac(b.T, rest.DevKey, text))
	return b.send(r)
}

func (b *tableBench) want(status int, code, method, path, body string, edit ...func(*http.Request)) answer {
	b.Helper()
	a := b.call(method, path, body, edit...)
	if a.Status != status || a.Code != code {
		b.Fatalf("%s %s %s = %d %s, want %d %s\n%s", method, path, body, a.Status, a.Code, status, code, a.Body)
	}
	return a
}

// insert adds an entity of a partition, with further members.
func (b *tableBench) insert(partition, row, more string) {
	b.Helper()
	b.want(201, "", "POST", "/orders", fmt.Sprintf(`{"PartitionKey":%q,"RowKey":%q%s}`, partition, row, more))
}

// rowKeys are the row keys of a list, in order.
func rowKeys(body string) string {
	var keys []string
	for _, m := range regexp.MustCompile(`"RowKey":"([^"]*)"`).FindAllStringSubmatch(body, -1) {
		keys = append(keys, m[1])
	}
	return strings.Join(keys, " ")
}

// expect reports what is not in a text.
func (b *tableBench) expect(text string, parts ...string) {
	b.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			b.Errorf("no %q in\n%s", p, text)
		}
	}
}

// Spec tables 13, rows 1 to 11.
func TestTables(t *testing.T) {
	t.Parallel()
	b := newTableBench(t)
	a := b.want(201, "", "POST", "/Tables", `{"TableName":"t1x"}`)
	b.expect(a.Body, `$metadata#Tables/@Element","TableName":"t1x"}`)
	if l := a.Header.Get("Location"); !strings.HasSuffix(l, "/Tables('t1x')") {
		t.Errorf("Location is %s", l)
	}
	a = b.want(409, "TableAlreadyExists", "POST", "/Tables", `{"TableName":"t1x"}`)
	b.expect(a.Body, `{"odata.error":{"code":"TableAlreadyExists","message":{"lang":"en-US","value":"The table specified already exists.\nRequestId:`, `\nTime:2030-01-02T03:04:05.0000000Z"}}}`)
	b.want(409, "TableAlreadyExists", "POST", "/Tables", `{"TableName":"ORDERS"}`)
	for _, name := range []string{"1ab", "a_b", "tables", "啊齄丂狛狜"} {
		b.want(400, "InvalidResourceName", "POST", "/Tables", `{"TableName":"`+name+`"}`)
	}
	for _, name := range []string{"ab", strings.Repeat("a", 64)} {
		b.want(400, "OutOfRangeInput", "POST", "/Tables", `{"TableName":"`+name+`"}`)
	}
	b.want(400, "PropertiesNeedValue", "POST", "/Tables", `{}`)
	a = b.want(204, "", "POST", "/Tables", `{"TableName":"zzza0"}`, header("Prefer", "return-no-content"))
	if p := a.Header.Get("Preference-Applied"); p != "return-no-content" || a.Body != "" {
		t.Errorf("Preference-Applied is %q, the body %q", p, a.Body)
	}
	for _, name := range []string{"zzza1", "zzza2", "zzza3", "zzzb4"} {
		b.want(201, "", "POST", "/Tables", `{"TableName":"`+name+`"}`)
	}
	filter := "/Tables?$filter=TableName%20ge%20'zzza'%20and%20TableName%20lt%20'zzzb'"
	a = b.want(200, "", "GET", filter, "")
	b.expect(a.Body, `"value":[{"TableName":"zzza0"},{"TableName":"zzza1"},{"TableName":"zzza2"},{"TableName":"zzza3"}]`)
	a = b.want(200, "", "GET", filter+"&$top=2", "")
	next := a.Header.Get("X-Ms-Continuation-Nexttablename")
	a = b.want(200, "", "GET", filter+"&$top=2&NextTableName="+next, "")
	b.expect(a.Body, `"value":[{"TableName":"zzza2"},{"TableName":"zzza3"}]`)
	b.want(404, "ResourceNotFound", "DELETE", "/Tables('nope')", "")
	b.want(204, "", "DELETE", "/Tables('orders')", "")
	b.want(201, "", "POST", "/Tables", `{"TableName":"orders"}`)
	b.want(201, "", "POST", "/Tables", `{"TableName":"MyTable"}`)
	b.want(201, "", "POST", "/mytable", `{"PartitionKey":"a","RowKey":"1"}`)
	b.expect(b.want(200, "", "GET", "/Tables()", "").Body, `"MyTable"`)
	b.expect(b.want(200, "", "GET", "/Tables('MYTABLE')", "", header("Accept", "application/json;odata=fullmetadata")).Body,
		`"odata.type":"devstoreaccount1.Tables"`, `"odata.editLink":"Tables('MyTable')"`)
	b.want(405, "MethodNotAllowed", "PATCH", "/Tables('orders')", "{}")
	b.want(405, "UnsupportedHttpVerb", "DELETE", "/?comp=properties", "")
}

// Spec tables 13, rows 12 to 31.
func TestEntities(t *testing.T) {
	t.Parallel()
	b := newTableBench(t)
	a := b.want(204, "", "POST", "/orders", `{"PartitionKey":"a","RowKey":"1"}`, header("Prefer", "return-no-content"))
	for _, name := range []string{"Etag", "Location", "Dataserviceid", "Preference-Applied"} {
		if a.Header.Get(name) == "" {
			t.Errorf("no header %s in %v", name, a.Header)
		}
	}
	a = b.want(201, "", "POST", "/orders", `{"PartitionKey":"a","RowKey":"2","n":5}`)
	b.expect(a.Body, `"odata.etag":"W/\"datetime'2030-01-02T03%3A04%3A05`, `"PartitionKey":"a","RowKey":"2","Timestamp":"2030-01-02T03:04:05`, `"n":5}`)
	if tag := strings.ReplaceAll(a.Header.Get("Etag"), `"`, `\"`); !strings.Contains(a.Body, tag) || a.Header.Get("Preference-Applied") != "" {
		t.Errorf("the tag is %s, the body %s", tag, a.Body)
	}
	b.want(409, "EntityAlreadyExists", "POST", "/orders", `{"PartitionKey":"a","RowKey":"2"}`)
	a = b.want(400, "PropertiesNeedValue", "POST", "/orders", `{"String":"a","Value":10}`, header("Prefer", "return-no-content"))
	if a.Header.Get("Preference-Applied") != "return-no-content" {
		t.Error("an error does not tell the preference")
	}
	b.want(404, "TableNotFound", "POST", "/missing", `{"PartitionKey":"a","RowKey":"1"}`)

	all := `,"b@odata.type":"Edm.Binary","b":"AQI=","t":true,"d@odata.type":"Edm.DateTime","d":"2013-08-02T17:37:43.0090043Z","f":5.5,` +
		`"g":"C9DA6455-213D-42C9-9A79-3E9149A57833","g@odata.type":"Edm.Guid","i":7,"l@odata.type":"Edm.Int64","l":"9007199254740993","s":"x"`
	b.insert("types", "1", all)
	a = b.want(200, "", "GET", "/orders(PartitionKey='types',RowKey='1')", "")
	b.expect(a.Body, `"b@odata.type":"Edm.Binary","b":"AQI=","t":true,"d@odata.type":"Edm.DateTime","d":"2013-08-02T17:37:43.0090043Z","f":5.5,"g@odata.type":"Edm.Guid","g":"c9da6455-213d-42c9-9a79-3e9149a57833","i":7,"l@odata.type":"Edm.Int64","l":"9007199254740993","s":"x"}`)
	a = b.want(200, "", "GET", "/orders(RowKey='1',PartitionKey='types')?$format=application/json;odata=nometadata", "")
	if strings.Contains(a.Body, "odata") || a.Header.Get("Etag") == "" || !strings.Contains(a.Body, `"l":"9007199254740993"`) {
		t.Errorf("without metadata: %s", a.Body)
	}
	a = b.want(200, "", "GET", "/orders(PartitionKey='types',RowKey='1')", "", header("Accept", "application/json;odata=fullmetadata"))
	b.expect(a.Body, `"odata.type":"devstoreaccount1.orders"`, `"odata.id":"`+b.endpoint+`/orders(PartitionKey='types',RowKey='1')"`, `"odata.editLink":"orders(PartitionKey='types',RowKey='1')"`, `"Timestamp@odata.type":"Edm.DateTime"`)
	if kind := a.Header.Get("Content-Type"); kind != "application/json; odata=fullmetadata; streaming=true; charset=utf-8" {
		t.Errorf("Content-Type is %s", kind)
	}

	for given, want := range map[string]string{
		`"v@odata.type":"Edm.Double","v":"Infinity"`:                                     `"v@odata.type":"Edm.Double","v":"Infinity"`,
		`"v@odata.type":"Edm.Double","v":"-Infinity"`:                                    `"v@odata.type":"Edm.Double","v":"-Infinity"`,
		`"v@odata.type":"Edm.Double","v":"NaN"`:                                          `"v@odata.type":"Edm.Double","v":"NaN"`,
		`"v@odata.type":"Edm.Double","v":5`:                                              `,"v":5.0}`,
		`"v@odata.type":"Edm.DateTime","v":"1973-10-04T00:00:00.000000Z"`:                `"v":"1973-10-04T00:00:00Z"`,
		`"v@odata.type":"Edm.DateTime","v":"2008-07-10T00:00:00"`:                        `"v":"2008-07-10T00:00:00Z"`,
		`"v@odata.type":"Edm.DateTime","v":"2008-07-10T01:00:00+01:00"`:                  `"v":"2008-07-10T00:00:00Z"`,
		`"v@odata.type":"Edm.Boolean","v":"false"`:                                       `,"v":false}`,
		`"v@odata.type":"Edm.Int32","v":"23"`:                                            `,"v":23}`,
		`"v@odata.type":"Edm.Double","v":"0"`:                                            `,"v":0.0}`,
		`"v":3000000000`:                                                                 `,"v":3000000000.0}`,
		`"v":1e3`:                                                                        `,"v":1000.0}`,
		`"v":"2020-01-01T00:00:00Z"`:                                                     `,"v":"2020-01-01T00:00:00Z"}`,
		`"v":"  \" ' < & \u00e9 "`:                                                       `,"v":"  \" ' < & é "}`,
		`"v":null,"w":1`:                                                                 `Z","w":1}`,
		`"v@odata.type":"Edm.Int64","v":null,"w":1`:                                      `Z","w":1}`,
		`"birthday":1,"Birthday":2,"etag":3`:                                             `"birthday":1,"Birthday":2,"etag":3}`,
		`"odata.etag":"x","w":1`:                                                         `Z","w":1}`,
		`"Timestamp@odata.type":"Edm.DateTime","Timestamp":"0001-01-01T00:00:00Z","w":1`: `"Timestamp":"2030-01-02T03:04:05`,
		`"PartitionKey@odata.type":"Edm.String","w":1`:                                   `,"w":1}`,
	} {
		a := b.call("POST", "/orders", `{"PartitionKey":"v","RowKey":"1",`+given+`}`)
		if a.Status != 201 || !strings.Contains(a.Body, want) {
			t.Errorf("%s came back as %d %s, want %s", given, a.Status, a.Body, want)
		}
		b.want(204, "", "DELETE", "/orders(PartitionKey='v',RowKey='1')", "", header("If-Match", "*"))
	}
	for given, code := range map[string]string{
		`"v@odata.type":"Edm.Boolean","v":"not a bool"`:            "InvalidInput",
		`"v@odata.type":"Edm.Single","v":1`:                        "InvalidInput",
		`"v@odata.type":"Edm.Int64","v":"9223372036854775808"`:     "InvalidInput",
		`"v@odata.type":"Edm.Double","v":1e999`:                    "InvalidInput",
		`"v@odata.type":"Edm.Guid","v":"x"`:                        "InvalidInput",
		`"v@odata.type":"Edm.Binary","v":"%"`:                      "InvalidInput",
		`"v@odata.type":"Edm.DateTime","v":"1600-12-31T00:00:00Z"`: "OutOfRangeInput",
		`"v":[1]`:     "InvalidInput",
		`"v":{}`:      "InvalidInput",
		`"v":1,"v":2`: "DuplicatePropertiesSpecified",
		`"a-b":1`:     "PropertyNameInvalid",
		`"v":1} `:     "InvalidInput",
		`"v":`:        "InvalidInput",
		`"v":"` + strings.Repeat("x", 32769) + `"`: "PropertyValueTooLarge",
	} {
		if a := b.call("POST", "/orders", `{"PartitionKey":"v","RowKey":"1",`+given+`}`); a.Status != 400 || a.Code != code {
			t.Errorf("%.60s was answered %d %s, want %s", given, a.Status, a.Code, code)
		}
	}
	b.want(400, "PropertiesNeedValue", "POST", "/orders", `{"PartitionKey":"v","RowKey":null}`)
	b.want(413, "RequestBodyTooLarge", "POST", "/orders", `{"v":"`+strings.Repeat("x", table.MaxPayload)+`"}`)
	b.want(400, "InvalidInput", "POST", "/orders", "")
	b.insert("", "", "")
	b.want(200, "", "GET", "/orders(PartitionKey='',RowKey='')", "")
	b.want(204, "", "DELETE", "/orders(PartitionKey='',RowKey='')", "", header("If-Match", "*"))

	// Keys as three clients write them.
	b.insert("p'1", "r ä+%&", "")
	for _, path := range []string{
		"/orders(PartitionKey='p''1',RowKey='r%20%C3%A4%2B%25%26')", "/orders(PartitionKey='p%27%271',RowKey='r%20%C3%A4%2B%25%26')", "/orders(PartitionKey='p%27%271',RowKey='r%20%C3%A4+%25&')",
	} {
		b.expect(b.want(200, "", "GET", path, "").Body, `"RowKey":"r ä+%&"`)
	}
	for _, key := range []string{"a%2Fb", `a%5Cb`, "a%23b", "a%3Fb", "%01", "%C2%80"} {
		a := b.want(400, "InvalidInput", "GET", "/orders(PartitionKey='"+key+"',RowKey='1')", "")
		b.expect(a.Body, "Bad Request - Error in query syntax.")
	}
	b.want(400, "OutOfRangeInput", "POST", "/orders", `{"PartitionKey":"a/b","RowKey":"1"}`)
	b.want(400, "InvalidInput", "GET", "/orders(PartitionKey='a)", "")
	b.expect(b.want(400, "InvalidInput", "GET", "/orders(PartitionKey='a')", "").Body, "number of keys specified in the URI does not match")
	b.want(400, "InvalidInput", "GET", "/orders('a')", "")
	b.want(404, "TableNotFound", "POST", "/missing/Tables", `{"TableName":"x"}`)
	b.want(400, "PropertiesNeedValue", "POST", "/orders/Tables", `{"TableName":"x"}`)
}

// Spec tables 13, rows 32 to 41.
func TestEntityWrites(t *testing.T) {
	t.Parallel()
	b := newTableBench(t)
	at := "/orders(PartitionKey='a',RowKey='1')"
	first := b.want(204, "", "PUT", at, `{"x":1,"y":2}`).Header.Get("Etag")
	second := b.want(204, "", "PUT", at, `{"x":1}`).Header.Get("Etag")
	if first == second || !strings.HasSuffix(first, `05.0000001Z'"`) && !strings.HasSuffix(first, `05Z'"`) {
		t.Errorf("the tags are %s and %s", first, second)
	}
	if a := b.want(200, "", "GET", at, ""); strings.Contains(a.Body, `"y"`) {
		t.Errorf("a replaced entity has kept a property: %s", a.Body)
	}
	b.want(404, "ResourceNotFound", "PATCH", "/orders(PartitionKey='a',RowKey='9')", `{}`, header("If-Match", "*"))
	b.want(204, "", "PATCH", at, `{"z":3,"PartitionKey":"other"}`)
	b.expect(b.want(200, "", "GET", at, "").Body, `"x":1,"z":3`)
	b.insert("a", "2", "")
	b.want(412, "UpdateConditionNotSatisfied", "DELETE", "/orders(PartitionKey='a',RowKey='2')", "", header("If-Match", second))
	b.want(204, "", "MERGE", at, `{"m":1}`)
	b.want(204, "", "POST", at, `{"n":1}`, header("X-HTTP-Method", "MERGE"))
	b.want(400, "XMethodNotUsingPost", "PUT", at, `{}`, header("X-HTTP-Method", "MERGE"))
	b.want(400, "XMethodIncorrectValue", "POST", at, `{}`, header("X-HTTP-Method", "GET"))
	b.want(400, "XMethodIncorrectCount", "POST", at, `{}`, func(r *http.Request) { r.Header["X-HTTP-Method"] = []string{"PUT", "MERGE"} })
	b.expect(b.want(200, "", "GET", at, "").Body, `"x":1,"z":3,"m":1,"n":1`)
	tag := b.want(204, "", "PATCH", at, "").Header.Get("Etag")
	b.want(204, "", "PATCH", at, `{}`, header("If-Match", strings.ReplaceAll(tag, "%3A", ":")))
	b.want(400, "InvalidInput", "PUT", at, `{}`, header("If-Match", "abc"))
	b.want(400, "InvalidInput", "PUT", at, `{}`, header("If-Match", ""))
	for _, other := range []string{`W/"wrong"`, `w/"wrong"`} {
		b.want(412, "UpdateConditionNotSatisfied", "PUT", at, `{}`, header("If-Match", other))
	}
	b.want(400, "InvalidInput", "PUT", at, `{}`, header("If-Match", `W/"`))
	b.want(400, "InvalidInput", "DELETE", at, "")
	b.want(400, "InvalidInput", "PUT", at, `{}`, header("If-None-Match", "*"))
	b.want(405, "MethodNotAllowed", "POST", at, `{}`)
	a := b.want(200, "", "GET", at+"?$select=n,%20absent", "")
	if !strings.HasSuffix(a.Body, `Z'\"","n":1,"absent":null}`) {
		t.Errorf("selected: %s", a.Body)
	}
}

// Spec tables 13, rows 42 to 59 and 1.1.
func TestEntityQueries(t *testing.T) {
	t.Parallel()
	b := newTableBench(t)
	for i := range 10 {
		b.insert("contToken", fmt.Sprint(i), fmt.Sprintf(`,"s":"o'clock & co + %d"`, i))
	}
	a := b.want(200, "", "GET", "/orders()?$top=1", "")
	partition, row := a.Header.Get("X-Ms-Continuation-Nextpartitionkey"), a.Header.Get("X-Ms-Continuation-Nextrowkey")
	if partition != "1!12!Y29udFRva2Vu" || row != "1!4!MQ--" || rowKeys(a.Body) != "0" {
		t.Errorf("the first page ends at %s, %s with %s", partition, row, a.Body)
	}
	a = b.want(200, "", "GET", "/orders?NextPartitionKey="+partition+"&NextRowKey="+row, "")
	if rowKeys(a.Body) != "1 2 3 4 5 6 7 8 9" || a.Header.Get("X-Ms-Continuation-Nextpartitionkey") != "" {
		t.Errorf("the rest is %s", a.Body)
	}
	b.expect(b.want(200, "", "GET", "/orders?NextPartitionKey="+partition, "").Body, `"RowKey":"0"`)
	for _, token := range []string{"NextPartitionKey=x", "NextRowKey=", "NextPartitionKey=" + partition + "&NextRowKey=", "NextPartitionKey=1!3!AAAA"} {
		b.expect(b.want(400, "InvalidInput", "GET", "/orders?"+token, "").Body, "One of the request inputs is not valid.")
	}
	for query, want := range map[string]string{
		"$filter=RowKey%20lt%20'3'":                        "0 1 2",
		"%24filter=RowKey+lt+'3'":                          "0 1 2",
		"$filter=s%20eq%20'o''clock%20%26%20co%20%2B%201'": "1",
		"$filter=s+eq+'o%27%27clock+%26+co+%2B+1'":         "1",
		"$filter=": "0 1 2 3 4 5 6 7 8 9",
		"$top=0":   "",
		"$filter=RowKey%20eq%20'7'&timeout=30&unknown=1": "7",
	} {
		if got := rowKeys(b.want(200, "", "GET", "/orders()?"+query, "").Body); got != want {
			t.Errorf("%s found %q, want %q", query, got, want)
		}
	}
	a = b.want(400, "InvalidInput", "GET", "/orders?$filter=aaa%20bbb%20ccc", "")
	b.expect(a.Body, "Syntax error at position 7 in 'aaa bbb ccc'.")
	b.want(400, "InvalidInput", "GET", "/orders?$top=1001", "")
	b.want(400, "InvalidInput", "GET", "/orders?$top=x", "")
	b.want(400, "InvalidInput", "GET", "/orders?$skip=1", "")
	b.want(501, "NotImplemented", "GET", "/orders?$orderby=RowKey", "")
	b.want(415, "AtomFormatNotSupported", "GET", "/orders", "", header("Accept", "application/atom+xml"))
	b.want(200, "", "GET", "/orders", "", header("Accept", "application/atom+xml, application/json"))
	b.want(415, "MediaTypeNotSupported", "POST", "/orders", "{}", header("Content-Type", "multipart/mixed; boundary=x"))
	b.want(415, "AtomFormatNotSupported", "POST", "/orders", "<x/>", header("Content-Type", "application/atom+xml"))
	a = b.want(404, "TableNotFound", "GET", "/missing", "", header("Accept", "application/xml"))
	b.expect(a.Body, `<m:error xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"><m:code>TableNotFound</m:code><m:message xml:lang="en-US">The table specified does not exist.`)
}

// Spec tables 13, rows 71 to 78: signatures as the SDKs for JavaScript and Python make them.
func TestTableRights(t *testing.T) {
	t.Parallel()
	b := newTableBench(t)
	b.insert("a", "1", "")
	b.insert("z", "1", "")
	anybody := func(method, path, body string, edit ...func(*http.Request)) answer {
		r := b.request(method, path, body)
		for _, e := range edit {
			e(r)
		}
		return b.send(r)
	}
	// Both signatures have expired on the bench's clock, so that the service says so; a wrong
	// one is not told of its time.
	orders := "tn=Orders&sp=raud&se=2030-01-01T00:00:00Z&sv=2019-02-02&spk=a&srk=1&epk=b&erk=2&sig=FA1eIA9tg%2BAS1d5J%2BkySSAfO%2Fpi4%2BgtV8I9UJSErPm0%3D"
	account := "ss=t&srt=sco&sp=rl&se=2030-01-01T00:00:00Z&sv=2019-02-02&sig=6atERsp82qDGsajntf9Es3ucADuU%2B5Mh%2Fvk0jf0U1tw%3D"
	for name, query := range map[string]string{"/orders": orders, "/Tables": account} {
		if a := anybody("GET", name+"?"+query, ""); a.Status != 403 || !strings.Contains(a.Body, "Server failed to authenticate") {
			t.Errorf("an expired signature is answered %d %s", a.Status, a.Body)
		}
		if a := anybody("GET", name+"?"+strings.Replace(query, "sig=", "sig=x", 1), ""); a.Status != 403 {
			t.Errorf("a wrong signature is answered %d %s", a.Status, a.Body)
		}
	}
	sas := func(tn, sp string, keys ...string) string {
		q := fmt.Sprintf("tn=%s&sp=%s&se=2031-01-01T00:00:00Z&sv=2019-02-02", tn, sp)
		lines := []string{sp, "", "2031-01-01T00:00:00Z", "/table/" + rest.DevAccount + "/" + strings.ToLower(tn), "", "", "", "2019-02-02"}
		for i, name := range []string{"spk", "srk", "epk", "erk"} {
			value := ""
			if i < len(keys) {
				value = keys[i]
				q += "&" + name + "=" + value
			}
			lines = append(lines, value)
		}
		return q + "&sig=" + strings.NewReplacer("+", "%2B", "/", "%2F", "=", "%3D").Replace(mac(t, rest.DevKey, strings.Join(lines, "\n")))
	}
	want := func(status int, code, method, path, body string, edit ...func(*http.Request)) answer {
		t.Helper()
		a := anybody(method, path, body, edit...)
		if a.Status != status || a.Code != code {
			t.Errorf("%s %s = %d %s, want %d %s\n%s", method, path, a.Status, a.Code, status, code, a.Body)
		}
		return a
	}
	ranged := sas("Orders", "raud", "a", "1", "b", "2")
	if got := rowKeys(want(200, "", "GET", "/orders?"+ranged, "").Body); got != "1" {
		t.Errorf("within the range are %q, want the one row of a", got)
	}
	want(403, "AuthorizationFailure", "GET", "/orders(PartitionKey='z',RowKey='1')?"+ranged, "")
	want(403, "AuthorizationFailure", "POST", "/orders?"+ranged, `{"PartitionKey":"z","RowKey":"2"}`)
	want(201, "", "POST", "/orders?"+ranged, `{"PartitionKey":"b","RowKey":"2"}`)
	want(403, "AuthorizationFailure", "GET", "/Tables?"+ranged, "")
	want(403, "AuthorizationFailure", "GET", "/elsewhere?"+ranged, "")
	update := sas("orders", "u")
	want(204, "", "PUT", "/orders(PartitionKey='a',RowKey='1')?"+update, "{}", header("If-Match", "*"))
	want(403, "AuthorizationPermissionMismatch", "PUT", "/orders(PartitionKey='a',RowKey='1')?"+update, "{}")
	want(403, "AuthorizationPermissionMismatch", "GET", "/orders?"+update, "")
	want(204, "", "PUT", "/orders(PartitionKey='a',RowKey='1')?"+sas("orders", "au"), "{}")

	a := want(401, "NoAuthenticationInformation", "GET", "/orders", "")
	if !strings.HasPrefix(a.Header.Get("Www-Authenticate"), "Bearer ") {
		t.Errorf("no challenge in %v", a.Header)
	}
	policy := `<SignedIdentifiers><SignedIdentifier><Id>p</Id><AccessPolicy><Expiry>2031-06-08T02:10:09Z</Expiry><Permission>r</Permission></AccessPolicy></SignedIdentifier><SignedIdentifier><Id>q</Id></SignedIdentifier></SignedIdentifiers>`
	b.want(204, "", "PUT", "/orders?comp=acl", policy)
	b.expect(b.want(200, "", "GET", "/orders?comp=acl", "").Body, "<Id>p</Id><AccessPolicy><Expiry>2031-06-08T02:10:09.0000000Z</Expiry><Permission>r</Permission>", "<Id>q</Id>")
	named := "tn=orders&si=p&sv=2019-02-02"
	text := strings.Join([]string{"", "", "", "/table/" + rest.DevAccount + "/orders", "p", "", "", "2019-02-02", "", "", "", ""}, "\n")
	named += "&sig=" + strings.NewReplacer("+", "%2B", "/", "%2F", "=", "%3D").Replace(mac(t, rest.DevKey, text))
	want(200, "", "GET", "/orders?"+named, "")
	want(403, "AuthorizationPermissionMismatch", "POST", "/orders?"+named, `{"PartitionKey":"n","RowKey":"1"}`)
	a = b.want(400, "InvalidXmlDocument", "PUT", "/orders?comp=acl", "<SignedIdentifiers>"+strings.Repeat("<SignedIdentifier><Id>x</Id></SignedIdentifier>", 6)+"</SignedIdentifiers>")
	b.expect(a.Body, "<m:error", "<m:code>InvalidXmlDocument</m:code>")
	b.want(204, "", "PUT", "/orders?comp=acl", "")
	want(403, "AuthenticationFailed", "GET", "/orders?"+named, "")
	b.want(404, "TableNotFound", "GET", "/missing?comp=acl", "")

	b.want(202, "", "PUT", "/?restype=service&comp=properties", "<StorageServiceProperties><Logging><Version>1.0</Version><Delete>true</Delete><Read>false</Read><Write>false</Write><RetentionPolicy><Enabled>false</Enabled></RetentionPolicy></Logging></StorageServiceProperties>")
	b.want(202, "", "PUT", "/?restype=service&comp=properties", "<StorageServiceProperties><Cors></Cors></StorageServiceProperties>")
	b.expect(b.want(200, "", "GET", "/?restype=service&comp=properties", "").Body, "<Delete>true</Delete>", "<HourMetrics>", "<MinuteMetrics>", "<Cors")
	b.want(400, "InvalidXmlDocument", "PUT", "/?restype=service&comp=properties", "<StorageServiceProperties><HourMetrics><Version>1.0</Version><Enabled>true</Enabled><RetentionPolicy><Enabled>true</Enabled><Days>366</Days></RetentionPolicy></HourMetrics></StorageServiceProperties>")
	b.want(400, "InvalidXmlDocument", "PUT", "/?restype=service&comp=properties", "<StorageServiceProperties><Nope/></StorageServiceProperties>")
	b.expect(b.want(200, "", "GET", "/?restype=service&comp=stats", "").Body, "<Status>live</Status>")
	b.endpoint += "-secondary"
	b.want(200, "", "GET", "/orders", "")
	// As the SDK for Python asks for statistics: it signs the address of the primary, and puts
	// that of the secondary before its path.
	r := b.request("GET", "/"+rest.DevAccount+"/?restype=service&comp=stats", "")
	r.Header.Set("Authorization", "SharedKeyLite "+rest.DevAccount+":"+mac(t, rest.DevKey, r.Header.Get("X-Ms-Date")+"\n/"+rest.DevAccount+"/"+rest.DevAccount+"/?comp=stats"))
	if a := b.send(r); a.Status != 200 {
		t.Errorf("statistics as the SDK for Python asks for them: %d %s", a.Status, a.Body)
	}
	b.expect(b.want(403, "InsufficientAccountPermissions", "POST", "/orders", `{}`).Body, "Write operations are not allowed")
}

// Spec tables 13, rows 61 to 70.
func TestTransactions(t *testing.T) {
	t.Parallel()
	b := newTableBench(t)
	batch := func(parts ...string) answer {
		t.Helper()
		body := "--batch_1\r\nContent-Type: multipart/mixed; boundary=changeset_1\r\n\r\n"
		for _, p := range parts {
			body += "--changeset_1\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n" + p + "\r\n"
		}
		return b.want(202, "", "POST", "/$batch", body+"--changeset_1--\r\n--batch_1--\r\n", header("Content-Type", "multipart/mixed; boundary=batch_1"))
	}
	insert := func(row string, headers ...string) string {
		return "POST " + b.endpoint + "/orders HTTP/1.1\r\nContent-Type: application/json\r\n" + strings.Join(headers, "") + "\r\n" + fmt.Sprintf(`{"PartitionKey":"a","RowKey":%q}`, row)
	}
	silent := "Prefer: return-no-content\r\n"
	a := batch(insert("1", silent), insert("2", silent), insert("3", silent))
	if n := strings.Count(a.Body, "HTTP/1.1 204 No Content\r\n"); n != 3 || strings.Contains(a.Body, "{") {
		t.Errorf("three inserts gave %d times 204:\n%s", n, a.Body)
	}
	first, _, _ := strings.Cut(a.Body, "\r\n")
	if want := "--" + strings.TrimPrefix(a.Header.Get("Content-Type"), "multipart/mixed; boundary="); first != want || !strings.HasPrefix(first, "--batchresponse_") {
		t.Errorf("the body begins %q, its boundary is %q", first, want)
	}
	b.expect(a.Body, "--changesetresponse_", "ETag: W/", "Preference-Applied: return-no-content", "DataServiceId: "+b.endpoint+"/orders(PartitionKey='a',RowKey='1')")
	stamps := regexp.MustCompile(`"Timestamp":"[^"]*"`).FindAllString(b.want(200, "", "GET", "/orders", "").Body, -1)
	if stamps[0] != stamps[1] || stamps[1] != stamps[2] {
		t.Errorf("the Timestamps are %q", stamps)
	}
	a = batch(insert("4"), insert("5"), insert("3", silent))
	b.expect(a.Body, `HTTP/1.1 409 Conflict`, `"code":"EntityAlreadyExists"`, `"value":"2:The specified entity already exists.\nRequestId:`, "Preference-Applied: return-no-content")
	if strings.Count(a.Body, "HTTP/1.1") != 1 {
		t.Errorf("a failure has more than one part:\n%s", a.Body)
	}
	b.want(404, "ResourceNotFound", "GET", "/orders(PartitionKey='a',RowKey='4')", "")

	row := func(method, key, headers, body string) string {
		return method + " /devstoreaccount1/orders(PartitionKey='a',RowKey='" + key + "')?%24format=x HTTP/1.1\r\n" + headers + "\r\n" + body
	}
	tag := b.want(200, "", "GET", "/orders(PartitionKey='a',RowKey='1')", "").Header.Get("Etag")
	a = batch(row("PATCH", "1", "If-Match: "+tag+"\r\n", `{"m":1}`), row("DELETE", "2", "If-Match: *\r\n", "\r\n\r\n"), row("PUT", "3", "If-Match: *\r\n", `{"r":1}`), row("MERGE", "6", "", `{}`), insert("7"))
	if n := strings.Count(a.Body, "ETag: "); n != 4 || strings.Count(a.Body, "HTTP/1.1 204") != 4 || strings.Count(a.Body, "HTTP/1.1 201 Created") != 1 {
		t.Errorf("%d tags in\n%s", n, a.Body)
	}
	var many []string
	for i := range 101 {
		many = append(many, insert(fmt.Sprint("m", i)))
	}
	before := b.want(200, "", "GET", "/orders(PartitionKey='a',RowKey='1')", "")
	for what, test := range map[string]struct {
		parts []string
		want  string
	}{
		"one row twice":     {[]string{row("PUT", "1", "", "{}"), row("MERGE", "1", "", "{}")}, `"code":"InvalidDuplicateRow","message":{"lang":"en-US","value":"1:`},
		"101":               {many, `"code":"InvalidInput","message":{"lang":"en-US","value":"99:The batch request operation exceeds the maximum 100 changes per change set.`},
		"no such table":     {[]string{strings.Replace(insert("1"), "/orders", "/missing", 1)}, `"code":"TableNotFound","message":{"lang":"en-US","value":"0:`},
		"two partitions":    {[]string{row("PUT", "1", "", "{}"), strings.Replace(insert("1"), `"a"`, `"b"`, 1)}, `"code":"CommandsInBatchActOnDifferentPartitions","message":{"lang":"en-US","value":"1:`},
		"a wrong tag":       {[]string{row("PUT", "1", "", `{"lost":1}`), row("PUT", "3", "If-Match: W/\"datetime'2001-01-01T00%3A00%3A00Z'\"\r\n", "{}")}, `"code":"UpdateConditionNotSatisfied","message":{"lang":"en-US","value":"1:`},
		"a quote undoubled": {[]string{row("PUT", "1'", "", "{}")}, `"code":"InvalidInput","message":{"lang":"en-US","value":"0:`},
		"a bad body":        {[]string{insert("x"), strings.Replace(insert("y"), "{", "[", 1)}, `"code":"InvalidInput","message":{"lang":"en-US","value":"1:`},
	} {
		a := batch(test.parts...)
		if !strings.Contains(a.Body, test.want) || strings.Count(a.Body, "HTTP/1.1") != 1 {
			t.Errorf("%s: want %s in\n%s", what, test.want, a.Body)
		}
	}
	if after := b.want(200, "", "GET", "/orders(PartitionKey='a',RowKey='1')", ""); after.Body != before.Body {
		t.Errorf("transactions that failed have changed a row: %s, before %s", after.Body, before.Body)
	}
	multipart := header("Content-Type", "multipart/mixed; boundary=b")
	query := "--b\nContent-Type: application/http\n\nGET " + b.endpoint + "/orders(PartitionKey='a',RowKey='3') HTTP/1.1\n\n\n--b--\n"
	b.expect(b.want(202, "", "POST", "/$batch", query, multipart).Body, "HTTP/1.1 200 OK", `"r":1`)
	b.want(400, "InvalidInput", "POST", "/$batch", "--b--", multipart)
	b.want(400, "InvalidInput", "POST", "/$batch", "{}", header("Content-Type", "application/json"))
	b.want(413, "RequestBodyTooLarge", "POST", "/$batch", strings.Repeat("x", table.MaxPayload+1), multipart)
	// Blank lines, headers in lower case and no closing boundary, as the SDK for JavaScript has it.
	b.expect(b.want(202, "", "POST", "/$batch", "--b\r\ncontent-type: multipart/mixed; boundary=c\r\n\r\n\r\n--c\r\ncontent-type: application/http\r\ncontent-transfer-encoding: binary\r\n\r\nPOST "+b.endpoint+"/orders HTTP/1.1\r\naccept: application/json\r\nprefer: return-no-content\r\n\r\n\r\n{\"PartitionKey\":\"j\",\"RowKey\":\"1\"}\r\n--c--\r\n", multipart).Body, "HTTP/1.1 204")
}
