// Package mcp offers a running host to AI assistants, as tools of the Model Context
// Protocol over standard input and output. It knows no tool and finds no host: command
// mcp gives it both.
//
// Read [Tool] first, then [Operation], which makes the arguments of a tool from an
// operation of the host's API: their names, types and limits from its struct, their
// descriptions from the OpenAPI description. [Server] serves the tools: it refuses what a
// tool does not take, asks for a confirmation of what destroys, and keeps answers short.
package mcp
