package shim_test

import (
	"strings"
	"testing"

	"github.com/redeliver/redeliver/host/worker/javatest"
	"github.com/redeliver/redeliver/host/worker/workerpb"
)

// asker calls a function of a shim that takes a text and has one output.
type asker struct {
	*script
	id string
}

func (a asker) ask(what string) *workerpb.InvocationResponse {
	a.Helper()
	return a.invoke(&workerpb.InvocationRequest{FunctionId: a.id, InputData: input("msg", text(what))})
}

// askers start the shims of all languages and load a function of the odd ones.
var askers = map[string]func(t *testing.T, function string, env ...string) asker{ // read only
	"node": func(t *testing.T, function string, env ...string) asker {
		s := classic(t, "", env...)
		return asker{s, s.file("values.js", function, "msg queueTrigger in", "out queue out")}
	},
	"python": func(t *testing.T, function string, env ...string) asker {
		interpreter, err := command(t, "python3", "-c", "import sys; print(sys.executable)")
		if err != nil {
			t.Skip(err)
		}
		s := python{interpreter: interpreter}.start(t, app(t, "v1"), env...)
		s.init(app(t, "v1"))
		if got := s.load(function, script1(t, "Odd", function, "msg:queueTrigger out:queue:out")); got.GetStatus() != workerpb.StatusResult_Success {
			t.Fatal(got)
		}
		return asker{s, function}
	},
	"java": func(t *testing.T, function string, env ...string) asker {
		s := startJava(t, javaApp(t, "odd", javatest.Annotations, javatest.Interfaces), env...)
		return asker{s, s.file("app.jar", "shop.Odd."+function, "msg queueTrigger in", "out queue out")}
	},
}

// Each call is answered, whatever its answer is, and the others live: one that is too long
// to travel, a failure whose text is, and a call that cannot be read.
func TestTooLong(t *testing.T) {
	t.Parallel()
	for name, start := range askers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, "lengthy", mostVariable+"100000")
			if got := told(s.ask("answer")); !strings.HasPrefix(got, "fails: ") || !strings.Contains(got, "bytes, and the host takes 100000") {
				t.Errorf("an answer that is too long: %.300s", got)
			}
			if got := told(s.ask("error")); !strings.Contains(got, strings.Repeat("y", 30000)) || len(got) > 40000 {
				t.Errorf("a failure that is too long: %.300s", got)
			}
			if got := s.ask("log"); got.GetResult().GetStatus() != workerpb.StatusResult_Success {
				t.Errorf("a line that is too long: %.300s", told(got))
			}
			if lines := strings.Join(s.logs(), ""); !strings.Contains(lines, strings.Repeat("z", 30000)) || !strings.Contains(lines, "the rest of the line is left out") {
				t.Errorf("the line: %.300s", lines)
			}
			if got := told(s.ask("circular")); !strings.HasPrefix(got, "fails: ") {
				t.Errorf("a value that has no end: %.300s", got)
			}
			s.raw(`{"requestId":"r", "invocationRequest": {"invocationId":  "cut", "functionId"`)
			if got := s.ended("cut").GetResult(); got.GetStatus() != workerpb.StatusResult_Failure || got.GetException().GetMessage() == "" {
				t.Errorf("a call that cannot be read: %v", got)
			}
			if got := told(s.ask("x")); !strings.Contains(got, "lives") {
				t.Errorf("a call after these: %s", got)
			}
		})
	}
}
