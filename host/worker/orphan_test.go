//clock:outside a worker, which never sees the clock

package worker_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/process"
	"github.com/redeliver/redeliver/host/worker"
	"github.com/redeliver/redeliver/host/worker/shim"
)

// appVariable names the folder of the app that runHost runs.
const appVariable = "REDELIVER_WORKER_TEST_APP"

// hangs is a function in each language that starts a program, which holds the pipe, and
// never returns.
var hangs = map[string]struct{ interpreter, script, text, entry string }{ // read only
	"node": {interpreter: "node", script: "F/index.js", text: `module.exports = (context, pipe) => {
		const held = require('fs').openSync(pipe, 'w');
		require('child_process').spawn('sleep', ['600'], { stdio: ['ignore', held, 'ignore'] });
		require('fs').writeSync(1, 'called\n');
		for (;;);
	}`},
	"python": {interpreter: "python3", script: "F/__init__.py", text: `import subprocess, time
def main(input: str):
    held = open(input, "w")
    subprocess.Popen(["sleep", "600"], stdout=held)
    print("called", flush=True)
    time.sleep(600)
`},
	"java": {interpreter: "java", script: "app.jar", entry: "F.run", text: `
import com.microsoft.azure.functions.annotation.QueueTrigger;
import java.io.File;
import java.io.FileOutputStream;
public class F {
    public void run(@QueueTrigger(name = "input", queueName = "q") String pipe) throws Exception {
        try (FileOutputStream held = new FileOutputStream(pipe)) {
            new ProcessBuilder("sleep", "600").redirectOutput(new File(pipe)).start();
            System.out.println("called");
            for (;;) Thread.onSpinWait();
        }
    }
}`},
}

// runHost is a host that calls the function, and waits to be killed.
func runHost(language string) {
	one, _ := shim.Of(language)
	dir := os.Getenv(appVariable)
	entry, err := one.Install()
	check(err)
	path, err := exec.LookPath(hangs[language].interpreter)
	check(err)
	args := []string{entry}
	if language == "java" {
		folder, class, err := shim.CompileJava(context.Background(), "javac", entry)
		check(err)
		args = []string{"-cp", folder, class}
	}
	w, err := worker.Start(clock.System(), worker.Spec{
		Spec:      process.Spec{Path: path, Args: args, Dir: dir, Env: append(os.Environ(), "FUNCTIONS_WORKER_DIRECTORY="+dir), Output: func(l process.Line) { fmt.Println(l.Text) }},
		Transport: worker.Lines, Language: language, App: dir, Indexing: true,
	})
	check(err)
	_, err = w.Functions(context.Background())
	check(err)
	_, err = w.Load(context.Background(), []worker.Function{{
		Name: "F", Directory: filepath.Join(dir, "F"), ScriptFile: filepath.Join(dir, hangs[language].script), EntryPoint: hangs[language].entry,
		Bindings: []worker.Binding{{Name: "input", Type: "queueTrigger", Raw: []byte("{}")}},
	}})
	check(err)
	resp, err := w.Invoke(context.Background(), &call.Request{
		InvocationID: "i", Function: "F", Inputs: []call.Input{{Name: "input", Value: bindings.StringValue(filepath.Join(dir, "pipe"))}},
	}, func(call.Log) {})
	fmt.Println(resp, err)
}
