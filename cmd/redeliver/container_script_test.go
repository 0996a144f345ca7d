package main

import (
	"net"
	"regexp"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/redeliver/redeliver/cmd/redeliver/remote"
)

// served-at NAME ADDRESS wants every port that a process has said to be open at another
// address of this machine, and "! served-at" wants none there.
func servedAt(ts *testscript.TestScript, neg bool, args []string) {
	text, _ := named(ts, args[0]).output()
	ports := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?:127\.0\.0\.1|localhost):(\d+)`).FindAllStringSubmatch(text, -1) {
		ports[m[1]] = true
	}
	if len(ports) < 5 {
		ts.Fatalf("%d ports in the output, want those of HTTP, blobs, queues, Service Bus and Event Grid", len(ports))
	}
	for port := range ports {
		conn, err := net.DialTimeout("tcp", net.JoinHostPort(args[1], port), patience)
		if err == nil {
			conn.Close()
		}
		if open := err == nil; open == neg {
			ts.Fatalf("port %s is open at %s: %v, %v", port, args[1], open, err)
		}
	}
}

// key-new NAME puts the master key that a process printed into the variable of clients.
func keyNew(ts *testscript.TestScript, neg bool, args []string) {
	text, _ := named(ts, args[0]).output()
	key := regexp.MustCompile(`master key (\S{40,}) \(shown this once\)`).FindStringSubmatch(text)
	if key == nil {
		ts.Fatalf("no key in %s", text)
	}
	ts.Setenv(remote.MasterKeyVariable, key[1])
}

// passes SPAN lets real time pass, for what is counted by the time between two signals.
func passes(ts *testscript.TestScript, neg bool, args []string) {
	span, err := time.ParseDuration(args[0])
	ts.Check(err)
	time.Sleep(span)
}
