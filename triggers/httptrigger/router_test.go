package httptrigger_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/triggers/httptrigger"
)

// TestMatch has one row for each rule of ASP.NET's templates (documentation:
// routing in ASP.NET Core, route templates and constraints).
func TestMatch(t *testing.T) {
	t.Parallel()
	none := map[string]string{}
	tests := []struct {
		name, template, path string
		want                 map[string]string // nil: no match
	}{
		{"literal", "orders", "/api/orders", none},
		{"case of literals", "Orders/New", "/API/oRDERS/nEW", none},
		{"outer slashes", "/orders/", "/api/orders/", none},
		{"escaped literal", "a b", "/api/a%20b", none},
		{"too short", "orders/new", "/api/orders", nil},
		{"too long", "orders", "/api/orders/new", nil},
		{"prefix missing", "orders", "/orders", nil},
		{"parameter", "orders/{id}", "/api/orders/7", map[string]string{"id": "7"}},
		{"case of values", "orders/{Id}", "/api/orders/aB", map[string]string{"Id": "aB"}},
		{"escaped value", "orders/{id}", "/api/orders/a%20b%C3%A9", map[string]string{"id": "a bé"}},
		{"escaped slash stays", "orders/{id}", "/api/orders/a%2Fb", map[string]string{"id": "a%2Fb"}},
		{"not an escape", "orders/{id}", "/api/orders/100%", map[string]string{"id": "100%"}},
		{"parameter needs a value", "orders/{id}", "/api/orders", nil},
		{"empty segment", "a/{id}/b", "/api/a//b", nil},
		{"optional, given", "orders/{id?}", "/api/orders/7", map[string]string{"id": "7"}},
		{"optional, missing", "orders/{id?}", "/api/orders", none},
		{"optional in the middle", "{a?}/b", "/api/b", nil},
		{"default, given", "orders/{id=5}", "/api/orders/7", map[string]string{"id": "7"}},
		{"default, missing", "orders/{id=5}", "/api/orders", map[string]string{"id": "5"}},
		{"default and constraint", "orders/{id:int=5}", "/api/orders", map[string]string{"id": "5"}},
		{"rest", "files/{*rest}", "/api/files/a/b%20c/d", map[string]string{"rest": "a/b c/d"}},
		{"rest with two stars", "files/{**rest}", "/api/files/a/b", map[string]string{"rest": "a/b"}},
		{"empty rest", "files/{*rest}", "/api/files", none},
		{"rest with a slash at its end", "files/{*rest}", "/api/files/a/", map[string]string{"rest": "a/"}},
		{"slash alone is no rest", "files/{*rest}", "/api/files/", none},
		{"rest with default", "files/{*rest=index}", "/api/files", map[string]string{"rest": "index"}},
		{"rest with constraint, empty", "files/{*rest:alpha}", "/api/files", nil},
		{"several in a segment", "files/{name}.{ext}", "/api/files/a.b.c", map[string]string{"name": "a.b", "ext": "c"}},
		{"several, empty value", "files/{name}.{ext}", "/api/files/a.", nil},
		{"several, no literal", "files/{name}.{ext}", "/api/files/ab", nil},
		{"optional extension, given", "files/{name}.{ext?}", "/api/files/a.c", map[string]string{"name": "a", "ext": "c"}},
		{"optional extension, missing", "files/{name}.{ext?}", "/api/files/a", map[string]string{"name": "a"}},
		{"optional extension, full stop only", "files/{name}.{ext?}", "/api/files/a.", nil},
		{"literals around", "v{major}x", "/api/V12X", map[string]string{"major": "12"}},
		{"right to left", "a{b}c{d}", "/api/abcd", map[string]string{"b": "b", "d": "d"}},
		{"no second try", "a{b}c{d}", "/api/aabcd", nil},
		{"doubled braces", "{{x}}", "/api/{x}", none},
		{"root of the prefix", "/", "/api", none},
		{"optional with constraint, missing", "orders/{id:int?}", "/api/orders", none},
		{"optional with constraint, bad", "orders/{id:int?}", "/api/orders/x", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRouter(t, httptrigger.Route{Function: "F", Template: tt.template, Prefix: "api"})
			_, params, ok := r.Match("GET", tt.path)
			if ok != (tt.want != nil) {
				t.Fatalf("Match(%s) on %q = %t", tt.path, tt.template, ok)
			}
			if diff := cmp.Diff(params, tt.want); diff != "" {
				t.Errorf("parameters (-got +want):\n%s", diff)
			}
		})
	}
}

func newRouter(t *testing.T, routes ...httptrigger.Route) *httptrigger.Router {
	t.Helper()
	r, err := httptrigger.NewRouter(routes)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestConstraints(t *testing.T) {
	t.Parallel()
	tests := []struct{ constraint, good, bad string }{
		{"int", "0 -5 +7 2147483647", "x 1.5 2147483648"},
		{"file", "a.b .b a..b", "a a. a.."},
		{"nonfile", "a a.", "a.b"},
		{"", "x 5", ""},
		{"long", "2147483648 -1", "9223372036854775808 x"},
		{"bool", "true FALSE", "1 yes"},
		{"datetime", "2024-03-15 2024-03-15T10:00:00Z 3-15-2024", "yesterday 2024-13-01"},
		{"decimal", "49.99 -1,000.5 .5", "1e5 x 99999999999999999999999999999"},
		{"double", "1.234 -1,001.01e8 NaN", "x 1.2.3"},
		{"float", "1.234 5", "x 0x10"},
		{"guid", "CD2C1638-1638-72D5-1638-DEADBEEF1638 {CD2C1638-1638-72D5-1638-DEADBEEF1638} cd2c1638163872d51638deadbeef1638", "CD2C1638 cd2c1638-163872d51638deadbeef1638"},
		{"minlength(4)", "Rick Ricky", "Ric"},
		{"maxlength(4)", "Rick é", "Ricky"},
		{"length(4)", "Rick", "Ric Ricky"},
		{"length(2,4)", "Ri Rick", "R Ricky"},
		{"min(18)", "18 19", "17 x"},
		{"max(120)", "120 -1", "121 x"},
		{"range(18,120)", "18 120", "17 121 x"},
		{"alpha", "Rick", "Rick1 é"},
		{"required", "x", ""},
		{`regex(^\d{{3}}-\d{{4}}$)`, "123-4567", "1234567"},
		{"regex(^(a|B)+$)", "abAB", "c"},
		{"INT", "5", "x"},
		{"int:min(1):max(3)", "1 3", "0 4"},
	}
	for _, tt := range tests {
		t.Run(tt.constraint, func(t *testing.T) {
			t.Parallel()
			r := newRouter(t, httptrigger.Route{Function: "F", Template: "{v:" + tt.constraint + "}"})
			for _, v := range strings.Fields(tt.good) {
				if _, _, ok := r.Match("GET", "/"+v); !ok {
					t.Errorf("%s does not take %q", tt.constraint, v)
				}
			}
			for _, v := range strings.Fields(tt.bad) {
				if _, _, ok := r.Match("GET", "/"+v); ok {
					t.Errorf("%s takes %q", tt.constraint, v)
				}
			}
		})
	}
}

func TestParseTemplateErrors(t *testing.T) {
	t.Parallel()
	for template, reason := range map[string]string{
		"a//b": "slashes", "{id": "no closing", "id}": "no opening", "{}": "no valid name", "{a/b}": "no valid name",
		"a?b": "question mark", "{id}/{ID}": "twice", "{*rest}/a": "come last", "a{*rest}": "segment of its own",
		"{a}{b}": "literal text between", "{*rest?}": "optional as well", "{id?=5}": "no valid name", "{id=5?}": "cannot have a default",
		"{a?}.{b}": "must end its segment", "{a}-{b?}": "full stop", "{id:nosuch}": "not known", "{id:int(5)}": "no arguments",
		"{id:min}": "not an integer", "{id:min(x)}": "not an integer", "{id:range(1)}": "takes 2", "{id:range(5,1)}": "above",
		"{id:regex((?=x))}": "regex", "{id:min(5}": "parenthesis", "{i{d}": "doubled",
	} {
		_, err := httptrigger.ParseTemplate(template)
		var fault *httptrigger.TemplateError
		if !errors.As(err, &fault) || fault.Template != template || !strings.Contains(fault.Reason, reason) {
			t.Errorf("ParseTemplate(%q) = %v, want a reason with %q", template, err, reason)
		}
	}
	_, err := httptrigger.NewRouter([]httptrigger.Route{{Function: "A", Template: "{"}, {Function: "B", Template: "b"}, {Function: "C", Template: "}"}})
	if err == nil || !strings.Contains(err.Error(), `"A"`) || !strings.Contains(err.Error(), `"C"`) {
		t.Errorf("NewRouter = %v, want the faults of A and C", err)
	}
}

func TestParameters(t *testing.T) {
	t.Parallel()
	tpl, err := httptrigger.ParseTemplate("a/{x}.{y?}/{*z}")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(tpl.Parameters(), []string{"x", "y", "z"}); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}

// The most specific route wins, wherever it stands; between equals the first.
// Routes are tried in the order of their functions' names, letter case ignored, and the
// first that matches answers (azure-functions-host issue 9876; observed of the platform's
// host 4.1037).
func TestPrecedence(t *testing.T) {
	t.Parallel()
	r := newRouter(t,
		httptrigger.Route{Function: "HItemsSpecial", Template: "items/special"}, httptrigger.Route{Function: "HItemsName", Template: "items/{name}"},
		httptrigger.Route{Function: "HItemsInt", Template: "items/{id:int}"},
		httptrigger.Route{Function: "HOrderB", Template: "order/a/{y}"}, httptrigger.Route{Function: "HOrderA", Template: "order/{x}/b"},
		httptrigger.Route{Function: "C_b", Template: "uni/{b:int}"}, httptrigger.Route{Function: "cA", Template: "uni/{a}"},
		httptrigger.Route{Function: "Zrest", Template: "{*rest}"}, httptrigger.Route{Function: "none", Methods: []string{}, Template: "none"},
	)
	for path, want := range map[string]string{
		"/items/5": "HItemsInt", "/items/special": "HItemsName", "/items/special/": "HItemsName", "/items/x": "HItemsName",
		"/order/a/b": "HOrderA", "/order/b/b": "HOrderA", "/order/a/c": "HOrderB", "/uni/5": "cA", "/": "Zrest", "/none": "Zrest",
	} {
		if got, _, _ := r.Match("GET", path); got != want {
			t.Errorf("Match(%s) = %s, want %s", path, got, want)
		}
	}
}

// A more specific route behind a wider one, whatever their forms.
func TestShadow(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ first, second, want string }{
		{"items/{name}", "items/special", "/items/special"}, {"{*rest}", "items/{id}", "/items/x"}, {"{*rest}", "a/b/c", "/a/b/c"},
		{"order/{x}/b", "order/a/{y}", "/order/a/b"}, {"items/{id}", "items/{id:int}", "/items/1"}, {"{a}.{b}", "new.txt", "/new.txt"},
		{"items/{id:int}", "items/5", "/items/5"}, {"items/{id?}", "items", "/items"}, {"x/{*rest}", "x/{id:guid}/y", "/x/00000000-0000-0000-0000-000000000000/y"},
		{"Items/{name}", "items/Special", "/items/Special"},
		{"items/{id:int}", "items/special", ""}, {"items/special", "items/{name}", ""}, {"items/{name}", "orders/special", ""}, {"items/{a}", "items/{b}", ""},
		{"items/{name}", "items/special/x", ""}, {"items/{name:length(2)}", "items/special", ""},
	} {
		r := newRouter(t, httptrigger.Route{Function: "A", Template: tt.first}, httptrigger.Route{Function: "b", Template: tt.second})
		got, ok := r.Shadow("b")
		want := httptrigger.Shadow{Function: "b", By: "A", Path: tt.want}
		if ok != (tt.want != "") || ok && got != want {
			t.Errorf("%s behind %s: got %+v, %t; want %q", tt.second, tt.first, got, ok, tt.want)
		}
		if got, ok := r.Shadow("A"); ok {
			t.Errorf("%s: got %+v", tt.first, got)
		}
	}
	get, post := []string{"get"}, []string{"POST"}
	for _, tt := range []struct {
		first, second []string
		want          bool
	}{{nil, nil, true}, {get, nil, true}, {nil, get, true}, {get, []string{"POST", "GET"}, true}, {get, post, false}, {[]string{}, nil, false}, {nil, []string{}, false}} {
		r := newRouter(t, httptrigger.Route{Function: "A", Template: "{x}", Methods: tt.first}, httptrigger.Route{Function: "B", Template: "x", Methods: tt.second})
		if _, ok := r.Shadow("B"); ok != tt.want {
			t.Errorf("%v behind %v: got %t", tt.second, tt.first, ok)
		}
	}
}

func TestRoutes(t *testing.T) {
	t.Parallel()
	r := newRouter(t,
		httptrigger.Route{Function: "Read", Methods: []string{"get", "HEAD"}, Template: "orders", Prefix: "api"},
		httptrigger.Route{Function: "Write", Methods: []string{"POST"}, Template: "orders", Prefix: "api"},
		httptrigger.Route{Function: "ByName", Prefix: "/api/"},
		httptrigger.Route{Function: "NoPrefix", Template: "plain"},
	)
	tests := []struct{ name, method, path, want string }{
		{"method", "GET", "/api/orders", "Read"},
		{"method in another case", "post", "/api/orders", "Write"},
		{"method of none", "DELETE", "/api/orders", ""},
		{"no route: function name", "PATCH", "/api/byname", "ByName"},
		{"empty prefix", "GET", "/plain", "NoPrefix"},
		{"unknown", "GET", "/api/other", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, _, ok := r.Match(tt.method, tt.path)
			if got != tt.want || ok != (tt.want != "") {
				t.Errorf("Match(%s, %s) = %q, %t; want %q", tt.method, tt.path, got, ok, tt.want)
			}
		})
	}
}

func FuzzParseTemplate(f *testing.F) {
	f.Add("orders/{id:int?}", "/orders/7")
	f.Add("{a}.{b?}/{*rest:regex(^x{{2}}$)}", "/a.b/xx")
	f.Add("{{x}}{y=5}", "/%7Bx%7D5")
	f.Fuzz(func(t *testing.T, template, path string) {
		r, err := httptrigger.NewRouter([]httptrigger.Route{{Function: "F", Template: template}})
		if err != nil {
			return
		}
		r.Match("GET", path)
	})
}
