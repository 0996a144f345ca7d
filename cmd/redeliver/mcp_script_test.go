package main

import (
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v5"
)

// assistant DIR [FLAG...] TOOL [ARGUMENTS] calls a tool of "redeliver mcp", started in DIR by
// a client of the protocol's library. Its text becomes the standard output, or the standard
// error when the call has failed; the JSON of the answer follows the text. The tool "tools"
// lists the tools.
func askAssistant(ts *testscript.TestScript, neg bool, args []string) {
	command := []string{"mcp"}
	dir, args := args[0], args[1:]
	for strings.HasPrefix(args[0], "-") {
		command, args = append(command, args[0]), args[1:]
	}
	cmd := exec.Command("redeliver", command...)
	cmd.Dir, cmd.Env = ts.MkAbs(dir), ts.Value(processesKey{}).(*processes).env
	cmd.Stderr = ts.Stderr()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "script"}, nil).Connect(ctx, &mcp.CommandTransport{Command: cmd, TerminateDuration: patience}, nil)
	ts.Check(err)
	if args[0] == "tools" {
		list, err := session.ListTools(ctx, nil)
		ts.Check(err)
		for _, tool := range list.Tools {
			text, err := json.Marshal(tool)
			ts.Check(err)
			_, _ = ts.Stdout().Write(append(text, '\n'))
		}
	} else {
		params := &mcp.CallToolParams{Name: args[0]}
		if len(args) > 1 {
			params.Arguments = json.RawMessage(args[1])
		}
		out, err := session.CallTool(ctx, params)
		ts.Check(err)
		if out.IsError != neg {
			ts.Fatalf("%s: %s", strings.Join(args, " "), out.Content[0].(*mcp.TextContent).Text)
		}
		to := ts.Stdout()
		if neg {
			to = ts.Stderr()
		}
		_, _ = to.Write([]byte(out.Content[0].(*mcp.TextContent).Text + "\n"))
		if out.StructuredContent != nil {
			text, err := json.Marshal(out.StructuredContent)
			ts.Check(err)
			_, _ = to.Write(append(text, '\n'))
		}
		if !out.IsError {
			list, err := session.ListTools(ctx, nil)
			ts.Check(err)
			for _, tool := range list.Tools {
				if tool.Name == args[0] && tool.OutputSchema != nil {
					ts.Check(fits(tool.OutputSchema, out.StructuredContent))
				}
			}
		}
	}
	began := time.Now()
	if err := session.Close(); err != nil { // the input ends, and with it the process
		ts.Fatalf("the server has not ended well after %v: %v", time.Since(began), err)
	}
}

// fits reports why a value is not what a JSON Schema wants.
func fits(schema, value any) error {
	text, err := json.Marshal(schema)
	if err != nil {
		return err
	}
	compiled, err := jsonschema.CompileString("output.json", string(text))
	if err != nil {
		return err
	}
	if value == nil {
		return errors.New("a tool with a schema of answers has told none")
	}
	return compiled.Validate(value)
}
