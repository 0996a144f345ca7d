package shim_test

import (
	"strings"
	"testing"

	"github.com/redeliver/redeliver/host/worker/javatest"
	"github.com/redeliver/redeliver/host/worker/workerpb"
)

// A call is answered whatever it leaves behind in the process: streams that are closed, gone
// or the app's own, a stack that is used up in the middle of a log line, an exception that
// says nothing of itself. The next call is answered too.
func TestOddHandlers(t *testing.T) {
	t.Parallel()
	const lives = `out={"string":"lives"}`
	for name, start := range askers {
		for what, want := range map[string]string{
			"gone": lives, "closed": lives, "no flush": lives, "interrupt": lives, "deep": "fails: ",
			"nameless": "python fails: Exception: x", "loop": "java fails: Exception: one", "target": "java fails: InvocationTargetException",
			"controls": `java out={"json":"[\"\\t\\n\\f\\b\\r\\u0001\\\"\\\\\\u003c\"]"}`, // as Gson writes it
		} {
			if language, of, own := strings.Cut(want, " "); own && askers[language] != nil {
				if language != name {
					continue
				}
				want = of
			}
			t.Run(name+" "+what, func(t *testing.T) {
				t.Parallel()
				s := start(t, "odd")
				if got := told(s.ask(what)); !strings.HasPrefix(got, want) {
					t.Errorf("got %.300s, want %s", got, want)
				}
				if got := told(s.ask("x")); got != lives {
					t.Errorf("the next call: got %.300s", got)
				}
			})
		}
	}
}

// A function that ends the process ends it, with its code, although nobody can be told why.
func TestOddExits(t *testing.T) {
	t.Parallel()
	for name, start := range askers {
		for what, code := range map[string]map[string]int{"exit": {"node": 3, "python": 1, "java": 3}, "exit odd": {"python": 1}} {
			if _, has := code[name]; !has {
				continue
			}
			t.Run(name+" "+what, func(t *testing.T) {
				t.Parallel()
				s := start(t, "odd")
				s.begin(1, &workerpb.InvocationRequest{FunctionId: s.id, InputData: input("msg", text(what))})
				if got := s.exited(); got != code[name] {
					t.Errorf("the process ended with %d, want %d", got, code[name])
				}
			})
		}
	}
}

// A query may hold what a java.net.URI does not: only who asks for that is told (source:
// Azure/azure-functions-java-worker, RpcHttpRequestDataSource.java getUri).
func TestJavaOddQuery(t *testing.T) {
	t.Parallel()
	s := startJava(t, javaApp(t, "odd", javatest.Annotations, javatest.Interfaces))
	id := s.file("app.jar", "shop.Odd.query", "req httpTrigger in", "$return http out")
	for query, want := range map[string]string{"a": "a http://h/api/x?q=a", "a|b": "a|b is in no URI", `{"a":1}`: `{"a":1} is in no URI`} {
		r := &workerpb.RpcHttp{Method: "GET", Url: "http://h/api/x?q=" + query, Query: map[string]string{"q": query}}
		got := s.invoke(&workerpb.InvocationRequest{FunctionId: id, InputData: input("req", &workerpb.TypedData{Data: &workerpb.TypedData_Http{Http: r}})})
		if text := got.GetReturnValue().GetString_(); text != want {
			t.Errorf("%s: got %q, %s, want %q", query, text, told(got), want)
		}
	}
}

// A long message does not cost its size for as long as the process lives.
func TestJavaForgetsLongMessages(t *testing.T) {
	t.Parallel()
	s := startJava(t, javaApp(t, "odd", javatest.Annotations, javatest.Interfaces))
	id := s.file("app.jar", "shop.Odd.used", "msg queueTrigger in", "$return queue out")
	ask := func(what string) int64 {
		return s.invoke(&workerpb.InvocationRequest{FunctionId: id, InputData: input("msg", text(what))}).GetReturnValue().GetInt()
	}
	used := ask(strings.Repeat("x", 64<<20))
	for range 20 { // the thread of the first call may be at its end still
		used = min(used, ask("x"))
	}
	if used > 60 {
		t.Errorf("%d MiB are used", used)
	}
}
