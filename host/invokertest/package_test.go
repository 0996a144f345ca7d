package invokertest_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/worker/javatest"
)

// A packaged app has functions of HTTP, each with a way to answer that the parameter c of
// the query names. It runs with the platform's package and without, or, in Java, with the
// library for JSON that the platform brings and without.
type packaged struct {
	name      string
	models    []model // without the package first
	functions map[string]string
	files     map[string]string
	cases     string
	want      map[string]string // whole answers, of some cases
}

// hello is the whole answer of a handler that returns the status 201 and the body "hello".
const hello = "201 map[Content-Type:[text/plain; charset=utf-8]] hello"

var packagedApps = []packaged{
	{
		name: "JavaScript", models: []model{{name: "node-classic", runtime: "node"}, {name: "node-classic", runtime: "node", library: "node_modules/azure-functions-3"}},
		functions: map[string]string{"Ret": "$return", "Res": "res"},
		files: map[string]string{"Ret/index.js": "module.exports = require('../cases');", "Res/index.js": "module.exports = require('../cases');", "cases.js": `
const cases = {
  object: async () => ({ status: 201, body: 'hello' }), text: async () => 'text', number: async () => 7, undefined: async () => undefined, null: async () => null,
  res: async (c) => { c.res = { status: 202, body: 'res' }; }, resAndReturn: async (c) => { c.res = { status: 202, body: 'res' }; return { status: 201, body: 'hello' }; },
  bound: async (c) => { c.bindings.$return = { status: 206, body: 'bound' }; }, boundAndReturn: async (c) => { c.bindings.$return = { status: 206 }; return { status: 201, body: 'hello' }; },
  named: async () => ({ res: { status: 210, body: 'named' } }), namedAndRes: async (c) => { c.res = { status: 211, body: 'res' }; return { res: { status: 212, body: 'named' } }; },
  namedAndBound: async (c) => { c.bindings.res = { status: 213 }; return { res: { status: 214, body: 'named' } }; }, namedNull: async (c) => { c.res = { body: 'res' }; return { res: null }; },
  done: (c) => { c.done(null, { status: 208, body: 'done' }); }, send: (c) => { c.res.status(215).send('sent'); }, json: (c) => { c.res.status(216).json({ j: 1 }); },
  empty: async () => ({}), list: async () => [1], buffer: async () => ({ body: Buffer.from('buf') }), view: async () => ({ body: new Uint8Array([104, 105]) }), bodyObject: async () => ({ body: { a: 1 } }),
  false: async () => false, zero: async () => 0, bodyNumber: async () => ({ body: 7 }), bodyNull: async () => ({ status: 203, body: null }), bodyTrue: async () => ({ body: true }),
  date: async () => ({ body: new Date(0) }), circular: async () => { const a = {}; a.a = a; return { body: a }; }, large: async () => ({ body: 10n }), function: async () => ({ body: () => 1 }),
  headers: async () => ({ status: '299', headers: { 'x-a': '1', 'X-B': 2 }, cookies: [{ name: 'a', value: 'b c', maxAge: 7 }], body: '' }), typed: async () => ({ headers: { 'content-type': 'application/json' }, body: '{"a":1}' }),
  throws: async () => { throw new Error('boom'); }, throwsText: async () => { throw 'text'; }, statusCode: async () => ({ statusCode: 219, status: 220, body: 's' }),
};
module.exports = (context, req) => cases[req.query.c](context);
`},
		cases: "object text number undefined null res resAndReturn bound boundAndReturn named namedAndRes namedAndBound namedNull done send json empty list buffer view bodyObject false zero bodyNumber bodyNull bodyTrue date circular large function headers typed throws throwsText statusCode",
		// Of a function with $return nothing but what it returns counts (observed: host 4.1037 with the worker for Node.js 3.10).
		want: map[string]string{"Ret object": hello, "Ret resAndReturn": hello, "Ret boundAndReturn": hello, "Res namedAndRes": "212 map[Content-Type:[text/plain; charset=utf-8]] named"},
	},
	{
		name: "Python v1", models: []model{{name: "python-v1", runtime: "python", standIn: true}, {name: "python-v1", runtime: "python", library: "functions/azure/functions"}},
		functions: map[string]string{"Ret": "$return", "Res": "res"},
		files: map[string]string{
			"cases.py": `
import json
import azure.functions as func

def answer(case):
    if case == "object":
        return func.HttpResponse("hello", status_code=201)
    if case == "headers":
        return func.HttpResponse("", status_code=299, headers={"x-a": "1", "X-B": "2"})
    if case == "bytes":
        return func.HttpResponse(b"\x00\xff")
    if case == "json":
        return func.HttpResponse(json.dumps({"a": 1}), mimetype="application/json")
    if case == "charset":
        return func.HttpResponse("\u00e4", charset="latin-1")
    if case == "empty":
        return func.HttpResponse()
    if case == "raises":
        raise LookupError("boom")
    return {"text": "text", "none": None, "number": 7, "dict": {"a": 1}, "list": [1], "true": True}[case]
`,
			"Ret/__init__.py": "import azure.functions as func\nfrom cases import answer\ndef main(req: func.HttpRequest):\n    return answer(req.params['c'])\n",
			"Res/__init__.py": "import azure.functions as func\nfrom cases import answer\ndef main(req: func.HttpRequest, res: func.Out[func.HttpResponse]):\n    res.set(answer(req.params['c']))\n    return None\n",
		},
		cases: "object headers bytes json charset empty raises text none number dict list true", want: map[string]string{"Ret object": hello, "Res object": hello},
	},
	{
		name: "Python v2", models: []model{{name: "python-v2", runtime: "python", standIn: true}, {name: "python-v2", runtime: "python", library: "functions/azure/functions"}},
		functions: map[string]string{"Ret": ""},
		files: map[string]string{"function_app.py": `
import json
import azure.functions as func

app = func.FunctionApp(http_auth_level=func.AuthLevel.ANONYMOUS)

@app.route("Ret")
async def Ret(req: func.HttpRequest) -> func.HttpResponse:
    case = req.params["c"]
    if case == "object":
        return func.HttpResponse("hello", status_code=201)
    if case == "json":
        return func.HttpResponse(json.dumps({"a": 1}), mimetype="application/json", headers={"x-a": "1"})
    if case == "raises":
        raise LookupError("boom")
    return {"text": "text", "none": None, "number": 7}[case]
`},
		cases: "object json raises text none number", want: map[string]string{"Ret object": hello},
	},
	{
		name: "Java", models: []model{{name: "own", runtime: "java"}, {name: "Gson", runtime: "java", library: javatest.Gson}},
		functions: map[string]string{"Ret": "$return"},
		files: map[string]string{"Ret.java": `
import com.microsoft.azure.functions.*;
import com.microsoft.azure.functions.annotation.*;
import java.util.*;

public class Ret {
    public static class Order { public String id = "7"; public int count = 2; private List<String> tags = List.of("a", "b"); transient String left = "out"; Order next; }

    public Object run(@HttpTrigger(name = "req", methods = {HttpMethod.GET}) HttpRequestMessage<Optional<String>> req) {
        switch (req.getQueryParameters().get("c")) {
        case "object": return req.createResponseBuilder(HttpStatus.CREATED).body("hello").build();
        case "headers": return req.createResponseBuilder(HttpStatusType.custom(299)).header("x-a", "1").header("X-B", "2").build();
        case "bytes": return req.createResponseBuilder(HttpStatus.OK).body(new byte[] {0, 1}).build();
        case "pojo": return req.createResponseBuilder(HttpStatus.OK).header("Content-Type", "application/json").body(new Order()).build();
        case "map": return req.createResponseBuilder(HttpStatus.OK).body(new TreeMap<>(Map.of("a", List.of(1, 2.5), "b", "<&>"))).build();
        case "text": return "text";
        case "null": return null;
        case "plain": return new Order();
        default: throw new NoSuchElementException("boom");
        }
    }
}
`},
		cases: "object headers bytes pojo map text null plain throws", want: map[string]string{"Ret object": hello},
	},
}

// The same handlers give the same whole answers with the platform's package and without.
func TestPackage(t *testing.T) {
	t.Parallel()
	for _, app := range packagedApps {
		t.Run(app.name, func(t *testing.T) {
			t.Parallel()
			var first map[string]string
			for _, m := range app.models {
				answers := app.answers(t, m)
				for name, want := range app.want {
					if answers[name] != want {
						t.Errorf("%s, %s: got %q, want %q", m.library, name, answers[name], want)
					}
				}
				if first == nil {
					first = answers
				}
				if diff := cmp.Diff(first, answers); diff != "" {
					t.Errorf("answers (-without +with %s):\n%s", m.library, diff)
				}
			}
		})
	}
}

// answers are what the functions answer, by function and case.
func (p packaged) answers(t *testing.T, m model) map[string]string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{"host.json": `{"version":"2.0"}`}
	entry := ""
	if m.runtime == "java" {
		libraries.Need(t)
		sources := fstest.MapFS{}
		for name, text := range p.files {
			sources[name] = &fstest.MapFile{Data: []byte(text)}
		}
		files["app.jar"], entry = jarOf(t, sources), `"scriptFile":"../app.jar","entryPoint":"Ret.run",`
		jars := []string{javatest.Annotations, javatest.Interfaces}
		if m.library != "" {
			jars = append(jars, m.library)
		}
		if err := libraries.Libraries(dir, jars...); err != nil {
			t.Fatal(err)
		}
	} else {
		write(t, dir, p.files)
		m.libraries(t, dir)
	}
	var env []string
	if m.runtime != "java" {
		env = m.need(t)
	}
	for name, out := range p.functions {
		if out != "" {
			files[name+"/function.json"] = fmt.Sprintf(`{%s"bindings":[{"type":"httpTrigger","direction":"in","name":"req","authLevel":"anonymous"},{"type":"http","direction":"out","name":%q}]}`, entry, out)
		}
	}
	write(t, dir, files)
	h := hosttest.New(t, &hosttest.Options{Dir: dir, Env: append(env, "FUNCTIONS_WORKER_RUNTIME="+m.runtime), Worker: m.prefer()})
	answers := map[string]string{}
	for name := range p.functions {
		for c := range strings.FieldsSeq(p.cases) {
			resp := h.Request("GET", "/api/"+name+"?c="+c, "")
			answers[name+" "+c] = fmt.Sprint(resp.StatusCode, " ", resp.Header, " ", string(resp.Body))
		}
	}
	return answers
}
