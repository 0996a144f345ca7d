package shim_test

import (
	"encoding/json"
	"flag"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/worker/workerpb"
)

var update = flag.Bool("update", false, "write testdata/python/decorators.golden.json from the package azure-functions")

// What the stand-in makes of its decorators is what the package makes of them: the golden
// file is of azure-functions 1.26.0. Where the package is there, the file is held against it.
func TestStandInDecorators(t *testing.T) {
	t.Parallel()
	interpreter, err := command(t, "python3", "-c", "import sys; print(sys.executable)")
	if err != nil {
		t.Skipf("there is no python3 here: %v", err)
	}
	const golden = "testdata/python/decorators.golden.json"
	standIn := decorators(t, interpreter, filepath.Join("python", "standin"))
	packages := filepath.Join(interop, "functions")
	if _, err := os.Stat(filepath.Join(packages, "azure", "functions")); err == nil {
		real := decorators(t, interpreter, packages)
		for _, part := range []string{"enums", "decorators"} { // the stand-in has some of them
			maps.DeleteFunc(real[part], func(name string, _ any) bool { _, ok := standIn[part][name]; return !ok })
		}
		if *update {
			raw, err := json.MarshalIndent(real, "", " ")
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(golden, append(raw, '\n'), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(real, read(t, golden)); diff != "" {
			t.Errorf("the golden file and the package differ; if it is another version, write the file with -update (-package +file):\n%s", diff)
		}
	}
	if diff := cmp.Diff(read(t, golden), standIn); diff != "" {
		t.Errorf("(-package +stand-in):\n%s", diff)
	}
}

type decorated map[string]map[string]any

func decorators(t *testing.T, interpreter, packages string) decorated {
	t.Helper()
	path, err := filepath.Abs(packages)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(interpreter, filepath.Join("testdata", "python", "decorators.py"))
	cmd.Env = append(os.Environ(), "PYTHONPATH="+path, "PYTHONDONTWRITEBYTECODE=1")
	raw, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", packages, err)
	}
	return decode(t, raw)
}

func read(t *testing.T, name string) decorated {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, raw)
}

func decode(t *testing.T, raw []byte) (out decorated) {
	t.Helper()
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// A name that the stand-in does not have says what to install, whichever way it is asked
// for.
func testStandInAbsent(t *testing.T, p python) {
	for code, want := range map[string]string{
		"func.KafkaEvent":                                       "AttributeError: *stand-in*no KafkaEvent*-m pip install azure-functions*",
		"from azure.functions import SqlRow":                    "ImportError: *SqlRow*stand-in*-m pip install azure-functions*",
		"import azure.functions.decorators.core":                "ModuleNotFoundError: *stand-in*-m pip install azure-functions*",
		"@app.sql_trigger(arg_name='a')\ndef f(a): pass":        "AttributeError: *stand-in*no FunctionApp.sql_trigger*-m pip install azure-functions*",
		"func.Blueprint().mcp_tool_trigger(arg_name='context')": "AttributeError: *stand-in*no Blueprint.mcp_tool_trigger*-m pip install azure-functions*",
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			s := p.start(t, app(t, "absent"), "ABSENT="+code)
			s.init(app(t, "absent"))
			r := s.functions(app(t, "absent")).GetResult()
			if got := r.GetException().GetMessage(); r.GetStatus() != workerpb.StatusResult_Failure || !like(got, want) {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// With one function that does not fit none is loaded, and each says why (PYW:
// azure_functions_worker/dispatcher.py index_functions).
func testMisfit(t *testing.T, p python) {
	s := p.start(t, app(t, "misfit"))
	s.init(app(t, "misfit"))
	r := s.functions(app(t, "misfit"))
	if r.GetResult().GetStatus() != workerpb.StatusResult_Success {
		t.Fatalf("functions: %v", r.GetResult())
	}
	want := map[string]string{
		"good": "*not loaded while another one is bad: bad, worse*", "bad": "*function bad: *wrong*no binding", "worse": "*function worse: *msg*TimerRequest*",
	}
	for _, f := range r.GetFunctionMetadataResults() {
		if got := f.GetStatus().GetException().GetMessage(); !like(got, want[f.GetName()]) || f.GetStatus().GetStatus() != workerpb.StatusResult_Failure {
			t.Errorf("%s: %v", f.GetName(), f.GetStatus())
		}
		delete(want, f.GetName())
		if got := s.load(f.GetFunctionId(), f); got.GetStatus() != workerpb.StatusResult_Failure {
			t.Errorf("%s is loaded", f.GetName())
		}
	}
	if len(want) > 0 {
		t.Errorf("not told: %v", want)
	}
}

// ASGI and WSGI applications get the request of their one function, and answer it (PyPI:
// azure-functions _http_asgi.py, _http_wsgi.py).
func testGateways(t *testing.T, p python) {
	for kind, want := range map[string]string{
		"asgi": "POST /api/shop/ü x=1&y ('localhost', 7071) 1 body ['lifespan.startup'] gateway!",
		"wsgi": "POST /api/shop/a x=1&y localhost:7071 1 body 4 gateway!",
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := p.start(t, app(t, kind))
			s.init(app(t, kind))
			list := s.functions(app(t, kind)).GetFunctionMetadataResults()
			if len(list) != 1 || list[0].GetName() != "gateway" {
				t.Fatalf("functions %v", list)
			}
			bindings := list[0].GetRawBindings()
			slices.Sort(bindings)
			var trigger struct {
				Route     string
				AuthLevel string
				Methods   []string
			}
			if err := json.Unmarshal([]byte(bindings[0]), &trigger); err != nil || trigger.Route != "/{*route}" || trigger.AuthLevel != "ANONYMOUS" || len(trigger.Methods) != 7 {
				t.Errorf("bindings %q", bindings)
			}
			if got := s.load("gateway", list[0]); got.GetStatus() != workerpb.StatusResult_Success {
				t.Fatalf("load: %v", got)
			}
			url := "http://localhost:7071/api/shop/a?x=1&y"
			if kind == "asgi" {
				url = "http://localhost:7071/api/shop/%C3%BC?x=1&y"
			}
			for range 2 { // the application begins once
				r := s.invoke(&workerpb.InvocationRequest{FunctionId: "gateway", InputData: input("req", request(&workerpb.RpcHttp{
					Method: "POST", Url: url, Headers: map[string]string{"x-one": "1"}, Body: octets("body"),
				}))})
				got := r.GetReturnValue().GetHttp()
				headers := map[string]string{}
				for name, value := range got.GetHeaders() {
					headers[strings.ToLower(name)] = value
				}
				if string(got.GetBody().GetBytes()) != want || got.GetStatusCode() != "201" || headers["x-two"] != "2" || headers["content-type"] != "text/x-own" {
					t.Errorf("%v %v", r.GetResult(), got)
				}
			}
			if kind == "wsgi" {
				r := s.invoke(&workerpb.InvocationRequest{FunctionId: "gateway", InputData: input("req", request(&workerpb.RpcHttp{Method: "POST", Url: url, Body: octets("fail")}))})
				if got := outcome(r); !like(got, "failure *out of order*") {
					t.Errorf("an answer of 503: %s", got)
				}
			}
		})
	}
}
