package invokertest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/triggers"
)

// slow is a function of a queue that takes a moment, and writes down each message for
// which it is done.
var slow = map[string]string{ // read only
	"node": `const fs = require('fs');
module.exports = async (context, order) => {
  await new Promise((done) => setTimeout(done, 5 + order.length % 7 * 5));
  fs.appendFileSync(process.env.RAN, order + ' VERSION\n');
};
`,
	"python": `import os, time
def main(item):
    order = item.get_body().decode()
    time.sleep(0.005 + len(order) % 7 * 0.005)
    with open(os.environ['RAN'], 'a') as ran:
        ran.write(order + ' VERSION\n')
`,
	"java": `import com.microsoft.azure.functions.annotation.QueueTrigger;
import java.nio.file.*;
public class Orders {
    public void run(@QueueTrigger(name = "item", queueName = "orders") String order) throws Exception {
        Thread.sleep(5 + order.length() % 7 * 5);
        Files.writeString(Path.of(System.getenv("RAN")), order + " VERSION\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }
}
`,
}

// Reloads in the middle of attempts lose no message and run none twice: an attempt that
// runs ends where it began.
func TestReloadUnderLoad(t *testing.T) {
	t.Parallel()
	const waves, size = 4, 25
	for _, m := range models() {
		text := slow[m.runtime]
		if m.inCode() || text == "" || m.runtime == "python" && !m.standIn {
			continue
		}
		t.Run(m.title(), func(t *testing.T) {
			t.Parallel()
			env := m.need(t)
			root := t.TempDir()
			dir, file := filepath.Join(root, "app"), filepath.Join(root, "ran")
			script := map[string]string{"node": "Orders/index.js", "python": "Orders/__init__.py", "java": "app.jar"}[m.runtime]
			entry := map[string]string{"java": `"scriptFile":"../app.jar","entryPoint":"Orders.run",`}[m.runtime]
			var versions []string
			for version := range waves + 1 {
				source := strings.ReplaceAll(text, "VERSION", fmt.Sprint(version+1))
				if m.runtime == "java" {
					source = jarOf(t, fstest.MapFS{"Orders.java": {Data: []byte(source)}})
				}
				versions = append(versions, source)
			}
			write(t, dir, map[string]string{
				"host.json": `{"version":"2.0"}`, script: versions[0],
				"Orders/function.json": `{` + entry + `"bindings":[{"type":"queueTrigger","direction":"in","name":"item","queueName":"orders"}]}`,
			})
			m.libraries(t, dir)
			h := m.hostOf(t, dir, append(env, "RAN="+file))
			var want []string
			for wave := 1; wave <= waves; wave++ {
				for i := range size {
					body := fmt.Sprintf("order-%d-%s", wave, strings.Repeat("x", i))
					want = append(want, body)
					h.Send("orders", body)
				}
				generation := h.Generation()
				h.Await(func(r *journal.Record) bool { return r.Kind == journal.AttemptStarted && r.Generation == generation })
				if err := h.Edit(script, versions[wave]); err != nil {
					t.Fatal(err)
				}
			}
			h.Settle()
			ran, err := os.ReadFile(file)
			if err != nil {
				t.Fatalf("%v; the attempts: %v", err, h.Attempts("Orders"))
			}
			var got, ranBy []string
			for line := range strings.Lines(string(ran)) {
				body, version, _ := strings.Cut(strings.TrimSpace(line), " ")
				got, ranBy = append(got, body), append(ranBy, version)
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%d runs for %d messages, %d of them distinct", len(got), len(want), len(slices.Compact(slices.Clone(got))))
			}
			if slices.Sort(ranBy); len(slices.Compact(ranBy)) < 2 {
				t.Errorf("no reload met an attempt: all ran version %s", ranBy[0])
			}
			settled := h.Settlements("Orders")
			for _, r := range settled {
				if r.Decision != string(triggers.Deleted) || r.DeliveryCount != 1 {
					t.Errorf("a message was settled otherwise: %v", r)
				}
			}
			if len(settled) != len(want) {
				t.Errorf("%d settlements for %d messages", len(settled), len(want))
			}
		})
	}
}
