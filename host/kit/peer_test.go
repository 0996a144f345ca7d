//clock:outside the worker of the tests is a client of the kit

package kit_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// peer is an attached worker in the test's process, with functions for messages of queues of
// their names. It speaks the lines of package shim.
type peer struct {
	*test
	nc      net.Conn
	handler map[string]func(*peerCall) error
	on      sync.WaitGroup // the handlers that run

	mu sync.Mutex // guards writing
}

// peerCall is a call of a handler.
type peerCall struct {
	*peer
	invocation string
	attributes map[string]string // of the trace context
	input      string
}

// attach starts a host, and attaches a worker with those handlers to it.
func (c *client) attach(options object, handlers map[string]func(*peerCall) error) *peer {
	c.t.Helper()
	options = maps.Clone(options)
	options["attached"] = true
	out := c.must("POST", "/kit/hosts", options)
	p := &peer{test: &test{c, "/kit/hosts/" + out["id"].(string)}, handler: handlers}
	at := out["worker"].(object)
	nc, err := net.Dial("tcp", at["address"].(string))
	if err != nil {
		c.t.Fatal(err)
	}
	p.nc = nc
	p.say("startStream", fmt.Sprintf(`{"workerId":%q}`, at["id"]), "")
	served := make(chan struct{})
	go func() { defer close(served); p.serve() }()
	c.t.Cleanup(func() { _ = nc.Close(); <-served; p.on.Wait() })
	p.post("/ready", nil)
	return p
}

func (p *peer) say(kind, body, request string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.nc, `{"requestId":%q,%q:%s}`+"\n", request, kind, body)
}

const success = `"result":{"status":"Success"}`

func (p *peer) serve() {
	in := bufio.NewReader(p.nc)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var m struct {
			RequestID                string `json:"requestId"`
			WorkerInitRequest        json.RawMessage
			WorkerStatusRequest      json.RawMessage
			FunctionsMetadataRequest json.RawMessage
			WorkerTerminate          json.RawMessage
			FunctionLoadRequest      *struct{ FunctionID string }
			InvocationRequest        *struct {
				InvocationID, FunctionID string
				TraceContext             struct{ Attributes map[string]string }
				InputData                []struct{ Data object }
			}
		}
		if err := json.Unmarshal(line, &m); err != nil {
			panic(err)
		}
		switch {
		case m.WorkerInitRequest != nil:
			p.say("workerInitResponse", `{`+success+`,"capabilities":{"TypedDataCollection":"true","WorkerStatus":"true"}}`, m.RequestID)
		case m.WorkerStatusRequest != nil:
			p.say("workerStatusResponse", `{}`, m.RequestID)
		case m.FunctionsMetadataRequest != nil:
			p.say("functionMetadataResponse", `{`+success+`,"functionMetadataResults":[`+p.functions()+`]}`, m.RequestID)
		case m.FunctionLoadRequest != nil:
			p.say("functionLoadResponse", fmt.Sprintf(`{"functionId":%q,%s}`, m.FunctionLoadRequest.FunctionID, success), m.RequestID)
		case m.WorkerTerminate != nil:
			_ = p.nc.Close()
		case m.InvocationRequest != nil:
			q := m.InvocationRequest
			call := &peerCall{p, q.InvocationID, q.TraceContext.Attributes, fmt.Sprint(q.InputData)}
			handler, request := p.handler[q.FunctionID], m.RequestID
			p.on.Go(func() {
				result := success
				if err := handler(call); err != nil {
					result = fmt.Sprintf(`"result":{"status":"Failure","exception":{"message":%q}}`, err)
				}
				p.say("invocationResponse", fmt.Sprintf(`{"invocationId":%q,%s}`, q.InvocationID, result), request)
			})
		}
	}
}

// functions declares the functions, each for the queue of its name in small letters.
func (p *peer) functions() string {
	var list []string
	for name := range p.handler {
		one := fmt.Sprintf(`{"name":%[1]q,"functionId":%[1]q,"rawBindings":["{\"type\":\"queueTrigger\",\"direction\":\"in\",\"name\":\"item\",\"queueName\":\"%s\",\"connection\":\"AzureWebJobsStorage\"}"]}`, name, strings.ToLower(name))
		list = append(list, one)
	}
	return strings.Join(list, ",")
}

// log writes a line of the handler.
func (c *peerCall) log(text string) {
	c.say("rpcLog", fmt.Sprintf(`{"invocationId":%q,"category":"Function","level":"Information","logCategory":"User","message":%q}`, c.invocation, text), "")
}

// wait waits for virtual time, and returns how that ended.
func (c *peerCall) wait(more object) object {
	body := object{"invocation": c.invocation}
	for name, value := range more {
		body[name] = value
	}
	_, out := c.ask("POST", c.path+"/clock/wait", body)
	return out
}

// journal is the journal of the host.
func (h *test) journal() string {
	_, text := h.raw("GET", h.path+"/admin/redeliver/journal", nil)
	return string(text)
}

// record is the first record that a pattern matches.
func (h *test) record(t *testing.T, pattern object) object {
	t.Helper()
	list := h.post("/records", object{"pattern": pattern})["list"].([]any)
	if len(list) == 0 {
		t.Fatalf("no record %v", pattern)
	}
	return list[0].(object)
}

// follow returns when the journal has a record of that kind, whether or not a call moves time.
func (h *test) follow(kind string) {
	h.t.Helper()
	r, err := http.NewRequest("GET", h.a.Address+h.path+"/admin/redeliver/journal?follow=true", nil)
	if err != nil {
		h.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+h.token)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		h.t.Fatal(err)
	}
	defer resp.Body.Close()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if strings.Contains(lines.Text(), fmt.Sprintf(`"kind":%q`, kind)) {
			return
		}
	}
	h.t.Fatalf("the journal has ended without %s", kind)
}
