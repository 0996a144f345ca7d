package durabletask

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// Links are the addresses of one hub's API, for who is handed them (spec durable 8.3).
type Links struct {
	Origin     string // http://localhost:7071
	Hub        string
	Connection string // of the binding; empty: Storage
	Code       string // the key
}

// Base is the address below which the API is.
func (l Links) Base() string { return strings.TrimSuffix(l.Origin, "/") + HookPath }

// key is the key as a parameter.
func (l Links) key() string { return "code=" + url.QueryEscape(l.Code) }

// Management are the addresses of one instance, in the order in which they are told.
type Management struct {
	ID                    string `json:"id"`
	StatusQueryGetURI     string `json:"statusQueryGetUri"`
	SendEventPostURI      string `json:"sendEventPostUri"`
	TerminatePostURI      string `json:"terminatePostUri"`
	RewindPostURI         string `json:"rewindPostUri"`
	PurgeHistoryDeleteURI string `json:"purgeHistoryDeleteUri"`
	RestartPostURI        string `json:"restartPostUri"`
	SuspendPostURI        string `json:"suspendPostUri"`
	ResumePostURI         string `json:"resumePostUri"`
}

// Instance are the addresses of an instance.
func (l Links) Instance(id string) Management {
	connection := l.Connection
	if connection == "" {
		connection = "Storage"
	}
	at := l.Base() + "/instances/" + escape(id)
	query := "taskHub=" + escape(l.Hub) + "&connection=" + escape(connection) + "&" + l.key()
	return Management{
		ID: id, StatusQueryGetURI: at + "?" + query, SendEventPostURI: at + "/raiseEvent/{eventName}?" + query,
		TerminatePostURI: at + "/terminate?reason={text}&" + query, RewindPostURI: at + "/rewind?reason={text}&" + query,
		PurgeHistoryDeleteURI: at + "?" + query, RestartPostURI: at + "/restart?" + query,
		SuspendPostURI: at + "/suspend?reason={text}&" + query, ResumePostURI: at + "/resume?reason={text}&" + query,
	}
}

// escape is Uri.EscapeDataString of .NET.
func escape(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }

// links are the addresses that the answer to a request has: of the request's own origin.
func (q *request) links() Links {
	_, code := q.base()
	return Links{Origin: q.origin(), Hub: q.hub.Name(), Connection: q.query.Get("connection"), Code: code}
}

// origin is where the request went to.
func (q *request) origin() string {
	scheme, host := "http", q.r.Host
	if q.r.TLS != nil {
		scheme = "https"
	}
	if q.opts.Forwarded != nil && q.opts.Forwarded() {
		if to := first(q.r.Header.Get("X-Forwarded-Host")); to != "" {
			host = to
		}
		if proto := first(q.r.Header.Get("X-Forwarded-Proto")); proto != "" {
			scheme = proto
		}
	}
	return scheme + "://" + host
}

func first(list string) string {
	text, _, _ := strings.Cut(list, ",")
	return strings.TrimSpace(text)
}

// retryAfter is the number of seconds that a caller is asked to wait: of its own clock, so
// none where time is not the caller's (DF-8).
func (q *request) retryAfter(seconds int) string {
	if q.skips() {
		seconds = 0
	}
	return strconv.Itoa(seconds)
}

// checkStatus is the answer to a start (spec durable 8.3).
func (q *request) checkStatus(id string) *answer {
	links := q.links().Instance(id)
	return status(http.StatusAccepted).with(links).set("Location", links.StatusQueryGetURI).set("Retry-After", q.retryAfter(10))
}
