package functions

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/redeliver/redeliver/functions/call"
)

// Main serves the functions of a to the host that started this process, and
// returns when the host ends it. Call it last in func main.
//
// Started by hand the process says what to do instead, and exits with 1. Write
// nothing to the standard output before Main: the first line belongs to the
// host. Afterwards both outputs become log lines. The process ignores SIGINT, so
// that Ctrl+C in a terminal reaches the host alone, and ends when the host does,
// however that came about.
//
// Main makes slog's default logger send lines to the host where their context is
// a handler's; see [LogHandler].
func Main(a *App) {
	if os.Getenv(call.CookieKey) != call.CookieValue {
		fmt.Fprintf(os.Stderr, "%s holds the functions of a Redeliver app and is started by its host.\n"+
			"Go to the app's folder and type: redeliver start\n", filepath.Base(os.Args[0]))
		os.Exit(1)
	}
	watchParent()
	stderr := os.Stderr // go-plugin replaces it; this one also survives a crash
	slog.SetDefault(slog.New(LogHandler(slog.NewTextHandler(stderr, nil))))
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig: plugin.HandshakeConfig{
			ProtocolVersion:  call.ProtocolVersion,
			MagicCookieKey:   call.CookieKey,
			MagicCookieValue: call.CookieValue,
		},
		VersionedPlugins: map[int]plugin.PluginSet{
			call.ProtocolVersion: {call.PluginName: &grpcPlugin{app: a}},
		},
		GRPCServer: func(opts []grpc.ServerOption) *grpc.Server {
			return grpc.NewServer(append(opts,
				grpc.MaxRecvMsgSize(call.MaxMessageSize),
				grpc.MaxSendMsgSize(call.MaxMessageSize))...)
		},
		Logger: hclog.New(&hclog.LoggerOptions{Level: hclog.Warn, Output: stderr, JSONFormat: true}),
	})
}

// sdkVersion is the version of this module as the handler was built with it.
func sdkVersion() string {
	const path = "github.com/redeliver/redeliver"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	if info.Main.Path == path {
		return info.Main.Version
	}
	for _, m := range info.Deps {
		if m.Path == path {
			return m.Version
		}
	}
	return ""
}
