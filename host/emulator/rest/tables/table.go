package tables

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/bindings/table"
	"github.com/redeliver/redeliver/host/emulator/rest"
	"github.com/redeliver/redeliver/host/emulator/rest/odata"
)

// request is what a request of the Table service asks for, beside its operation.
type request struct {
	odata.Address
	level table.Level
	xml   bool // errors are XML
}

// call is a call of the Table service.
type call struct{ *rest.Call }

// request is what Route has found out; nothing before.
func (c call) request() *request {
	if r, ok := c.Own.(*request); ok {
		return r
	}
	return &request{}
}

// onTables is the run of an operation on tables.
func onTables(run func(c call) error) func(*rest.Call) error {
	return func(c *rest.Call) error { return run(call{c}) }
}

// verb is what an address and a method together ask for.
type verb struct {
	on     odata.Kind
	comp   string
	method string
}

// operations are the operations of the Table service, and what signatures must allow
// for each.
//
// Source: docs, Create an account SAS ("Table service"), Create a service SAS
// ("Permissions for a table"); spec tables 2 and 6.
func operations() (all map[verb]*rest.Operation, upsert *rest.Operation) {
	getACL := &rest.Operation{Name: "GetTableACL", Resource: "c", Run: onTables(getTableACL)}
	upsert = &rest.Operation{Name: "UpsertEntity", Write: true, Resource: "o", AccountSAS: "au", ServiceSAS: "au", Run: onTables(writeEntity)}
	update := &rest.Operation{Name: "UpdateEntity", Write: true, Resource: "o", AccountSAS: "u", ServiceSAS: "u", Run: onTables(writeEntity)}
	return map[verb]*rest.Operation{
		{odata.Root, "properties", http.MethodGet}: {Name: "GetServiceProperties", Resource: "s", AccountSAS: "r", Run: onTables(getTableProperties)},
		{odata.Root, "properties", http.MethodPut}: {Name: "SetServiceProperties", Write: true, Resource: "s", AccountSAS: "w", Run: onTables(setTableProperties)},
		{odata.Root, "stats", http.MethodGet}:      {Name: "GetServiceStats", Resource: "s", AccountSAS: "r", Run: (*rest.Call).Stats},

		{odata.Tables, "", http.MethodGet}:  {Name: "QueryTables", Resource: "c", AccountSAS: "l", Run: onTables(queryTables)},
		{odata.Tables, "", http.MethodPost}: {Name: "CreateTable", Write: true, Resource: "c", AccountSAS: "cw", Run: onTables(createTable)},
		{odata.One, "", http.MethodGet}:     {Name: "GetTable", Resource: "c", AccountSAS: "l", Run: onTables(getTable)},
		{odata.One, "", http.MethodDelete}:  {Name: "DeleteTable", Write: true, Resource: "c", AccountSAS: "d", Run: onTables(deleteTable)},

		{odata.Rows, "acl", http.MethodGet}:  getACL,
		{odata.Rows, "acl", http.MethodHead}: getACL,
		{odata.Rows, "acl", http.MethodPut}:  {Name: "SetTableACL", Write: true, Resource: "c", Run: onTables(setTableACL)},
		{odata.Rows, "", http.MethodGet}:     {Name: "QueryEntities", Resource: "o", AccountSAS: "r", ServiceSAS: "r", Run: onTables(queryEntities)},
		{odata.Rows, "", http.MethodPost}:    {Name: "InsertEntity", Write: true, Resource: "o", AccountSAS: "a", ServiceSAS: "a", Run: onTables(writeEntity)},

		{odata.Row, "", http.MethodGet}:    {Name: "GetEntity", Resource: "o", AccountSAS: "r", ServiceSAS: "r", Run: onTables(getEntity)},
		{odata.Row, "", http.MethodPut}:    update,
		{odata.Row, "", http.MethodPatch}:  update,
		{odata.Row, "", "MERGE"}:           update,
		{odata.Row, "", http.MethodDelete}: {Name: "DeleteEntity", Write: true, Resource: "o", AccountSAS: "d", ServiceSAS: "d", Run: onTables(writeEntity)},

		{odata.Batch, "", http.MethodPost}: {Name: "Transaction", Write: true, Resource: "o", AccountSAS: "raud", ServiceSAS: "raud", Run: onTables(runBatch)},
	}, upsert
}

// Service is the Table service.
func Service() *rest.Service {
	all, upsert := operations()
	return &rest.Service{
		Name: "table", Letter: 't', Endpoint: "TableEndpoint", Optional: true,
		Port:   func(o *rest.Options) int { return o.TablePort },
		Serves: func(a *rest.Account) bool { return a.Tables != nil && a.TableAdmin != nil },
		Route: func(c *rest.Call) (*rest.Operation, *rest.Error) {
			method, err := call{c}.locate()
			if err != nil {
				return nil, failure(c, err)
			}
			op := all[verb{call{c}.request().Kind, strings.ToLower(c.Query.Get("comp")), method}]
			switch {
			case op == nil && (call{c}).request().Kind == odata.Root:
				return nil, rest.ErrVerb()
			case op == nil:
				return nil, methodNotAllowed(all, (call{c}).request().Kind, strings.ToLower(c.Query.Get("comp")))
			case op.Name == "UpdateEntity" && !ifMatch(c.R.Header):
				return upsert, nil
			}
			return op, nil
		},
		Properties: func(ctx context.Context, a *rest.Stored) (storage.ServiceProperties, error) {
			return a.TableAdmin.TableServiceProperties(ctx)
		},
		ServiceSAS: sasText,
		SASKind:    checkSAS,
		Policy: func(ctx context.Context, c *rest.Call, id string) (*storage.AccessPolicy, error) {
			policies, err := c.Account.TableAdmin.TablePolicies(ctx, c.Query.Get("tn"))
			if i := slices.IndexFunc(policies, func(p storage.AccessPolicy) bool { return p.ID == id }); i >= 0 {
				return &policies[i], nil
			}
			return nil, err
		},
		KeyTexts: keyTexts,
		Failure:  failure,
		Document: errorDocument,
	}
}

// locate takes the address apart, and returns the method that the request means.
func (c call) locate() (method string, err error) {
	r := &request{}
	c.Own = r
	h := c.W.Header()
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Content-Type-Options", "nosniff")
	if preference, ok := preference(c.R.Header); ok {
		h.Set("Preference-Applied", preference) // on errors too
	}
	if r.level, r.xml, err = odata.Negotiate(c.Query.Get("$format"), c.R.Header.Get("Accept")); err != nil {
		return "", err
	}
	if strings.EqualFold(c.Query.Get("restype"), "service") {
		r.Address = odata.Address{Kind: odata.Root} // behind the secondary the SDK for Python names the account once more
	} else if r.Address, err = odata.Parse(c.EscapedPath()); err != nil {
		return "", err
	}
	if c.request().Kind != odata.Batch {
		if err := odata.CheckBody(c.R.Header.Get("Content-Type")); err != nil {
			return "", err
		}
	}
	if unmeasured(c.R) {
		return "", table.NewError(table.CodeMissingContentLength)
	}
	return tunnelled(c.R.Method, c.R.Header)
}

// unmeasured reports whether a request that may have a body says nothing of its length, not
// even that it comes in chunks.
func unmeasured(r *http.Request) bool {
	switch r.Method {
	case http.MethodPost, http.MethodPut, http.MethodPatch, "MERGE":
		return r.ProtoMajor == 1 && r.ContentLength == 0 && len(r.Header.Values("Content-Length")) == 0
	}
	return false
}

// tunnelled is the method that a request means: one that a POST names in a header.
func tunnelled(method string, h http.Header) (string, error) {
	names := slices.Concat(h.Values("X-Http-Method"), h.Values("X-Http-Method-Override"))
	switch {
	case len(names) == 0:
		return method, nil
	case len(names) > 1:
		return "", table.NewError(table.CodeXMethodIncorrectCount)
	case method != http.MethodPost:
		return "", table.NewError(table.CodeXMethodNotUsingPost)
	}
	switch name := strings.ToUpper(strings.TrimSpace(names[0])); name {
	case "MERGE", http.MethodPatch, http.MethodPut, http.MethodDelete:
		return name, nil
	}
	return "", table.NewError(table.CodeXMethodIncorrectValue)
}

// preference is what a request prefers to get of an insert.
func preference(h http.Header) (string, bool) {
	for item := range strings.SplitSeq(h.Get("Prefer"), ",") {
		if item = strings.ToLower(strings.TrimSpace(item)); item == "return-no-content" || item == "return-content" {
			return item, true
		}
	}
	return "", false
}

// ifMatch reports whether a request has the header, be it empty.
func ifMatch(h http.Header) bool { return len(h.Values("If-Match")) > 0 }

func methodNotAllowed(all map[verb]*rest.Operation, kind odata.Kind, comp string) *rest.Error {
	var methods []string
	for v := range all {
		if v.on == kind && v.comp == comp {
			methods = append(methods, v.method)
		}
	}
	slices.Sort(methods)
	e := rest.NewError(http.StatusMethodNotAllowed, "MethodNotAllowed", "The requested method is not allowed on the specified resource.")
	e.Header = http.Header{"Allow": {strings.Join(methods, ", ")}}
	return e
}

// keyTexts yields the strings that a client of tables signs: without headers and,
// of the query, with comp only. When two dates are sent either may be signed.
//
// Source: docs, Authorize with Shared Key ("Table service"); Azurite,
// TableSharedKeyAuthenticator.ts.
func keyTexts(c *rest.Call, scheme string) iter.Seq[string] {
	before := ""
	if scheme == "SharedKey" {
		before = c.R.Method + "\n" + c.R.Header.Get("Content-Md5") + "\n" + c.R.Header.Get("Content-Type") + "\n"
	}
	after := ""
	if comp := c.Query.Get("comp"); comp != "" {
		after = "?comp=" + comp
	}
	dates := slices.DeleteFunc([]string{c.R.Header.Get("X-Ms-Date"), c.R.Header.Get("Date")}, func(s string) bool { return s == "" })
	if len(dates) == 0 {
		dates = []string{""}
	}
	paths := rest.SignedPaths(c)
	if primary, ok := strings.CutPrefix(paths[0], "/"+c.Account.Name+"-secondary"); ok { // as the SDK for Python signs it
		paths = append(paths, primary)
	}
	return func(yield func(string) bool) {
		for _, date := range dates {
			for _, path := range paths {
				if !yield(before + date + "\n/" + c.Account.Name + path + after) {
					return
				}
			}
		}
	}
}

// sasText returns the string to sign of a service signature for a table
// (docs: Create a service SAS; spec tables 6.3).
func sasText(c *rest.Call) string {
	s := c.Signature()
	lines := append(s.Fields("sp", "st", "se"), "/table/"+c.Account.Name+"/"+table.Fold(c.Query.Get("tn")))
	lines = append(lines, s.Fields("si", "sip", "spr", "sv")...)
	for _, name := range []string{"spk", "srk", "epk", "erk"} {
		lines = append(lines, c.Query.Get(name))
	}
	return strings.Join(lines, "\n")
}

// checkSAS refuses what no signature for a table can allow.
func checkSAS(c *rest.Call) *rest.Error {
	for row, partition := range map[string]string{"srk": "spk", "erk": "epk"} {
		if c.Query.Has(row) && !c.Query.Has(partition) {
			return rest.ErrInvalidParameter(row, c.Query.Get(row), "It needs "+partition+".")
		}
	}
	if c.Operation().ServiceSAS == "" || (call{c}).request().Kind != odata.Batch && !(call{c}).ofTableSAS((call{c}).request().Table) {
		return errSAS()
	}
	return nil
}

// ofTableSAS reports whether a table is that of the signature.
func (c call) ofTableSAS(name string) bool {
	return table.Fold(name) == table.Fold(c.Query.Get("tn"))
}

func errSAS() *rest.Error {
	return rest.NewError(http.StatusForbidden, "AuthorizationFailure", "This request is not authorized to perform this operation.")
}

// tableRange is the part of a table that a signature allows; of others, everything.
func (c call) tableRange() (r table.Range) {
	if c.Letters() == nil || !c.Query.Has("tn") || c.Query.Has("ss") {
		return r
	}
	for name, bound := range map[string]**string{"spk": &r.StartPartition, "srk": &r.StartRow, "epk": &r.EndPartition, "erk": &r.EndRow} {
		if c.Query.Has(name) {
			value := c.Query.Get(name)
			*bound = &value
		}
	}
	return r
}

// failure is the answer for an error, as the Table service words it.
func failure(c *rest.Call, err error) *rest.Error {
	if known, ok := errors.AsType[*storage.Error](err); ok {
		return rest.NewError(known.Status, string(known.Code), known.Text)
	}
	e := c.Common(err)
	switch {
	case e.Code == "InvalidXmlNodeValue":
		e.Code = string(storage.CodeInvalidXMLDocument)
	case e.Code == "NoAuthenticationInformation" && c.R.TLS != nil:
		e.Code = "InvalidAuthenticationInfo"
	}
	return e
}

// errorDocument is the body of an error: JSON, or XML where the operation has XML or
// the caller asks for it (spec tables 8).
func errorDocument(c *rest.Call, e *rest.Error) (contentType string, body []byte) {
	now := c.Now()
	text := fmt.Sprintf("%s\nRequestId:%s\nTime:%s", e.Message, c.ID(), now.Format("2006-01-02T15:04:05.0000000Z"))
	if of := (call{c}).request(); of.xml || of.Kind == odata.Root || c.Query.Get("comp") != "" {
		b := []byte(rest.XMLHeader + `<m:error xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">`)
		b = rest.AppendElement(b, "m:code", e.Code)
		b = append(rest.AppendText(append(b, `<m:message xml:lang="en-US">`...), text), "</m:message></m:error>"...)
		return "application/xml", b
	}
	return odata.ErrorContentType((call{c}).request().level), odata.Error(e.Code, text)
}
