//clock:outside a custom handler, which never sees the clock

package customhandler_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
)

// roleVariable makes the test binary a custom handler, with what is odd about it.
const roleVariable = "REDELIVER_CUSTOM_TEST_ROLE"

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		act(role)
		return
	}
	os.Exit(m.Run())
}

// act serves what the names of functions say.
func act(role string) {
	switch role {
	case "exits":
		fmt.Fprintln(os.Stderr, "no such module")
		os.Exit(3)
	case "silent":
		select {}
	}
	fmt.Fprintln(os.Stderr, "listening")
	l, err := net.Listen("tcp4", "127.0.0.1:"+os.Getenv("FUNCTIONS_CUSTOMHANDLER_PORT"))
	if err != nil {
		panic(err)
	}
	err = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/Deaf" { // from now on, but it lives
			_ = l.Close()
			w.Header().Set("Connection", "close")
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, "{}")
			return
		}
		serve(w, r)
	}))
	if !errors.Is(err, net.ErrClosed) {
		panic(err)
	}
	select {}
}

// echoed is what the function Echo answers.
type echoed struct {
	Method, Path, Query string
	Header              http.Header
	Body                string
	Args                []string
	Env                 map[string]string
}

// breaks are the requests to /api/break so far.
var breaks atomic.Int32

// broken are the requests to /api/endless whose callers have gone.
var broken atomic.Int32

// parts answers each part of the request at once, and says with how many bytes it ended
// after the body.
func parts(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Keep-Alive", "timeout=5") // as Node.js sends it
	control := http.NewResponseController(w)
	_ = control.EnableFullDuplex()
	w.Header().Set("Trailer", "X-Bytes")
	w.Header().Set("X-Saw", r.Header.Get("X-Ms-Invocation-Id")+" "+r.Header.Get("X-Azure-Functions-InvocationId")+" "+r.Header.Get("X-Forwarded-Host")+r.Header.Get("Te"))
	w.WriteHeader(http.StatusAccepted)
	_ = control.Flush()
	n := 0
	for part := make([]byte, 100); ; {
		k, err := r.Body.Read(part)
		if n += k; k > 0 {
			_, _ = fmt.Fprintf(w, "<%s>", part[:k])
			_ = control.Flush()
		}
		if err != nil {
			break
		}
	}
	w.Header().Set("X-Bytes", fmt.Sprint(n))
}

func serve(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/api/parts":
		parts(w, r)
		return
	case "/api/endless":
		_, _ = io.WriteString(w, "first")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		broken.Add(1)
		return
	case "/api/odd": // a status that no server of Go would write
		c, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_, _ = fmt.Fprintf(c, "HTTP/1.1 %s Odd\r\nContent-Length: 2\r\n\r\nhi", r.URL.Query().Get("status"))
			_ = c.Close()
		}
	case "/api/broken":
		_, _ = fmt.Fprint(w, broken.Load())
		return
	}
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	switch r.URL.Path {
	case "/":
		http.NotFound(w, r)
	case "/Echo", "/api/echo":
		e := echoed{Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Header: r.Header, Body: string(body), Args: os.Args[1:], Env: map[string]string{}}
		for _, kv := range os.Environ() {
			if name, v, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "FUNCTIONS_") || name == "CONTAINER_NAME" {
				e.Env[name] = v
			}
		}
		text, _ := json.Marshal(e)
		if r.URL.Path == "/api/echo" {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(http.StatusFound)
			_, _ = w.Write(text)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"ReturnValue": map[string]any{"seen": string(text)}})
	case "/Answer": // with the text of the first input
		var in struct{ Data map[string]string }
		var text string
		_ = json.Unmarshal(body, &in)
		_ = json.Unmarshal([]byte(in.Data["in"]), &text)
		_, _ = io.WriteString(w, text)
	case "/Untyped":
		w.Header().Del("Content-Type") // package net/http guesses it
		_, _ = io.WriteString(w, "{}")
	case "/Status":
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, `{"Logs":["never seen"],"Outputs":{"out":"x"}}`)
	case "/Exit":
		for _, line := range []string{"one error", "an ordinary line", "2 failed", "more of it", "severe: 3", "panic: 4", "goodbye"} {
			fmt.Fprintln(os.Stderr, line)
		}
		os.Exit(4)
	case "/api/break":
		breaks.Add(1)
		panic(http.ErrAbortHandler)
	case "/api/breaks":
		_, _ = fmt.Fprint(w, breaks.Load())
	case "/Break":
		panic(http.ErrAbortHandler)
	case "/Hang":
		select {}
	}
}
