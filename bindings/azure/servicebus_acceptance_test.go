package azure_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
)

// TestServiceBusAcceptance: azservicebus sends a message to a queue whose function
// fails always, and reads it from the dead-letter queue after 10 deliveries of 5
// attempts each (spec messaging 0.1).
func TestServiceBusAcceptance(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(buildCommand(t), "start", filepath.Join("testdata", "interop", "busapp"), "--in-memory",
		"--port", "0", "--blob-port", "0", "--queue-port", "0", "--servicebus-port", "0", "--servicebus-admin-port", "0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var drained sync.WaitGroup
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		drained.Wait()
		if err := cmd.Wait(); err != nil {
			t.Errorf("redeliver start: %v", err)
		}
	})
	var url, connection string
	var said []string
	for lines := bufio.NewScanner(out); (url == "" || connection == "") && lines.Scan(); {
		said = append(said, lines.Text())
		switch name, value, _ := strings.Cut(strings.TrimSpace(lines.Text()), " "); name {
		case "functions":
			url = strings.TrimSpace(value)
		case "servicebus":
			connection = strings.TrimSpace(value)
		}
	}
	if url == "" || connection == "" {
		t.Fatalf("redeliver start has said no more than:\n%s", strings.Join(said, "\n"))
	}
	drained.Go(func() { io.Copy(io.Discard, out) })

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client, err := azservicebus.NewClientFromConnectionString(connection, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close(ctx)
	sender, err := client.NewSender("orders", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := sender.SendMessage(ctx, &azservicebus.Message{Body: []byte("a"), MessageID: new("m")}, nil); err != nil {
		t.Fatal(err)
	}
	dead, err := client.NewReceiverForQueue("orders", &azservicebus.ReceiverOptions{SubQueue: azservicebus.SubQueueDeadLetter})
	if err != nil {
		t.Fatal(err)
	}
	list, err := dead.ReceiveMessages(ctx, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := list[0]
	if m.MessageID != "m" || m.DeadLetterReason == nil || *m.DeadLetterReason != "MaxDeliveryCountExceeded" || m.DeliveryCount != 11 {
		t.Errorf("dead-lettered: %q, reason %v, DeliveryCount %d, want m, MaxDeliveryCountExceeded, 11", m.MessageID, m.DeadLetterReason, m.DeliveryCount)
	}
	if err := dead.CompleteMessage(ctx, m, nil); err != nil {
		t.Error(err)
	}
	if n := attempts(t, url); n != 50 {
		t.Errorf("%d attempts, want 50", n)
	}
}

// attempts counts the attempts in the journal.
func attempts(t *testing.T, url string) (n int) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{}, Timeout: time.Minute}
	defer client.CloseIdleConnections()
	resp, err := client.Get(url + "/admin/redeliver/journal")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		var record struct{ Kind string }
		if err := json.Unmarshal(lines.Bytes(), &record); err != nil {
			t.Fatalf("journal: %v in %q", err, lines.Text())
		}
		if record.Kind == "attempt_started" {
			n++
		}
	}
	return n
}
