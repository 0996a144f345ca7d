package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/redeliver/redeliver/cmd/redeliver/mcp"
	"github.com/redeliver/redeliver/host/hosttest/leaktest"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/ops/queues"
	"github.com/redeliver/redeliver/host/ops/run"
	"github.com/redeliver/redeliver/host/ops/servicebus"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// asked remembers what a host was asked, and answers with what is put into it.
type asked struct {
	in     []any
	answer string // JSON
	err    error
}

func (a *asked) ask(_ context.Context, in, out any) error {
	a.in = append(a.in, in)
	if a.err != nil || a.answer == "" {
		return a.err
	}
	return json.Unmarshal([]byte(a.answer), out)
}

// tools are a reading tool, one of several ways, and one that destroys.
func (a *asked) tools() []mcp.Tool {
	return []mcp.Tool{
		{Name: "explain", Ways: []mcp.Way{mcp.Asked(a.ask, "", mcp.Reads, run.GetInventory{}, func(in *run.GetInventory, out *run.Inventory) string {
			return fmt.Sprintf("%d of %d queues\n", in.Deliveries, len(out.Queues))
		})}},
		{Name: "send", Choose: "service", Ways: []mcp.Way{
			mcp.Asked(a.ask, "queue", mcp.Changes, queues.SendMessage{}, func(in *queues.SendMessage, out *queues.Message) string {
				return "sent " + in.Queue + " " + out.ID + " with --raw\n--raw " + in.TTL
			}).Renamed("visibility", "delay"),
			mcp.Operation(a.ask, "servicebus", mcp.Changes, servicebus.SendBusMessage{}, func(out *servicebus.BusSent) string { return out.MessageID }).Named("path"),
		}},
		{Name: "clock", Choose: "action", First: "show", Ways: []mcp.Way{
			mcp.Operation(a.ask, "show", mcp.Reads, run.GetClock{}, func(*run.ClockStatus) string { return "" }),
			mcp.Operation(a.ask, "set", mcp.Changes, run.SetClock{}, func(*run.ClockStatus) string { return "" }).Among("mode", "real", "manual"),
			mcp.Operation(a.ask, "advance", mcp.Changes, run.AdvanceClock{}, func(*run.ClockStatus) string { return "" }),
		}},
		{Name: "fail", Choose: "what", Ways: []mcp.Way{
			mcp.Operation(a.ask, "handler", mcp.Destroys, run.AddFault{Service: "handler", Operation: "Invoke"}, func(*run.Faults) string { return "fails\n" }).
				Without("diskFull", "lost", "latency", "status").Named("entity"),
			mcp.Operation(a.ask, "list", mcp.Reads, run.ListFaults{}, func(*run.Faults) string { return "none\n" }),
		}},
		{Name: "reset", Ways: []mcp.Way{mcp.Operation(a.ask, "", mcp.Destroys, run.ResetState{}, func(*ops.None) string { return "gone\n" })}},
	}
}

// connect is a client of a server, in this process.
func connect(t *testing.T, s *mcp.Server) *sdk.ClientSession {
	t.Helper()
	here, there := sdk.NewInMemoryTransports()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, there) }()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test"}, nil).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		session.Close()
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	return session
}

// call calls a tool, and returns what is read of the answer.
func call(t *testing.T, s *sdk.ClientSession, tool, arguments string) (text string, failed bool) {
	t.Helper()
	out, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
	if err != nil {
		t.Fatalf("%s %s: %v", tool, arguments, err)
	}
	return out.Content[0].(*sdk.TextContent).Text, out.IsError
}

// An assistant is told by the schema what its call may have: names, types, limits and words
// of the operation, and of several ways what belongs to which.
func TestSchemas(t *testing.T) {
	t.Parallel()
	s := connect(t, &mcp.Server{Version: "v1", Instructions: "ask first", Tools: (&asked{}).tools()})
	if got := s.InitializeResult(); got.Instructions != "ask first" || got.ServerInfo.Version != "v1" || got.Capabilities.Tools == nil {
		t.Errorf("got %+v of the server", got)
	}
	list, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, tool := range list.Tools {
		schema, err := json.Marshal(tool.InputSchema)
		if err != nil {
			t.Fatal(err)
		}
		got[tool.Name] = fmt.Sprintf("%v %v %v\n%s\n%s", tool.Annotations.ReadOnlyHint, *tool.Annotations.DestructiveHint, *tool.Annotations.OpenWorldHint, tool.Description, schema)
	}
	for tool, parts := range map[string][]string{
		"explain": {
			"true false false\n", "Lists what the host has: functions, and what the services hold.",
			`"additionalProperties":false`, `"deliveries":{"description":"so many deliveries of Event Grid at most, the first; 0: all","minimum":0,"type":"integer"}`, `"required":[]`,
		},
		"send": {
			"false false false\n", "service \"queue\": Puts a message on a queue, encoded as the app expects it",
			`"service":{"enum":["queue","servicebus"],"type":"string"}`, `"required":["service","name"]`,
			`"delay":{"description":"(queue) keep the message invisible for this long first, e.g. 30s; (servicebus) schedule the message for this long from now, e.g. 30s","examples":["1h30m"],"type":"string"}`,
			`"raw":{"description":"(queue) do not encode the body","type":"boolean"}`, `"property":{"description":"(servicebus) name=text; name:=5 for numbers, true, false, null","items":{"type":"string"},"type":"array"}`,
			`"body":{"description":"a text; any other value is sent as its JSON","type":"string"}`,
		},
		"clock": {
			`"action":{"default":"show","enum":["show","set","advance"],"type":"string"}`, `"mode":{"description":"(set)","enum":["real","manual"],"type":"string"}`,
			"a duration such as 1h30m, at most 8784h", "worked off; refused when the clock is not virtual", `"required":[]`,
		},
		"fail":  {"false true false\n", `"confirm":{"description":"What takes`, "It wants confirm: true."},
		"reset": {"false true false\n", `"confirm":{"description":"It takes`},
	} {
		for _, part := range parts {
			if !strings.Contains(got[tool], part) {
				t.Errorf("%s lacks %s:\n%s", tool, part, got[tool])
			}
		}
	}
	for tool, part := range map[string]string{"explain": "confirm", "send": "visibility", "fail": "diskFull", "clock": "409"} {
		if strings.Contains(got[tool], part) {
			t.Errorf("%s has %s:\n%s", tool, part, got[tool])
		}
	}
}

// A tool has a schema of its answers when each of its ways has one, and words of it only once.
func TestOutputSchemas(t *testing.T) {
	t.Parallel()
	list, err := connect(t, &mcp.Server{Tools: (&asked{}).tools()}).ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		schema, err := json.Marshal(tool.OutputSchema)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range map[string][]string{
			"explain": {`"$ref":"#/$defs/Inventory"`, `"$ref":"#/$defs/ContainerInfo"`, `"omitted"`},
			"send":    {`"anyOf":[{"$ref":"#/$defs/Message"},{"$ref":"#/$defs/BusSent"},`},
			"reset":   {"null"}, // its answer is a status
		}[tool.Name] {
			if !strings.Contains(string(schema), part) || strings.Contains(string(schema), `"description":"`) {
				t.Errorf("%s: %s lacks %s, or has descriptions", tool.Name, schema, part)
			}
		}
	}
}

// A call that is taken reaches the host as the operation that it means.
func TestCalls(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ tool, arguments, answer, want, text string }{
		{"explain", `{"deliveries":7}`, `{"queues":[{},{}]}`, "{Op:{} Deliveries:7}", "7 of 2 queues\n"},
		{"explain", `{"deliveries":null}`, `{}`, "{Op:{} Deliveries:0}", "0 of 0 queues\n"},
		{"explain", `{}`, `{}`, "{Op:{} Deliveries:0}", "0 of 0 queues\n"},
		{"send", `{"service":"queue","name":"orders","body":"x","delay":"30s","raw":true}`, `{"id":"m1"}`, "{Op:{} Queue:orders Raw:true Delay:30s TTL: Create:false Body:x}", "sent orders m1 with raw\n--raw "},
		{"send", `{"service":"queue","name":"orders","body":{"z":1,"a":[1.50]}}`, `{}`, `{Op:{} Queue:orders Raw:false Delay:0s TTL: Create:false Body:{"z":1,"a":[1.50]}}`, "sent orders  with raw\n--raw "},
		{"send", `{"service":"queue","name":"orders","body":[{"z":1},2]}`, `{}`, `{Op:{} Queue:orders Raw:false Delay:0s TTL: Create:false Body:[{"z":1},2]}`, "sent orders  with raw\n--raw "},
		{"send", `{"service":"queue","name":"app/function"}`, `{}`, "{Op:{} Queue:app/function Raw:false Delay:0s TTL: Create:false Body:}", "sent app/function  with raw\n--raw "},
		{"clock", `{}`, `{}`, "{Op:{}}", ""},
		{"clock", `{"action":"set","mode":"manual"}`, `{}`, "{Op:{} Mode:manual}", ""},
		{"clock", `{"action":"advance","by":"1h30m"}`, `{}`, "{Op:{} By:1h30m0s}", ""},
		{"fail", `{"what":"handler","name":"F","after":true,"confirm":true}`, `{}`, "{Op:{} Service:handler Entity:F Operation:Invoke DiskFull:false After:true Lost:false Latency:0s Status:0 Error: Times:0 For:0s}", "fails\n"},
		{"fail", `{"what":"list"}`, `{}`, "{Op:{}}", "none\n"},
		{"reset", `{"confirm":true}`, ``, "{Op:{}}", "gone\n"},
	} {
		t.Run(c.tool+" "+c.arguments, func(t *testing.T) {
			t.Parallel()
			host := &asked{answer: c.answer}
			text, failed := call(t, connect(t, &mcp.Server{Tools: host.tools()}), c.tool, c.arguments)
			if text != c.text || failed {
				t.Errorf("got %q, failed: %v", text, failed)
			}
			if len(host.in) != 1 {
				t.Fatalf("the host was asked %d times", len(host.in))
			}
			in := host.in[0]
			if m, ok := in.(queues.SendMessage); ok {
				body := string(m.Body)
				m.Body = nil
				in = strings.TrimSuffix(fmt.Sprintf("%+v", m), "[]}") + body + "}"
			}
			if got := fmt.Sprintf("%+v", in); got != c.want {
				t.Errorf("the host was asked\n%s, want\n%s", got, c.want)
			}
		})
	}
}

// What a tool does not take is refused with what was meant, and the host is not asked.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ tool, arguments, want string }{
		{"explian", `{}`, "error: there is no tool \"explian\": want explain, send, clock, fail or reset\nhint: did you mean \"explain\"?"},
		{"explain", `[]`, "error: the arguments of explain have to be an object of JSON: want {...}"},
		{"explain", `{"delivries":7}`, "error: explain does not take the argument \"delivries\"\nhint: did you mean \"deliveries\"?"},
		{"explain", `{"everything":true}`, "error: explain does not take the argument \"everything\"\nhint: it takes deliveries"},
		{"explain", `{"confirm":true}`, "error: explain does not take the argument \"confirm\"\nhint: it takes deliveries"},
		{"explain", `{"deliveries":"7"}`, `error: "deliveries": want a whole number, not "7"`},
		{"explain", `{"deliveries":1.5}`, `error: "deliveries": want a whole number, not 1.5`},
		{"explain", `{"deliveries":99999999999999999999}`, `error: "deliveries": want a whole number, not 99999999999999999999`},
		{"explain", `{"deliveries":-1}`, "error: deliveries must be a number of 0 or more"},
		{"send", `{}`, `error: send wants the argument "service": queue or servicebus`},
		{"send", `{"servce":"queue"}`, "error: send wants the argument \"service\": queue or servicebus\nhint: \"servce\" was meant to be \"service\"?"},
		{"send", `{"service":"qeue"}`, "error: send has no service \"qeue\": want queue or servicebus\nhint: did you mean \"queue\"?"},
		{"send", `{"service":7}`, "error: send has no service 7: want queue or servicebus"},
		{"send", `{"service":"queue"}`, "error: send queue wants the argument \"name\"\nhint: it takes name, raw, delay, ttl, create, body"},
		{"send", `{"service":"servicebus","path":"orders"}`, "error: send servicebus does not take the argument \"path\"\nhint: did you mean \"name\"?"},
		{"send", `{"service":"queue","visibility":"3s","name":"q"}`, "error: send queue does not take the argument \"visibility\"\nhint: did you mean \"delay\"?"},
		{"send", `{"service":"queue","name":"q","session":"s"}`, "error: send queue does not take the argument \"session\"\nhint: it belongs to service \"servicebus\""},
		{"send", `{"service":"queue","name":"q","delay":30}`, `error: "delay": want a text such as "1h30m", not 30`},
		{"send", `{"service":"queue","name":"q","delay":"soon"}`, "error: visibility must be a duration of 0 or more\nhint: for instance \"30s\""},
		{"send", `{"service":"queue","name":"q","raw":"yes"}`, `error: "raw": want true or false, not "yes"`},
		{"send", `{"service":"queue","name":"../q"}`, `error: "../q" is no name`},
		{"send", `{"service":"queue","name":"q","body":"` + strings.Repeat("x", ops.MaxBody+1) + `"}`, "error: the body has 1048577 bytes: want at most 1048576"},
		{"send", `{"service":"queue","name":"` + strings.Repeat("q", mcp.MaxText+1) + `"}`, "error: \"name\" has 4097 bytes: want at most 4096"},
		{"clock", `{"by":"1h"}`, "error: clock show does not take the argument \"by\"\nhint: it belongs to action \"advance\""},
		{"clock", `{"action":"set","mode":"manuel"}`, "error: \"mode\": \"manuel\" is none of real or manual\nhint: did you mean \"manual\"?"},
		{"clock", `{"action":"advance","by":"9999h"}`, "error: by \"9999h\": want a duration above 0 and at most 8784h\nhint: its units are h, m, s and ms, for instance \"15m\", \"1h30m\" or \"192h\""},
		{"reset", `{}`, "error: reset takes something away or breaks something, and was not confirmed: nothing was done\nhint: ask the user; if that is what they want, call it again with \"confirm\": true"},
		{"reset", `{"confirm":false}`, "error: reset takes something away or breaks something, and was not confirmed: nothing was done\nhint: ask the user; if that is what they want, call it again with \"confirm\": true"},
		{"reset", `{"confirm":"true"}`, `error: "confirm": want true, not "true"`},
		{"reset", `{"confirmed":true}`, "error: reset does not take the argument \"confirmed\"\nhint: it takes confirm"},
		{"fail", `{"what":"handler","name":"F"}`, "error: fail handler takes something away or breaks something, and was not confirmed: nothing was done\nhint: ask the user; if that is what they want, call it again with \"confirm\": true"},
		{"fail", `{"what":"handler","name":"F","service":"queue","confirm":true}`, "error: fail handler does not take the argument \"service\"\nhint: it takes name, after, error, times, for, confirm"},
	} {
		name := c.arguments
		if len(name) > 60 {
			name = name[:60]
		}
		t.Run(c.tool+" "+name, func(t *testing.T) {
			t.Parallel()
			host := &asked{}
			text, failed := call(t, connect(t, &mcp.Server{Tools: host.tools()}), c.tool, c.arguments)
			if text != c.want || !failed || len(host.in) > 0 {
				t.Errorf("got %q (failed: %v, the host was asked %d times), want %q", text, failed, len(host.in), c.want)
			}
		})
	}
}

// An error of the host is told with its hint.
func TestErrorOfTheHost(t *testing.T) {
	t.Parallel()
	host := &asked{err: &ops.Error{Status: 404, Text: "queue not found", Hint: "make one"}}
	s := &mcp.Server{Tools: host.tools(), Failure: func(err error) mcp.Refusal { return mcp.Refusal{Text: "own: " + err.Error(), Hint: "start"} }}
	session := connect(t, s)
	if text, failed := call(t, session, "explain", `{}`); text != "error: queue not found\nhint: make one" || !failed {
		t.Errorf("got %q, failed: %v", text, failed)
	}
	host.err = errors.New("no host")
	if text, failed := call(t, session, "explain", `{}`); text != "error: own: no host\nhint: start" || !failed {
		t.Errorf("got %q, failed: %v", text, failed)
	}
}

// Bodies, and answers as a whole, are cut before an assistant has to read them.
func TestLongAnswers(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ü", mcp.MaxText)
	body, err := json.Marshal(map[string]any{"id": long, "binary": []byte(long)})
	if err != nil {
		t.Fatal(err)
	}
	host := &asked{answer: string(body)}
	out, err := connect(t, &mcp.Server{Tools: host.tools()}).CallTool(t.Context(), &sdk.CallToolParams{Name: "send", Arguments: json.RawMessage(`{"service":"queue","name":"q"}`)})
	if err != nil {
		t.Fatal(err)
	}
	text := out.Content[0].(*sdk.TextContent).Text
	if want := "sent q " + long[:mcp.MaxText] + "... (the first 4096 of 8192 bytes) with raw\n--raw "; text != want {
		t.Errorf("got a text of %d bytes that ends in %q", len(text), text[max(0, len(text)-50):])
	}
	data, err := json.Marshal(out.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	var m queues.Message
	if err := json.Unmarshal(data, &m); err != nil || len(m.Binary) != mcp.MaxText || !strings.HasSuffix(m.ID, " of 8192 bytes)") {
		t.Errorf("got %d bytes and an ID that ends in %q: %v", len(m.Binary), m.ID[max(0, len(m.ID)-30):], err)
	}

	lines := mcp.Tool{Name: "lines", Ways: []mcp.Way{{Do: func(context.Context, map[string]any) (mcp.Answer, error) {
		return mcp.Answer{Text: strings.Repeat("a line\n", mcp.MaxAnswer), Data: map[string]string{"all": strings.Repeat("x", mcp.MaxAnswer)}}, nil
	}}}}
	out, err = connect(t, &mcp.Server{Tools: []mcp.Tool{lines}}).CallTool(t.Context(), &sdk.CallToolParams{Name: "lines"})
	if err != nil {
		t.Fatal(err)
	}
	text = out.Content[0].(*sdk.TextContent).Text
	if len(text) > mcp.MaxAnswer+100 || !strings.HasSuffix(text, "a line\n... 393218 more bytes are not shown: ask for less\n") {
		t.Errorf("got %d bytes that end in %q", len(text), text[len(text)-80:])
	}
	if data, _ := json.Marshal(out.StructuredContent); !strings.HasPrefix(string(data), `{"omitted":"the answer has `) {
		t.Errorf("got %d bytes of JSON", len(data))
	}
}

// hanging is a tool whose calls end with their context only, and say when they begin.
func hanging() (tool mcp.Tool, began, ended chan struct{}) {
	began, ended = make(chan struct{}, 9), make(chan struct{}, 9)
	return mcp.Tool{Name: "hang", Ways: []mcp.Way{{Do: func(ctx context.Context, _ map[string]any) (mcp.Answer, error) {
		began <- struct{}{}
		<-ctx.Done()
		ended <- struct{}{}
		return mcp.Answer{}, ctx.Err()
	}}}}, began, ended
}

// A call that is cancelled ends, and the others go on.
func TestCancelledCall(t *testing.T) {
	t.Parallel()
	tool, began, ended := hanging()
	host := &asked{answer: `{}`}
	session := connect(t, &mcp.Server{Tools: append(host.tools(), tool)})
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := session.CallTool(ctx, &sdk.CallToolParams{Name: "hang"})
		failed <- err
	}()
	<-began
	if text, failed := call(t, session, "explain", `{}`); failed {
		t.Errorf("beside it: %s", text)
	}
	cancel()
	<-ended
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// The end of the server's context ends what runs.
func TestEndOfTheServer(t *testing.T) {
	t.Parallel()
	tool, began, ended := hanging()
	here, there := sdk.NewInMemoryTransports()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- (&mcp.Server{Tools: []mcp.Tool{tool}}).Run(ctx, there) }()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test"}, nil).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	go func() { _, _ = session.CallTool(t.Context(), &sdk.CallToolParams{Name: "hang"}) }()
	<-began
	cancel()
	<-ended
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// serve is a server whose two ends are in the test's hands.
func serve(t *testing.T, tools []mcp.Tool) (in io.WriteCloser, out *json.Decoder, done chan error) {
	t.Helper()
	from, in := io.Pipe()
	answers, to := io.Pipe()
	done = make(chan error, 1)
	go func() {
		done <- (&mcp.Server{Tools: tools}).Serve(t.Context(), from, to)
		to.Close()
	}()
	return in, json.NewDecoder(answers), done
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// What is no message is answered as JSON-RPC wants it, and what follows is served.
func TestLines(t *testing.T) {
	t.Parallel()
	in, out, done := serve(t, (&asked{answer: `{}`}).tools())
	next := func(line string) string {
		t.Helper()
		if _, err := io.WriteString(in, line+"\n"); err != nil {
			t.Fatal(err)
		}
		var answer json.RawMessage
		if err := out.Decode(&answer); err != nil {
			t.Fatal(err)
		}
		return string(answer)
	}
	if got := next("\n  \n" + initialize); !strings.Contains(got, `"protocolVersion"`) {
		t.Fatalf("got %s", got)
	}
	if _, err := io.WriteString(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\r\n"); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{
		{`{"jsonrpc":"2.0","id":2,`, `{"error":{"code":-32700,"message":"the line is not JSON: a message is one line of JSON"},"id":null,"jsonrpc":"2.0"}`},
		{`hello`, `{"error":{"code":-32700,"message":"the line is not JSON: a message is one line of JSON"},"id":null,"jsonrpc":"2.0"}`},
		{`[]`, `{"error":{"code":-32600,"message":"the line is no message of JSON-RPC 2.0"},"id":null,"jsonrpc":"2.0"}`},
		{`5`, `{"error":{"code":-32600,"message":"the line is no message of JSON-RPC 2.0"},"id":null,"jsonrpc":"2.0"}`},
		{`{"id":2,"method":"ping"}`, `{"error":{"code":-32600,"message":"the line is no message of JSON-RPC 2.0"},"id":null,"jsonrpc":"2.0"}`},
		{strings.Repeat("x", mcp.MaxLine+1), `{"error":{"code":-32600,"message":"the message is longer than 8 MiB"},"id":null,"jsonrpc":"2.0"}`},
		{`{"jsonrpc":"2.0","id":3,"method":"ping"}`, `{"jsonrpc":"2.0","id":3,"result":{}}`},
	} {
		if got := next(c[0]); got != c[1] {
			t.Errorf("%.40s: got %s, want %s", c[0], got, c[1])
		}
	}
	if got := next(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"explain","arguments":{}}}`); !strings.Contains(got, "0 of 0 queues") {
		t.Errorf("got %s", got)
	}
	in.Close()
	if err := <-done; err != nil {
		t.Errorf("the server ended with %v", err)
	}
}

// The end of the input ends the server at once, and before it what was asked is answered.
func TestEndOfTheInput(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		in, out, done := serve(t, (&asked{answer: `{}`}).tools())
		go func() {
			_, _ = io.WriteString(in, initialize+"\n"+`{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"+
				`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"explain"}}`) // without the end of its line
			in.Close()
		}()
		var all strings.Builder
		for {
			var answer json.RawMessage
			if out.Decode(&answer) != nil {
				break
			}
			all.Write(answer)
		}
		if !strings.Contains(all.String(), "0 of 0 queues") {
			t.Errorf("got %s", all.String())
		}
		if err := <-done; err != nil || time.Since(began) != 0 {
			t.Errorf("the server ended after %v with %v", time.Since(began), err)
		}
	})
}

// The end of the input ends calls that would go on, after a while.
func TestEndOfTheInputEndsCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tool, began, ended := hanging()
		in, out, done := serve(t, []mcp.Tool{tool})
		go func() {
			for {
				var answer json.RawMessage
				if out.Decode(&answer) != nil {
					return
				}
			}
		}()
		if _, err := io.WriteString(in, initialize+"\n"+`{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"+`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"hang"}}`+"\n"); err != nil {
			t.Fatal(err)
		}
		<-began
		from := time.Now()
		in.Close()
		<-ended
		if err := <-done; err != nil || time.Since(from) != 3*time.Second {
			t.Errorf("the server ended after %v with %v", time.Since(from), err)
		}
	})
}

// JSON that is kept as it came stays JSON of its form while its texts alone are too long.
func TestLongJSON(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", mcp.MaxText+1)
	cut := long[:mcp.MaxText] + "... (the first 4096 of 4097 bytes)"
	for _, c := range [][2]string{
		{`{"b": 1.50, "a":1}`, `{"b": 1.50, "a":1}`},
		{`{"b":1.50,"a":["` + long + `",9007199254740993]}`, `{"a":["` + cut + `",9007199254740993],"b":1.50}`},
		{`[` + strings.Repeat("1,", 4*mcp.MaxText) + `1]`, `"[` + strings.Repeat("1,", mcp.MaxText/2)[:mcp.MaxText-1] + `... (the first 4096 of 32771 bytes)"`},
	} {
		v := struct{ Documents []json.RawMessage }{[]json.RawMessage{json.RawMessage(c[0])}}
		mcp.Shorten(&v)
		if got := string(v.Documents[0]); got != c[1] {
			t.Errorf("got %d bytes: %.60s ... %s", len(got), got, got[max(0, len(got)-60):])
		}
	}
}

// Parts that are gathered from the last one on have room up to the longest answer, and the
// first of them always.
func TestRoom(t *testing.T) {
	t.Parallel()
	room, n := mcp.NewRoom(), 0
	for room.Takes(strings.Repeat("x", 999), strings.Repeat("x", 9)) {
		n++
	}
	if n != (mcp.MaxAnswer-1024)/1000 {
		t.Errorf("room for %d texts", n)
	}
	room, n = mcp.NewRoom(), 0
	for room.Takes("", strings.Repeat("x", 997)) {
		n++
	}
	if n != (mcp.MaxAnswer-1024)/1000 {
		t.Errorf("room for %d values", n)
	}
	if room := mcp.NewRoom(); !room.Takes(strings.Repeat("x", 2*mcp.MaxAnswer), nil) || room.Takes("x", nil) {
		t.Error("the first part alone has room")
	}
}
