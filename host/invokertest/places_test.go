package invokertest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/readonlytest"
	"github.com/redeliver/redeliver/triggers"
)

// A place is where people keep an app: prepare says where below root, finish does the rest
// once the app is there, and says how the host is told of it.
type place struct {
	name    string
	module  bool // a package.json of the place says that .js files are ES modules
	prepare func(t *testing.T, root string) (dir string)
	finish  func(t *testing.T, dir string) (app string)
}

// strays are files that an interpreter or its tools take for settings when they stand in a
// folder above the file that is run.
var strays = map[string]string{ // read only
	"package.json":   `{"name":"above","type":"module","imports":{"#*":"./none.js"}}`,
	"tsconfig.json":  `{"compilerOptions":{"module":"nodenext","allowJs":true,"strict":true}}`,
	".npmrc":         "ignore-scripts=true\nnode-options=--no-such-option\n",
	"pyproject.toml": "[tool.none]\n", "conftest.py": "raise SystemExit('conftest')\n", "setup.cfg": "[none]\n",
	"sitecustomize.py": "raise SystemExit('sitecustomize')\n", "pyvenv.cfg": "home = /nowhere\n", "json.py": "raise SystemExit('json')\n",
	"Map.java": "package no;\n", "module-info.java": "module no {}\n", "module-info.class": "no",
}

func places() []place {
	below := func(_ *testing.T, root string) string { return filepath.Join(root, "app") }
	same := func(_ *testing.T, dir string) string { return dir }
	return []place{
		{name: "module", module: true, prepare: below, finish: func(t *testing.T, dir string) string {
			moduleAt(t, dir)
			return dir
		}},
		{name: "below a module", module: true, finish: same, prepare: func(t *testing.T, root string) string {
			write(t, root, strays)
			return filepath.Join(root, "apps", "one")
		}},
		{name: "among strays", module: true, prepare: below, finish: func(t *testing.T, dir string) string {
			for name, text := range strays {
				if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
					write(t, dir, map[string]string{name: text})
				}
			}
			moduleAt(t, dir)
			return dir
		}},
		{name: "link", prepare: below, finish: func(t *testing.T, dir string) string {
			link := filepath.Join(t.TempDir(), "link")
			if err := os.Symlink(dir, link); err != nil {
				t.Skip(err)
			}
			return link
		}},
		{name: "blanks and letters", finish: same, prepare: func(_ *testing.T, root string) string {
			return filepath.Join(root, "meine Äpp #1 (日本) %20&'")
		}},
		{name: "read-only", prepare: below, finish: func(t *testing.T, dir string) string {
			undo, err := readonlytest.Make(dir)
			if errors.Is(err, readonlytest.ErrCannot) {
				t.Skip(err)
			} else if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(undo)
			return dir
		}},
	}
}

// moduleAt has the package.json of a folder say that .js files are ES modules.
func moduleAt(t *testing.T, dir string) {
	t.Helper()
	doc := map[string]any{}
	if text, err := os.ReadFile(filepath.Join(dir, "package.json")); err == nil {
		if err := json.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
	}
	doc["type"] = "module"
	text, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{"package.json": string(text)})
}

// The kinds of modules of an app's .js files, if there are any.
const (
	anyModule = iota
	commonJS  // where nothing says that they are ES modules
	esModule  // where the place says so
)

// echoes are apps with a function Echo, which passes a message of a queue on, as people
// write them.
var echoes = []struct {
	name, model string
	kind        int
	script      string // of function.json
	files       map[string]string
}{
	{name: "function.json, CommonJS", model: "node-classic", kind: commonJS, script: "index.js", files: map[string]string{"Echo/index.js": "module.exports = async (context, item) => { context.bindings.out = item; };\n"}},
	{name: "function.json, .cjs", model: "node-classic", script: "index.cjs", files: map[string]string{"Echo/index.cjs": "module.exports = async (context, item) => { context.bindings.out = item; };\n"}},
	{name: "function.json, ES module", model: "node-classic", kind: esModule, script: "index.js", files: map[string]string{
		"Echo/index.js": "import { out } from '../lib/out.js';\nexport default async function (context, item) { context.bindings[out] = item; }\n",
		"lib/out.js":    "export const out = await Promise.resolve('out');\n",
	}},
	{name: "function.json, .mjs", model: "node-classic", script: "index.mjs", files: map[string]string{"Echo/index.mjs": "export default async function (context, item) { context.bindings.out = item; }\n"}},
	{name: "v4, CommonJS", model: "node-v4", files: map[string]string{"package.json": `{"main":"src/*.cjs"}`, "src/echo.cjs": `
const { app, output } = require('@azure/functions');
app.storageQueue('Echo', { queueName: 'orders', connection: 'AzureWebJobsStorage', return: output.storageQueue({ queueName: 'said', connection: 'AzureWebJobsStorage' }), handler: async (item) => item });
`}},
	{name: "v4, ES module", model: "node-v4", files: map[string]string{"package.json": `{"main":"src/*.js","type":"module"}`, "src/echo.js": `
import { app, output } from '@azure/functions';
const queueName = await new Promise((done) => setTimeout(done, 1, 'orders')); // top-level await
let started = false;
app.hook.appStart(() => { started = true; });
app.hook.preInvocation((context) => { context.inputs[0] += started ? '' : ' before the start'; });
app.storageQueue('Echo', { queueName, connection: 'AzureWebJobsStorage', return: output.storageQueue({ queueName: 'said', connection: 'AzureWebJobsStorage' }), handler: async (item) => item });
`}},
	{name: "v4, .mjs", model: "node-v4", files: map[string]string{"package.json": `{"main":"echo.mjs"}`, "echo.mjs": `
import { app, output } from '@azure/functions';
app.storageQueue('Echo', { queueName: 'orders', connection: 'AzureWebJobsStorage', return: output.storageQueue({ queueName: 'said', connection: 'AzureWebJobsStorage' }), handler: async (item) => item });
`}},
	{name: "TypeScript, ES module", model: "typescript", files: map[string]string{
		"package.json":  `{"main":"dist/*.js","type":"module"}`,
		"tsconfig.json": `{"compilerOptions":{"module":"nodenext","target":"es2022","rootDir":"src","outDir":"dist","sourceMap":true,"strict":true,"skipLibCheck":true,"types":[]},"include":["src"]}`,
		"src/echo.ts": `
import { app, output, InvocationContext } from '@azure/functions';
const queueName: string = await Promise.resolve('orders');
app.storageQueue('Echo', { queueName, connection: 'AzureWebJobsStorage', return: output.storageQueue({ queueName: 'said', connection: 'AzureWebJobsStorage' }), handler: async (item: unknown, context: InvocationContext) => item });
`}},
	{name: "Python v1", model: "python-v1", script: "__init__.py", files: map[string]string{
		"Echo/__init__.py": "import json\nimport azure.functions as func\nfrom lib import same\ndef main(item: func.QueueMessage, out: func.Out[str]):\n    out.set(same(item.get_body().decode()))\n",
		"lib.py":           "def same(text):\n    return text\n",
	}},
	{name: "Python v2", model: "python-v2", files: map[string]string{"function_app.py": `
import json
import azure.functions as func
app = func.FunctionApp()
@app.function_name("Echo")
@app.queue_trigger(arg_name="item", queue_name="orders", connection="AzureWebJobsStorage")
@app.queue_output(arg_name="out", queue_name="said", connection="AzureWebJobsStorage")
def echo(item: func.QueueMessage, out: func.Out[str]):
    out.set(item.get_body().decode())
`}},
	{name: "Java", model: "java", files: map[string]string{"Echo/Echo.java": `
import com.microsoft.azure.functions.*;
import com.microsoft.azure.functions.annotation.*;
public class Echo {
    public void run(@QueueTrigger(name = "item", queueName = "orders") String item, @QueueOutput(name = "out", queueName = "said") OutputBinding<String> out) { out.setValue(item); }
}
`}},
	{name: "custom handler", model: "custom"},
}

// Wherever an app lies, its worker runs: nothing of the app or of the folders around it is
// the worker's, and the host writes nothing there.
func TestPlaces(t *testing.T) {
	t.Parallel()
	for _, echo := range echoes {
		for _, at := range places() {
			if at.module && echo.kind == commonJS || !at.module && echo.kind == esModule {
				continue // Node.js would take the app itself for another kind of module
			}
			t.Run(echo.name+"/"+at.name, func(t *testing.T) {
				t.Parallel()
				m := modelNamed(echo.model)
				env := append(m.need(t), "FUNCTIONS_WORKER_RUNTIME="+m.runtime)
				if m.runtime == "custom" {
					env = append(env, roleVariable+"=custom", "GORACE=atexit_sleep_ms=0")
				}
				dir := at.prepare(t, t.TempDir())
				m.echo(t, dir, echo.script, echo.files)
				dir = at.finish(t, dir)
				before := filesIn(t, dir)
				h := hosttest.New(t, &hosttest.Options{Dir: dir, Env: env, Worker: m.prefer()})
				h.Send("orders", "a text")
				h.AwaitSettled("Echo", triggers.Deleted)
				h.WantQueue("said", "a text")
				if diff := cmp.Diff(before, filesIn(t, dir)); diff != "" {
					t.Errorf("the files of the app (-before +after):\n%s", diff)
				}
			})
		}
	}
}

// modelNamed is one of the models, or TypeScript.
func modelNamed(name string) model {
	for _, m := range models() {
		if m.name == name {
			return m
		}
	}
	return model{name: name, runtime: "node", library: "node_modules/@azure/functions"}
}

// echo makes an app in a folder. With a script, or without files, the function has a
// function.json.
func (m model) echo(t *testing.T, dir, script string, files map[string]string) {
	t.Helper()
	write(t, dir, map[string]string{"host.json": `{"version":"2.0"}`})
	entry := fmt.Sprintf(`"scriptFile":%q,`, script)
	switch m.runtime {
	case "custom":
		entry = ""
		write(t, dir, map[string]string{"host.json": m.hostFile()})
	case "java":
		entry, script = `"scriptFile":"../app.jar","entryPoint":"Echo.run",`, "app.jar"
		sources := fstest.MapFS{}
		for name, text := range files {
			sources[name] = &fstest.MapFile{Data: []byte(text)}
		}
		files = map[string]string{"app.jar": jarOf(t, sources)}
	}
	write(t, dir, files)
	if script != "" || m.runtime == "custom" {
		write(t, dir, map[string]string{"Echo/function.json": `{` + entry + `"bindings":[
			{"type":"queueTrigger","direction":"in","name":"item","queueName":"orders"},{"type":"queue","direction":"out","name":"out","queueName":"said"}]}`})
	}
	m.libraries(t, dir)
	if m.name == "typescript" {
		compileOnce(t, dir)
	}
}

// compiled is what the compiler has made of src/echo.ts.
var compiled struct {
	mu   sync.Mutex // guards:
	text []byte
}

// compileOnce is compile for the app in TypeScript of echoes, which is always the same.
func compileOnce(t *testing.T, dir string) {
	t.Helper()
	const name = "dist/echo.js"
	compiled.mu.Lock()
	defer compiled.mu.Unlock()
	if compiled.text != nil {
		write(t, dir, map[string]string{name: string(compiled.text)})
		return
	}
	compile(t, dir)
	var err error
	if compiled.text, err = os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
		t.Fatal(err)
	}
}

// filesIn are the names of the files in a folder, without those that Python keeps beside
// the app's.
func filesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.Name() == "__pycache__" {
			return fs.SkipDir
		}
		names = append(names, name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
