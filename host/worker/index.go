package worker

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/process"
	"github.com/redeliver/redeliver/host/worker/workerpb"
	"github.com/redeliver/redeliver/retrycontext"
)

// indexed is the answer of index.
type indexed struct {
	list   []call.Declaration
	inCode bool
	err    error
}

// index asks the worker, once, for the functions that the app declares in code. None, and
// no error: the worker leaves that to the files (spec workers 4.2).
func (c *conn) index() (list []call.Declaration, inCode bool, err error) {
	c.mu.Lock()
	known := c.indexed
	c.mu.Unlock()
	if known == nil {
		list, inCode, err = c.readIndex()
		known = &indexed{list, inCode, err}
		c.mu.Lock()
		c.indexed = known
		c.mu.Unlock()
	}
	return slices.Clone(known.list), known.inCode, known.err
}

func (c *conn) readIndex() (list []call.Declaration, inCode bool, err error) {
	var found []*workerpb.RpcFunctionMetadata
	switch {
	case c.spec.Indexing:
		found, inCode, err = c.askForFunctions()
	case c.spec.Metadata != "":
		found, err = readMetadata(c.spec.Metadata)
		inCode = true
	}
	if err != nil || !inCode {
		return nil, false, err
	}
	declared := map[string]*workerpb.RpcFunctionMetadata{}
	for _, f := range found {
		d, err := declarationOf(f)
		if err != nil {
			return nil, false, err
		}
		list = append(list, d)
		declared[strings.ToLower(d.Name)] = f
	}
	c.mu.Lock()
	c.declared = declared
	c.mu.Unlock()
	return list, true, nil
}

// askForFunctions asks the worker. Not in code: it leaves that to the files.
func (c *conn) askForFunctions() (found []*workerpb.RpcFunctionMetadata, inCode bool, err error) {
	answer, err := c.ask("functions", &message{Content: &workerpb.StreamingMessage_FunctionsMetadataRequest{
		FunctionsMetadataRequest: &workerpb.FunctionsMetadataRequest{FunctionAppDirectory: c.spec.App},
	}})
	if err != nil {
		return nil, false, err
	}
	r := answer.GetFunctionMetadataResponse()
	if failure := failureOf(r.GetResult()); failure != nil {
		return nil, false, errors.New(failure.Message + stackOf(failure))
	}
	if r.GetUseDefaultMetadataIndexing() {
		return nil, false, nil
	}
	c.lostPolicies(r.GetFunctionMetadataResults())
	return r.GetFunctionMetadataResults(), true, nil
}

// stackOf is where user code has failed, for a person.
func stackOf(e *call.Error) string {
	if stack := strings.TrimSpace(e.Stack); stack != "" {
		return "\n\t" + strings.ReplaceAll(stack, "\n", "\n\t")
	}
	return ""
}

// declarationOf is a function as the worker declares it.
func declarationOf(f *workerpb.RpcFunctionMetadata) (call.Declaration, error) {
	d := call.Declaration{Name: f.GetName()}
	if failure := f.GetStatus(); failure != nil && failure.GetException() != nil && failure.GetStatus() == workerpb.StatusResult_Failure {
		d.Fault = failure.GetException().GetMessage()
	}
	for _, raw := range f.GetRawBindings() {
		binding, err := plainBinding(raw)
		if err != nil {
			return d, fmt.Errorf("function %q: the worker declares a binding that is not a JSON object: %w", d.Name, err)
		}
		d.Bindings = append(d.Bindings, binding)
	}
	// The trigger first, as the host has it.
	slices.SortStableFunc(d.Bindings, func(a, b json.RawMessage) int { return triggerLast(b) - triggerLast(a) })
	d.Retry = retryOf(f.GetRetryOptions())
	return d, nil
}

// triggerLast is 1 for a trigger, 0 for another binding.
func triggerLast(raw json.RawMessage) int {
	var b struct{ Type string }
	if json.Unmarshal(raw, &b) == nil && strings.HasSuffix(strings.ToLower(b.Type), "trigger") {
		return 1
	}
	return 0
}

// plainBinding writes the words of a binding as function.json has them: workers differ
// in their case (spec workers 4.3).
func plainBinding(raw string) (json.RawMessage, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(raw), &members); err != nil {
		return nil, err
	}
	if members == nil {
		return nil, errors.New("it is null")
	}
	changed := false
	for name, value := range members {
		switch strings.ToLower(name) {
		case "direction", "authlevel", "datatype", "cardinality", "accessrights":
			if lower := bytes.ToLower(value); !bytes.Equal(lower, value) {
				members[name], changed = lower, true
			}
		}
	}
	if !changed {
		return json.RawMessage(raw), nil
	}
	return json.Marshal(members)
}

// retryOf is a policy declared in code. A message that is absent is none; the strategy
// of an empty one would be a policy too (spec workers 4.3).
func retryOf(o *workerpb.RpcRetryOptions) *retrycontext.PolicyConfig {
	if o == nil {
		return nil
	}
	count := int(o.GetMaxRetryCount())
	p := &retrycontext.PolicyConfig{MaxRetryCount: &count}
	strategy := "exponentialBackoff"
	if o.GetRetryStrategy() == workerpb.RpcRetryOptions_fixed_delay {
		strategy = "fixedDelay"
		p.DelayInterval = interval(o.GetDelayInterval())
	} else {
		p.MinimumInterval, p.MaximumInterval = interval(o.GetMinimumInterval()), interval(o.GetMaximumInterval())
	}
	p.Strategy = &strategy
	return p
}

// load has the worker load functions of the app, each once for each process: to those that
// another host has loaded before, see Pool, come those that it had not. An error is the end
// of the connection meanwhile.
func (c *conn) load(functions []Function) error {
	c.loading.Lock()
	defer c.loading.Unlock()
	c.mu.Lock()
	first, declared := c.loaded == nil, c.declared
	functions = slices.DeleteFunc(slices.Clone(functions), func(f Function) bool { return c.loaded[strings.ToLower(f.Name)] != nil })
	c.mu.Unlock()
	if !first && len(functions) == 0 {
		return nil
	}
	results := map[string]*loaded{}
	byID := map[string]*loaded{}
	var requests []*workerpb.FunctionLoadRequest
	for _, f := range functions {
		own := declared[strings.ToLower(f.Name)]
		l := &loaded{id: own.GetFunctionId()}
		if l.id == "" {
			l.id = f.Name
		}
		results[strings.ToLower(f.Name)], byID[l.id] = l, l
		requests = append(requests, &workerpb.FunctionLoadRequest{
			FunctionId: l.id, Metadata: c.metadataOf(&f, own, l.id), ManagedDependencyEnabled: c.spec.ManagedDependencies,
		})
	}
	if first {
		c.sayDependencies()
	}
	box := c.await("load")
	defer c.forget("load")
	if c.can.has("SupportsLoadResponseCollection") && len(requests) > 0 {
		c.tell(&message{Content: &workerpb.StreamingMessage_FunctionLoadRequestCollection{
			FunctionLoadRequestCollection: &workerpb.FunctionLoadRequestCollection{FunctionLoadRequests: requests},
		}})
	} else {
		for _, r := range requests {
			c.tell(&message{Content: &workerpb.StreamingMessage_FunctionLoadRequest{FunctionLoadRequest: r}})
		}
	}
	if err := c.takeLoads(box, byID); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if first {
		c.loaded = results
	} else {
		maps.Copy(c.loaded, results)
	}
	return nil
}

// takeLoads waits for the answer to each load.
func (c *conn) takeLoads(box *process.Inbox[*message], byID map[string]*loaded) error {
	for waiting := len(byID); waiting > 0; {
		m, err := c.answer(box)
		if errors.Is(err, errConnection) {
			return err
		}
		if err != nil {
			for _, l := range byID {
				l.err = &call.Error{Message: "the worker has not loaded the function: " + err.Error()}
			}
			return nil
		}
		answers := m.GetFunctionLoadResponseCollection().GetFunctionLoadResponses()
		if one := m.GetFunctionLoadResponse(); one != nil {
			answers = append(answers, one)
		}
		for _, a := range answers {
			l := byID[a.GetFunctionId()]
			if l == nil {
				continue
			}
			delete(byID, a.GetFunctionId())
			waiting--
			l.err = failureOf(a.GetResult())
		}
	}
	return nil
}

// metadataOf is a function as it is loaded. What the worker has declared of it itself goes
// back to it, with all bindings in the map that workers read (spec workers-dotnet-java 1.7).
func (c *conn) metadataOf(f *Function, own *workerpb.RpcFunctionMetadata, id string) *workerpb.RpcFunctionMetadata {
	m := &workerpb.RpcFunctionMetadata{
		Name: f.Name, Directory: f.Directory, ScriptFile: f.ScriptFile, EntryPoint: f.EntryPoint,
		Language: c.spec.Language, FunctionId: id, Bindings: map[string]*workerpb.BindingInfo{}, ManagedDependencyEnabled: c.spec.ManagedDependencies,
	}
	if m.ScriptFile == "" {
		m.Directory, m.ScriptFile, m.EntryPoint, m.Properties = own.GetDirectory(), own.GetScriptFile(), own.GetEntryPoint(), own.GetProperties()
	}
	if m.Directory == "" {
		m.Directory = c.spec.App
	}
	for _, b := range f.Bindings {
		m.Bindings[b.Name] = &workerpb.BindingInfo{Type: b.Type, Direction: b.Direction, DataType: b.DataType}
		m.RawBindings = append(m.RawBindings, string(b.Raw))
	}
	if list := own.GetRawBindings(); len(list) > 0 {
		m.RawBindings = list
	}
	return m
}

// function is what became of the load of a function.
func (c *conn) function(name string) (l *loaded, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l = c.loaded[strings.ToLower(name)]
	return l, c.loaded != nil
}

func interval(d *durationpb.Duration) *time.Duration {
	if d == nil {
		return nil
	}
	v := d.AsDuration()
	return &v
}
