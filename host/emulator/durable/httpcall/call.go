// Package httpcall carries out the request of an orchestrator's callHttp, once: what is sent,
// and what the orchestrator is told of the answer or of the failure (spec durable 6.5).
//
// Read call.go first, then request.go for what is sent, answer.go for what comes back, and
// spelling.go for the names of headers. When a request is due, polled or tried again is the
// business of packages durable and plan. Left out: tokens of managed identities, which are
// refused, and cookies, which are not kept.
package httpcall

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"github.com/redeliver/redeliver/bindings/durable"
)

// Limit is the time of a request that names none, in real time.
const Limit = 100 * time.Second

// MaxContent is the most bytes of an answer's content.
const MaxContent = 16 << 20

// redirections is how many are followed.
const redirections = 50

// Failure is why there is no answer, as the end of the task has it: Reason and Details, or
// Failure.
type Failure struct {
	Reason, Details string
	Failure         *durable.Failure
}

// Error implements error.
func (f *Failure) Error() string { return f.Reason }

// Do sends a request, the JSON of a callHttp's httpRequest, and waits for the whole answer,
// in real time. It returns the answer as JSON: statusCode, headers and content. An error is
// always a [*Failure]. Do may be called concurrently.
func Do(ctx context.Context, request string) (answer string, failure *Failure) {
	var r httpRequest
	if err := json.Unmarshal([]byte(request), &r); err != nil {
		return "", failed("System.ArgumentException", "callHttp has no request that can be read: "+err.Error())
	}
	req, limit, failure := r.prepare(ctx)
	if failure != nil {
		return "", failure
	}
	line := &line{}
	transport := line.transport()
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, CheckRedirect: redirect, Timeout: limit}
	resp, err := client.Do(req)
	if err != nil {
		return "", failureOf(err, req, &r)
	}
	defer resp.Body.Close()
	content, err := readContent(resp.Body)
	if err != nil {
		return "", failureOf(err, req, &r)
	}
	return answerOf(resp, content, line.spelling()), nil
}

// redirect follows as the platform's client does: without Authorization, and not out of
// HTTPS. What is not followed is the answer.
func redirect(req *http.Request, via []*http.Request) error {
	if len(via) > redirections || via[len(via)-1].URL.Scheme == "https" && req.URL.Scheme == "http" {
		return http.ErrUseLastResponse
	}
	for name := range req.Header {
		if strings.EqualFold(name, "Authorization") || strings.EqualFold(name, "Referer") {
			delete(req.Header, name)
		}
	}
	return nil
}

// failureOf tells of an error in the platform's words (seen on its host: a connection that is
// refused; the others are those of .NET's client).
func failureOf(err error, req *http.Request, r *httpRequest) *Failure {
	const class = "System.Net.Http.HttpRequestException"
	at := " (" + hostAndPort(req) + ")"
	if own, ok := errors.AsType[*Failure](err); ok {
		return own
	}
	if name, ok := errors.AsType[*net.DNSError](err); ok && name.IsNotFound {
		return failed(class, "Name or service not known"+at)
	}
	if errno, ok := errors.AsType[syscall.Errno](err); ok && errno != syscall.ECONNRESET && errno != syscall.EPIPE {
		if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, refusedOnWindows) {
			return failed(class, "Connection refused"+at)
		}
		text := errno.Error()
		return failed(class, strings.ToUpper(text[:1])+text[1:]+at)
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		if r.Timeout != "" {
			return failed("System.TimeoutException", "A task was canceled. Reached user specified timeout: "+r.Timeout+".")
		}
		return failed("System.Threading.Tasks.TaskCanceledException", fmt.Sprintf("The request was canceled due to the configured HttpClient.Timeout of %d seconds elapsing.", int(Limit.Seconds())))
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return failed(class, "The SSL connection could not be established, see inner exception.")
	}
	return failed(class, "An error occurred while sending the request.")
}

// Broken is the failure of a request that an error of the caller's has kept from its answer.
func Broken(err error) *Failure {
	return failed("System.Net.Http.HttpRequestException", err.Error())
}

// refusedOnWindows is what Windows says of a port that nobody listens at.
const refusedOnWindows = syscall.Errno(10061)

func hostAndPort(req *http.Request) string {
	port := req.URL.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[req.URL.Scheme]
	}
	return net.JoinHostPort(req.URL.Hostname(), port)
}

// failed is a failure by an exception, which the orchestrator sees as reason and details.
func failed(class, message string) *Failure {
	details, err := json.Marshal(map[string]string{"ClassName": class, "Message": message})
	if err != nil { // texts always marshal
		panic(err)
	}
	return &Failure{Reason: message, Details: `{"$type":"` + class + `",` + string(details[1:])}
}
