package worker

import (
	"net"
	"strconv"
	"sync/atomic"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

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

// A claim says who gets the stream of a worker, by its first message. The error is a gRPC
// status: the worker is not awaited, or has come already. take is called once; hangUp breaks
// the connection, more than once is no harm.
type claim func(first *message) (take func(s stream, hangUp func()), err error)

var (
	errUninvited = status.Error(codes.InvalidArgument, "the first message must be StartStream, with the worker ID that the host has given")
	errTaken     = status.Error(codes.AlreadyExists, "the worker has a stream already")
)

// invited awaits the worker of one ID, once.
type invited struct {
	id    string
	found chan stream //clock:outside a process dials
	taken atomic.Bool
}

func newInvited(id string) *invited {
	return &invited{id: id, found: make(chan stream, 1)} //clock:outside a process dials
}

func (i *invited) claim(first *message) (func(stream, func()), error) {
	if start := first.GetStartStream(); start == nil || start.GetWorkerId() != i.id {
		return nil, errUninvited
	}
	if i.taken.Swap(true) {
		return nil, errTaken
	}
	return func(s stream, _ func()) { i.found <- s }, nil //clock:outside a process dials
}
