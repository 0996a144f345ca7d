package sidecar

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/clock"
	pb "github.com/redeliver/redeliver/host/emulator/sidecar/sidecarpb"
	"github.com/redeliver/redeliver/host/listen"
)

// Options of a Server. All are needed.
type Options struct {
	Clock clock.Clock

	// Hub returns a task hub by its name; "" is the app's own. Nil for a hub: there is none.
	Hub func(name string) durable.Hub

	// Token makes a context of the clock that ends with ctx or with the host.
	Token func(ctx context.Context) (token context.Context, release func())
}

// maxMessage is the largest message, in bytes.
const maxMessage = 1 << 30

// Server serves the clients of one host.
type Server struct {
	pb.UnimplementedTaskHubSidecarServiceServer
	opts    Options
	grpc    *grpc.Server
	port    int
	serving sync.WaitGroup //clock:outside the server
}

// Open listens at a free port of 127.0.0.1, and at the same port of ::1 where it is free, for
// clients that ask for localhost. The error is a *listen.PortError.
func Open(opts *Options) (*Server, error) {
	l, err := listen.Port{Service: "gRPC of Durable Functions"}.Open()
	if err != nil {
		return nil, err
	}
	s := &Server{opts: *opts, port: l.Addr().(*net.TCPAddr).Port}
	s.grpc = grpc.NewServer(grpc.WaitForHandlers(true), grpc.MaxRecvMsgSize(maxMessage), grpc.MaxSendMsgSize(maxMessage),
		grpc.UnaryInterceptor(guardUnary), grpc.StreamInterceptor(guardStream))
	pb.RegisterTaskHubSidecarServiceServer(s.grpc, s)
	s.serve(l)
	if six, err := (listen.Port{Service: "gRPC of Durable Functions", Address: "::1", Number: s.port}).Open(); err == nil {
		s.serve(six)
	}
	return s, nil
}

func (s *Server) serve(l net.Listener) {
	s.serving.Add(1)
	go func() { //clock:outside waited for by Close
		defer s.serving.Done()
		_ = s.grpc.Serve(l) // it ends by Close
	}()
}

// Port is where the server listens.
func (s *Server) Port() int { return s.port }

// Close ends the calls and waits for them.
func (s *Server) Close() {
	s.grpc.Stop()
	s.serving.Wait() //clock:outside ends with the server
}

// guard refuses calls that do not name this machine, or that come from a page.
func guard(ctx context.Context) error {
	r := &http.Request{Header: http.Header{}}
	if md, ok := metadata.FromIncomingContext(ctx); ok {
		for _, host := range md.Get(":authority") {
			r.Host = host
		}
		for _, origin := range md.Get("origin") {
			r.Header.Add("Origin", origin)
		}
	}
	if err := (*listen.Guard)(nil).Check(r); err != nil {
		return status.Error(codes.PermissionDenied, err.Error())
	}
	return nil
}

func guardUnary(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	if err := guard(ctx); err != nil {
		return nil, err
	}
	return next(ctx, req)
}

func guardStream(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	if err := guard(stream.Context()); err != nil {
		return err
	}
	return next(srv, stream)
}

// hubHeader names the task hub of a call.
const hubHeader = "durable-taskhub"

// ask runs f inside the clock, with the hub that a call means. Its errors become those of
// gRPC; one that has a code of gRPC stays.
func ask[T any](s *Server, ctx context.Context, f func(ctx context.Context, hub durable.Hub) (T, error)) (out T, err error) {
	name := ""
	if md, ok := metadata.FromIncomingContext(ctx); ok {
		for _, value := range md.Get(hubHeader) {
			name = value
		}
	}
	clock.Enter(ctx, s.opts.Clock, "gRPC of Durable Functions", func() {
		token, release := s.opts.Token(ctx)
		defer release()
		var hub durable.Hub
		if hub, err = s.hub(name); err == nil {
			out, err = f(token, hub)
		}
		if err != nil {
			err = errorOf(ctx, err)
		}
	})
	return out, err
}

// hub returns a task hub by its name.
func (s *Server) hub(name string) (durable.Hub, error) {
	hub := s.opts.Hub(name)
	if hub == nil {
		return nil, status.Error(codes.Unavailable, "no app with Durable Functions runs")
	}
	return hub, nil
}

// by is who asks, for the journal.
const by = "rpc"

// pollStep is how far the clock may go on for each look at an unfinished instance (spec
// durable 11.4, DF-9).
const pollStep = time.Second
