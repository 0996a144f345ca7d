package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/redeliver/redeliver/host/ops"
)

// A Server serves tools to one assistant.
type Server struct {
	Version      string
	Instructions string // for the assistant, beside the tools
	Tools        []Tool
	Failure      func(err error) Refusal // an error of a tool as an assistant reads it; nil: as it is
	Log          *slog.Logger            // nil: nothing is logged

	calls sync.WaitGroup
}

// Serve serves until in ends, out cannot be written, or ctx ends. Calls that still run then
// have ended when it returns.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	lines := newLines(in, out, s.logger())
	return s.Run(ctx, &sdk.IOTransport{Reader: lines, Writer: lines, MaxLineLength: -1})
}

// Run serves over a transport until it ends, or ctx.
func (s *Server) Run(ctx context.Context, over sdk.Transport) error {
	ctx, cancel := context.WithCancel(ctx)
	defer s.calls.Wait()
	defer cancel()
	log := s.logger()
	if !log.Enabled(ctx, slog.LevelDebug) { // the library takes an end that was asked for for an error
		log = slog.New(slog.DiscardHandler)
	}
	server := sdk.NewServer(&sdk.Implementation{Name: "redeliver", Title: "Redeliver", Version: s.Version},
		&sdk.ServerOptions{Instructions: s.Instructions, Logger: log, Capabilities: &sdk.ServerCapabilities{}})
	for i := range s.Tools {
		t := &s.Tools[i]
		server.AddTool(t.declared(), func(asked context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			s.calls.Add(1)
			defer s.calls.Done()
			asked, stop := context.WithCancel(asked)
			defer stop()
			defer context.AfterFunc(ctx, stop)() // the end of the connection does not end the calls by itself
			return s.carryOut(asked, t, r.Params.Arguments), nil
		})
	}
	server.AddReceivingMiddleware(s.knownTool)
	err := server.Run(ctx, over)
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func (s *Server) logger() *slog.Logger {
	if s.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return s.Log
}

// declared is a tool as the protocol lists it.
func (t *Tool) declared() *sdk.Tool {
	effect, no := t.effect(), false
	destroys := effect == Destroys
	tool := &sdk.Tool{
		Name: t.Name, Title: t.Title, Description: t.describe(), InputSchema: t.schema(),
		Annotations: &sdk.ToolAnnotations{Title: t.Title, ReadOnlyHint: effect == Reads, DestructiveHint: &destroys, OpenWorldHint: &no},
	}
	if output := t.output(); output != nil { // in the interface a nil map is something
		tool.OutputSchema = output
	}
	return tool
}

// knownTool refuses a call of a tool that is not there, with the one that was meant.
func (s *Server) knownTool(next sdk.MethodHandler) sdk.MethodHandler {
	names := make([]string, len(s.Tools))
	for i := range s.Tools {
		names[i] = s.Tools[i].Name
	}
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		if call, ok := r.(*sdk.CallToolRequest); ok && call.Params != nil && !slices.Contains(names, call.Params.Name) {
			return failed(&Refusal{Text: fmt.Sprintf("there is no tool %q: want %s", call.Params.Name, choice(names)), Hint: meant(call.Params.Name, names)}), nil
		}
		return next(ctx, method, r)
	}
}

// carryOut is one call.
func (s *Server) carryOut(ctx context.Context, t *Tool, arguments json.RawMessage) *sdk.CallToolResult {
	way, given, err := t.call(arguments)
	if err != nil {
		return failed(s.refusal(err))
	}
	s.logger().Debug("call", "tool", t.Name, "way", way.Name)
	answer, err := way.Do(ctx, given)
	if ctx.Err() != nil {
		return failed(&Refusal{Text: "the call was cancelled"})
	}
	if err != nil {
		return failed(s.refusal(err))
	}
	return told(answer)
}

// told is an answer as the protocol has it.
func told(answer Answer) *sdk.CallToolResult {
	out := &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: cutLines(answer.Text)}}}
	if answer.Data == nil {
		return out
	}
	data, err := json.Marshal(answer.Data)
	switch {
	case err != nil:
		return failed(&Refusal{Text: err.Error()})
	case len(data) > MaxAnswer:
		data, _ = json.Marshal(map[string]string{omitted: fmt.Sprintf("the answer has %d bytes of JSON, which is more than %d: ask for less", len(data), MaxAnswer)})
	}
	out.StructuredContent = json.RawMessage(data)
	return out
}

// cutLines is a text of at most MaxAnswer bytes, of whole lines if it has some.
func cutLines(text string) string {
	if len(text) <= MaxAnswer {
		return text
	}
	end := strings.LastIndexByte(text[:MaxAnswer], '\n') + 1
	if end == 0 {
		return cut(text, MaxAnswer)
	}
	return fmt.Sprintf("%s... %d more bytes are not shown: ask for less\n", text[:end], len(text)-end)
}

// refusal is an error with what to do about it.
func (s *Server) refusal(err error) *Refusal {
	if ours, ok := errors.AsType[*Refusal](err); ok {
		return ours
	}
	if hosts, ok := errors.AsType[*ops.Error](err); ok {
		return &Refusal{hosts.Text, hosts.Hint}
	}
	if s.Failure != nil {
		r := s.Failure(err)
		return &r
	}
	return &Refusal{Text: err.Error()}
}

// failed is a refusal as an assistant reads it.
func failed(r *Refusal) *sdk.CallToolResult {
	text := "error: " + r.Text
	if r.Hint != "" {
		text += "\nhint: " + r.Hint
	}
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: cut(text, MaxAnswer)}}}
}
