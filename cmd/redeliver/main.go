// Command redeliver runs an Azure Functions app on this machine: every delivery
// and every attempt visible, retries, redelivery and poison queues as on the
// platform, and a clock that can skip the waiting.
//
// "redeliver help" is the manual; testdata/*.txtar are the specification of the
// command line. main.go and root.go are the shell, and the commands for an app (check, test,
// doctor) stand beside them, one a file. Below are rooms: verbs has the commands for a running
// host, run is "redeliver start", scaffold the new apps and functions, mcp the tools of an
// assistant, and below these show is what is printed of a host, remote how a command finds a
// running host and asks it, cli what all commands share towards a person.
//
// # Exit codes
//
//	0    success, also after Ctrl+C and after warnings
//	1    an error: the app has errors, the host cannot start (another process has
//	     the app, its data or a port; the data is damaged), a call failed, the
//	     standard output could not be written
//	3    the command line was not understood
//	130  a second Ctrl+C ended the host at once, or Ctrl+C a test, a download or a save,
//	     which leave no part of a file behind
package main

import (
	"context"
	"errors"
	"os"
	_ "time/tzdata" // time zones of schedules, also where the system has none

	_ "golang.org/x/crypto/x509roots/fallback" // for services in the cloud, where the system has no certificates, as in the image

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/host/ops/all"
)

func main() {
	os.Exit(execute(context.Background(), os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}

// execute is the whole program, without the process around it.
func execute(ctx context.Context, args []string, std cli.Streams) int {
	out := &cli.Output{Writer: cli.NewOutlet(std.Out)}
	std.Out, std.Err = out, cli.NewOutlet(std.Err)
	root := newRoot(std, all.Table())
	root.SetArgs(gatherFunctions(gatherWorkerArguments(hostStart(args))))
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		err = out.Failure()
	}
	if err == nil {
		return cli.ExitOK
	}
	var code cli.ExitCode
	if errors.As(err, &code) {
		return int(code) // everything has been said
	}
	console := cli.NewConsole(std, false)
	console.Naming, _ = cmd.Flags().GetBool("verbose") // false where there is no such flag
	console.Fail(err)
	var usage *cli.UsageError
	if errors.As(err, &usage) {
		return cli.ExitUsage
	}
	return cli.ExitFailure
}
