package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/go-amqp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/redeliver/redeliver/functions"
)

// busApp fails for every message without the subject "good". For a message that
// waits two minutes it succeeds too late; one that lingers takes real time.
func busApp() *functions.App {
	app := functions.New()
	app.ServiceBusQueue("ProcessOrder", "orders", func(ctx context.Context, m functions.ServiceBusMessage) error {
		switch m.Subject {
		case "good":
			fmt.Println("AzureWebJobsServiceBus=" + os.Getenv("AzureWebJobsServiceBus"))
			return nil
		case "slow":
			functions.Logger(ctx).Info("waiting", "delivery_count", m.DeliveryCount)
			return functions.Sleep(ctx, 2*time.Minute)
		case "lingers":
			time.Sleep(60 * time.Millisecond) // of real time, as work has it
		case "refused":
			return functions.DeadLetter("not ours", "customer 7", errors.New("unknown customer"))
		}
		return errors.New("payment service unavailable")
	}, functions.FixedDelay(4, 30*time.Second))
	return app
}

// line is the last value that a process has printed for a name in the overview.
func line(ts *testscript.TestScript, process, name string) string {
	text, _ := named(ts, process).output()
	found := regexp.MustCompile(`(?m)^  `+name+` +(\S+)$`).FindAllStringSubmatch(text, -1)
	if len(found) == 0 {
		ts.Fatalf("%s has printed no %q", process, name)
	}
	return found[len(found)-1][1]
}

// bus-send NAME QUEUE BODY SUBJECT [CERT] sends a message with the SDK and the
// connection string that a process has printed; with a certificate to the port for
// TLS, as the SDK for the cloud would.
func busSend(ts *testscript.TestScript, neg bool, args []string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if len(args) > 4 {
		conn, err := amqp.Dial(ctx, line(ts, args[0], "sb tls"), &amqp.ConnOptions{TLSConfig: trusting(ts, args[4])})
		ts.Check(err)
		defer conn.Close()
		session, err := conn.NewSession(ctx, nil)
		ts.Check(err)
		sender, err := session.NewSender(ctx, args[1], nil)
		ts.Check(err)
		ts.Check(sender.Send(ctx, amqp.NewMessage([]byte(args[2])), nil))
		return
	}
	client, err := azservicebus.NewClientFromConnectionString(line(ts, args[0], "servicebus"), nil)
	ts.Check(err)
	defer client.Close(ctx)
	sender, err := client.NewSender(args[1], nil)
	ts.Check(err)
	ts.Check(sender.SendMessage(ctx, &azservicebus.Message{Body: []byte(args[2]), Subject: &args[3]}, nil))
}

// bus-receive NAME SOURCE takes the next message of a queue, or of a dead-letter
// queue, with the SDK, puts its body, its delivery count and the reason on the
// standard output, and completes it.
func busReceive(ts *testscript.TestScript, neg bool, args []string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	client, err := azservicebus.NewClientFromConnectionString(line(ts, args[0], "servicebus"), nil)
	ts.Check(err)
	defer client.Close(ctx)
	opts := &azservicebus.ReceiverOptions{}
	queue, dead := strings.CutSuffix(args[1], "/$DeadLetterQueue")
	if dead {
		opts.SubQueue = azservicebus.SubQueueDeadLetter
	}
	receiver, err := client.NewReceiverForQueue(queue, opts)
	ts.Check(err)
	messages, err := receiver.ReceiveMessages(ctx, 1, nil)
	ts.Check(err)
	for _, m := range messages {
		fmt.Fprintf(ts.Stdout(), "%s delivery_count=%d", m.Body, m.DeliveryCount)
		if m.DeadLetterReason != nil {
			fmt.Fprintf(ts.Stdout(), " %s", *m.DeadLetterReason)
		}
		fmt.Fprintln(ts.Stdout())
		ts.Check(receiver.CompleteMessage(ctx, m, nil))
	}
}

func trusting(ts *testscript.TestScript, file string) *tls.Config {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(ts.ReadFile(file))) {
		ts.Fatalf("%s holds no certificate", file)
	}
	return &tls.Config{RootCAs: roots}
}

// bus-admin NAME STATUS PATH [CERT] asks the administration server that a process has
// printed, with a certificate over TLS, and puts the answer on the standard output.
func busAdmin(ts *testscript.TestScript, neg bool, args []string) {
	at, _, _ := strings.Cut(strings.TrimPrefix(line(ts, args[0], "sb admin"), "Endpoint=sb://"), ";")
	transport := &http.Transport{DisableKeepAlives: true}
	scheme := "http://"
	if len(args) > 3 {
		scheme, transport.TLSClientConfig = "https://", trusting(ts, args[3])
	}
	client := &http.Client{Transport: transport, Timeout: patience}
	resp, err := client.Get(scheme + at + args[2])
	ts.Check(err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	ts.Check(err)
	fmt.Fprintln(ts.Stdout(), string(body))
	if got := fmt.Sprint(resp.StatusCode); got != args[1] {
		ts.Fatalf("GET %s answered %s: %s, want %s", args[2], got, body, args[1])
	}
}
