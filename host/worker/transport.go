package worker

import (
	"net"
	"strconv"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/worker/workerpb"
)

// message is what travels.
type message = workerpb.StreamingMessage

// stream carries messages to and from one worker. One goroutine sends and one receives.
type stream interface {
	// Send sends a message. With more another one follows at once, so that it may leave
	// with that.
	Send(m *message, more bool) error
	Recv() (*message, error)
}

// endpoint is the address for one worker process alone.
type endpoint interface {
	// addr is the address to dial.
	addr() *net.TCPAddr
	// accepted gives the stream of the worker, once it has said who it is.
	accepted() <-chan stream //clock:outside a process dials
	// close ends the endpoint and the stream. More than once is no harm.
	close()
}

// open opens an endpoint for a worker of that ID. Beside its stream it serves
// settlement.
func (c Transport) open(id string, beside *settlement) (endpoint, error) {
	if c == Lines {
		return openLines(id, beside)
	}
	return openGRPC(id, beside)
}

// arguments are what tells the worker where to dial (spec workers 3.1). Official
// workers read one group or the other.
func arguments(to *net.TCPAddr, id, request string) []string {
	host, port := to.IP.String(), strconv.Itoa(to.Port)
	size := strconv.Itoa(call.MaxMessageSize)
	return []string{
		"--host", host, "--port", port, "--workerId", id, "--requestId", request, "--grpcMaxMessageLength", size,
		"--functions-uri", "http://" + net.JoinHostPort(host, port) + "/", "--functions-worker-id", id,
		"--functions-request-id", request, "--functions-grpc-max-message-length", size,
	}
}

// isStart reports whether a first message comes from the worker of that ID.
func isStart(m *message, id string) bool {
	start := m.GetStartStream()
	return start != nil && start.GetWorkerId() == id
}
