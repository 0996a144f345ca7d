package shim_test

import (
	"strings"
	"testing"

	"github.com/redeliver/redeliver/host/worker/javatest"
	"github.com/redeliver/redeliver/host/worker/workerpb"
)

// Each call is answered, whatever its answer is, and the others live: one that is too long
// to travel, a failure whose text is, and a call that cannot be read.
func TestTooLong(t *testing.T) {
	t.Parallel()
	const most = mostVariable + "100000"
	for name, start := range map[string]func(t *testing.T) (*script, string){
		"node": func(t *testing.T) (*script, string) {
			s := classic(t, "", most)
			return s, s.file("values.js", "long", "in queueTrigger in", "out queue out")
		},
		"python": func(t *testing.T) (*script, string) {
			interpreter, err := command(t, "python3", "-c", "import sys; print(sys.executable)")
			if err != nil {
				t.Skip(err)
			}
			s := python{interpreter: interpreter}.start(t, app(t, "v1"), most)
			s.init(app(t, "v1"))
			if got := s.load("long", script1(t, "Odd", "long", "msg:queueTrigger out:queue:out")); got.GetStatus() != workerpb.StatusResult_Success {
				t.Fatal(got)
			}
			return s, "long"
		},
		"java": func(t *testing.T) (*script, string) {
			javaLibraries.Need(t)
			s := startJava(t, javaApp(t, "values", javatest.Annotations, javatest.Interfaces), most)
			return s, s.file("app.jar", "shop.Values.lengthy", "in queueTrigger in", "out queue out")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, id := start(t)
			parameter := "in"
			if name == "python" {
				parameter = "msg"
			}
			ask := func(what string) *workerpb.InvocationResponse {
				return s.invoke(&workerpb.InvocationRequest{FunctionId: id, InputData: input(parameter, text(what))})
			}
			if got := told(ask("answer")); !strings.HasPrefix(got, "fails: ") || !strings.Contains(got, "bytes, and the host takes 100000") {
				t.Errorf("an answer that is too long: %.300s", got)
			}
			if got := told(ask("error")); !strings.Contains(got, strings.Repeat("y", 30000)) || len(got) > 40000 {
				t.Errorf("a failure that is too long: %.300s", got)
			}
			if got := ask("log"); got.GetResult().GetStatus() != workerpb.StatusResult_Success {
				t.Errorf("a line that is too long: %.300s", told(got))
			}
			if lines := strings.Join(s.logs(), ""); !strings.Contains(lines, strings.Repeat("z", 30000)) || !strings.Contains(lines, "the rest of the line is left out") {
				t.Errorf("the line: %.300s", lines)
			}
			if got := told(ask("circular")); !strings.HasPrefix(got, "fails: ") {
				t.Errorf("a value that has no end: %.300s", got)
			}
			s.raw(`{"requestId":"r", "invocationRequest": {"invocationId":  "cut", "functionId"`)
			if got := s.ended("cut").GetResult(); got.GetStatus() != workerpb.StatusResult_Failure || got.GetException().GetMessage() == "" {
				t.Errorf("a call that cannot be read: %v", got)
			}
			if got := told(ask("x")); !strings.Contains(got, "lives") {
				t.Errorf("a call after these: %s", got)
			}
		})
	}
}
