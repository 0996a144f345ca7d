package worker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/internal/proxy"
	"github.com/redeliver/redeliver/host/process"
	"github.com/redeliver/redeliver/host/worker/workerpb"
)

// conn is the connection with one process of the worker. Its methods wait for the
// process; under the clock they are called through Outside.
type conn struct {
	spec    *Spec
	child   *process.Child
	end     endpoint
	request string // the ID that the messages of the start carry
	can     capabilities
	server  *proxy.Server // nil: it serves no HTTP
	out     *process.Inbox[*message]
	running sync.WaitGroup //clock:outside the goroutines that send and receive

	loan   *loan       // nil: it is not of a Pool
	seat   *Seat       // nil: the host has started the process
	unlife func() bool // has the end of Spec.Life mean nothing any more; nil: it never ends

	loading sync.Mutex // one load at a time

	mu            sync.Mutex // guards:
	answers       map[string]*process.Inbox[*message]
	calls         map[string]*conversation // by invocation ID
	indexed       *indexed                 // what it has said of the functions of the app; nil: it was not asked
	loaded        map[string]*loaded       // by folded name; nil: nothing has been loaded
	indexingError string                   // the last error that the worker has told of itself
	err           error                    // why the stream has ended

	declared map[string]*workerpb.RpcFunctionMetadata // the functions that the worker has declared, by folded name
}

// loaded is what became of a function's load.
type loaded struct {
	id  string
	err *call.Error // the worker could not load it
}

// connect starts the process of that number and returns when the worker has said what
// it can do. The error is a *process.StartError.
func connect(ctx context.Context, spec *Spec, number int) (*conn, error) {
	c := &conn{
		spec: spec, request: rand.Text(), out: &process.Inbox[*message]{},
		answers: map[string]*process.Inbox[*message]{}, calls: map[string]*conversation{},
	}
	id := rand.Text()
	var err error
	if c.end, err = spec.Transport.open(id, &settlement{running: c.holders}); err != nil {
		return nil, &process.StartError{Name: spec.Name, Path: spec.Path, Reason: err.Error(), Err: err}
	}
	own := spec.Spec
	own.Args = append(append([]string{}, spec.Args...), arguments(c.end.addr(), id, c.request)...)
	c.child = process.NewChild(ctx, own, number)
	if err := c.child.Start(); err != nil {
		c.end.close()
		return nil, c.child.Failed(err, "", "")
	}
	s, reason := c.dialled()
	if s == nil {
		c.end.close()
		return nil, c.child.Failed(nil, reason, c.unconnected())
	}
	c.running.Add(2)
	go c.send(s)    //clock:outside waited for by Wait
	go c.receive(s) //clock:outside waited for by Wait
	if err := c.init(); err != nil {
		serr := c.child.Failed(nil, err.Error(), "")
		c.HangUp()
		c.Wait()
		return nil, serr
	}
	return c, nil
}

// dialled waits for the worker's stream. The reason says why there is none.
func (c *conn) dialled() (s stream, reason string) {
	limit := time.NewTimer(c.spec.StartTimeout) //clock:outside the start of a process
	defer limit.Stop()
	select { //clock:outside the start of a process
	case s = <-c.end.accepted(): //clock:outside the start of a process
		return s, ""
	case <-c.child.Done(): //clock:outside the start of a process
		return nil, "it ended before it connected to the host: " + c.child.Status()
	case <-limit.C: //clock:outside the start of a process
		return nil, fmt.Sprintf("it has not connected to the host within %v", c.spec.StartTimeout)
	}
}

// init tells the worker of the host and learns what it can do.
func (c *conn) init() error {
	answer, err := c.ask("init", &message{Content: &workerpb.StreamingMessage_WorkerInitRequest{WorkerInitRequest: &workerpb.WorkerInitRequest{
		HostVersion:     c.spec.HostVersion,
		Capabilities:    map[string]string{"MultiStream": "10"},
		WorkerDirectory: c.spec.Directory, FunctionAppDirectory: c.spec.App,
	}}})
	if err != nil {
		return err
	}
	r := answer.GetWorkerInitResponse()
	if failure := failureOf(r.GetResult()); failure != nil {
		// A worker that reads the app already here has failed with what is wrong in it (spec
		// workers-dotnet-java 4.2).
		return errors.New("it refused to start: " + failure.Message + stackOf(failure))
	}
	c.can = r.GetCapabilities()
	c.server, err = serverOf(c.can, c.spec.IdleLimit)
	return err
}

// capabilities are what a worker has said of itself (spec workers 5). One counts when
// it is there and not empty.
type capabilities map[string]string

func (c capabilities) has(name string) bool { return c[name] != "" }

// ask sends a request of the start, or of the life of the process, and waits for its
// answer: by its kind, since what workers write in request_id differs (spec workers
// 2.3).
func (c *conn) ask(kind string, m *message) (*message, error) {
	box := c.await(kind)
	defer c.forget(kind)
	c.tell(m)
	return c.answer(box)
}

// await has the answers of a kind kept.
func (c *conn) await(kind string) *process.Inbox[*message] {
	box := &process.Inbox[*message]{}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		box.End(c.err)
	}
	c.answers[kind] = box
	return box
}

func (c *conn) forget(kind string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.answers, kind)
}

// answer waits for what comes into a box, for as long as a start may take.
func (c *conn) answer(box *process.Inbox[*message]) (*message, error) {
	limit := time.AfterFunc(c.spec.InitTimeout, func() { //clock:outside a worker that starts
		box.End(fmt.Errorf("it has not answered within %v", c.spec.InitTimeout))
	})
	defer limit.Stop()
	return box.Next()
}

// tell sends a message. It does not wait.
func (c *conn) tell(m *message) {
	if m.RequestId == "" {
		m.RequestId = c.request
	}
	c.out.Put(m)
}

// send passes on what there is to say, until the stream ends.
func (c *conn) send(s stream) {
	defer c.running.Done()
	for {
		m, err := c.out.Next()
		if err != nil {
			return
		}
		if err := s.Send(m, c.out.Waiting()); err != nil {
			c.broken(err)
			return
		}
	}
}

// receive brings what the worker says to who waits for it, until the stream ends.
func (c *conn) receive(s stream) {
	defer c.running.Done()
	for {
		m, err := s.Recv()
		if err != nil {
			c.broken(err)
			return
		}
		c.distribute(m)
	}
}

// errConnection is wrapped by the failure of what a worker without a connection is asked.
var errConnection = errors.New("its connection ended")

// broken ends what waits for the worker, and what will.
func (c *conn) broken(err error) {
	if c.seat == nil {
		c.out.End(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = fmt.Errorf("%w: %w", errConnection, err)
	}
	for _, box := range c.answers {
		box.End(c.err)
	}
	for _, call := range c.calls {
		call.box.End(c.err)
	}
}

// holders are the calls that run and may settle.
func (c *conn) holders() (list []holder) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, call := range c.calls {
		if a := call.req.Actions; a != nil {
			list = append(list, holder{call.w.clk, a})
		}
	}
	return list
}

func (c *conn) distribute(m *message) {
	c.mu.Lock()
	var box *process.Inbox[*message]
	switch content := m.GetContent().(type) {
	case *workerpb.StreamingMessage_InvocationResponse:
		box = c.calls[content.InvocationResponse.GetInvocationId()].inbox()
	case *workerpb.StreamingMessage_RpcLog:
		box = c.calls[content.RpcLog.GetInvocationId()].inbox()
		if box == nil || content.RpcLog.GetLogCategory() != workerpb.RpcLog_User {
			c.mu.Unlock()
			c.chatter(content.RpcLog)
			return
		}
	case *workerpb.StreamingMessage_WorkerInitResponse:
		box = c.answers["init"]
	case *workerpb.StreamingMessage_FunctionMetadataResponse:
		box = c.answers["functions"]
	case *workerpb.StreamingMessage_WorkerStatusResponse:
		box = c.answers[statusOf(m)]
	case *workerpb.StreamingMessage_FunctionLoadResponse:
		box = c.answers["load"]
	case *workerpb.StreamingMessage_FunctionLoadResponseCollection:
		box = c.answers["load"]
	}
	c.mu.Unlock()
	if box != nil {
		box.Put(m)
	}
}

// chatter passes on what belongs to no invocation. Of the worker's own lines those
// count that warn: some workers write one for each invocation (spec workers 8).
func (c *conn) chatter(l *workerpb.RpcLog) {
	switch l.GetLogCategory() {
	case workerpb.RpcLog_CustomMetric:
		return
	case workerpb.RpcLog_System:
		if l.GetLevel() < workerpb.RpcLog_Warning {
			return
		}
		if l.GetLevel() == workerpb.RpcLog_Error || l.GetLevel() == workerpb.RpcLog_Critical {
			c.mu.Lock()
			c.indexingError = logOf(l).Message
			c.mu.Unlock()
		}
	}
	to := c.spec.Log
	if l.GetLogCategory() == workerpb.RpcLog_System && c.spec.Notice != nil {
		to = c.spec.Notice
	}
	if to != nil && l.GetLevel() < workerpb.RpcLog_None {
		to(folded(l))
	}
}

// logOf is a line as the host has it.
func logOf(l *workerpb.RpcLog) call.Log {
	out := call.Log{Level: min(call.Level(l.GetLevel()), call.Critical), Message: l.GetMessage()}
	if e := l.GetException(); e != nil && !strings.Contains(out.Message, e.GetMessage()) {
		out.Message = strings.TrimPrefix(out.Message+": "+e.GetMessage(), ": ")
	}
	return out
}

// noMessage is the message of a failure without one, as of a plain "throw new Error()".
func noMessage(typ string) string {
	if typ == "" {
		return "the worker reports a failure and says no more"
	}
	return typ + " without a message"
}

// failureOf is the failure that a result stands for, nil for a success. A result that
// is missing is a failure (spec workers 2.3).
func failureOf(r *workerpb.StatusResult) *call.Error {
	if r.GetStatus() == workerpb.StatusResult_Success {
		return nil
	}
	e := r.GetException()
	out := &call.Error{Type: e.GetType(), Message: e.GetMessage(), Stack: e.GetStackTrace()}
	if out.Message == "" {
		out.Message = r.GetResult()
	}
	if out.Message == "" {
		out.Message = noMessage(out.Type)
	}
	return out
}

// Child implements process.Conn.
func (c *conn) Child() *process.Child { return c.child }

// HangUp implements process.Conn.
func (c *conn) HangUp() {
	c.broken(errors.New("the host hung up"))
	c.end.close()
	c.server.Close()
}

// Wait implements process.Conn.
func (c *conn) Wait() { c.running.Wait() } //clock:outside they end with the stream

// terminateGrace is what a worker is told to have left (spec workers 4.4).
const terminateGrace = 5 * time.Second

// Bye implements process.Conn. A worker that does not know the message is killed at once,
// one that others have started is only left.
func (c *conn) Bye() {
	if c.seat != nil || !c.can.has("HandlesWorkerTerminateMessage") {
		return
	}
	c.tell(&message{Content: &workerpb.StreamingMessage_WorkerTerminate{WorkerTerminate: &workerpb.WorkerTerminate{GracePeriod: durationpb.New(terminateGrace)}}})
	<-c.child.Done() //clock:outside who calls kills it after the grace
}

// Release implements process.Conn.
func (c *conn) Release() {
	c.end.close()
	c.server.Close()
}

// health asks a worker that can be asked whether it is well.
func (c *conn) health(ctx context.Context) error {
	if !c.can.has("WorkerStatus") {
		return nil
	}
	m := &message{
		RequestId: rand.Text(), Content: &workerpb.StreamingMessage_WorkerStatusRequest{WorkerStatusRequest: &workerpb.WorkerStatusRequest{}},
	}
	box := c.await(statusOf(m))
	defer c.forget(statusOf(m))
	defer context.AfterFunc(ctx, func() { box.End(ctx.Err()) })() //clock:outside a call without user code
	c.tell(m)
	_, err := box.Next()
	return err
}

// statusOf names the answers to one question for the status: of these alone a worker says
// what they answer (spec workers 2.3).
func statusOf(m *message) string { return "status " + m.GetRequestId() }
