//clock:outside a custom handler, which never sees the clock

package judge_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

// A given is what the handler got for one attempt.
type given struct {
	Function string
	Framing  string // of the request: the length, or chunked
	Header   map[string]string
	Data     map[string]any
	Metadata map[string]any
}

// serveHandler is a custom handler. It adds what it is given to a file. What it answers
// follows from the function's name:
//
//	Answer...   what the body of the HTTP request says
//	Fails...    an error; Fails2... at the first two attempts, then what the rest says
//	others      what the file plans.json says, if the app has one; else an HTTP function what
//	            it was given, as JSON, and one of another kind the text "x" to the output o
func serveHandler(path string) {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		panic(err)
	}
	l, err := net.Listen("tcp4", "127.0.0.1:"+os.Getenv("FUNCTIONS_CUSTOMHANDLER_PORT"))
	if err != nil {
		panic(err)
	}
	fmt.Println("the handler listens")
	go func() {
		for parent := os.Getppid(); parent == os.Getppid(); time.Sleep(time.Second) {
		}
		os.Exit(0) // the host was killed
	}()
	plans := map[string]json.RawMessage{}
	if text, err := os.ReadFile("plans.json"); err == nil {
		_ = json.Unmarshal(text, &plans)
	}
	fails := failing{}
	err = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		g := given{Function: strings.Trim(r.URL.Path, "/"), Framing: "length", Header: map[string]string{"Content-Type": r.Header.Get("Content-Type")}}
		if err != nil || g.Function == "" {
			return
		}
		if r.ContentLength < 0 {
			g.Framing = strings.Join(r.TransferEncoding, ", ")
		}
		_ = json.Unmarshal(body, &g)
		line, _ := json.Marshal(g) // what came as JSON
		_, _ = file.Write(append(line, '\n'))
		w.Header().Set("Content-Type", "application/json")
		if fails.next(g.Function) {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		if plan := plans[g.Function]; plan != nil {
			_, _ = w.Write(plan)
			return
		}
		answer(w, g, string(line))
	}))
	panic(err)
}

// answer answers one attempt.
func answer(w http.ResponseWriter, g given, line string) {
	req, isHTTP := g.Data["req"].(map[string]any)
	switch {
	case strings.HasPrefix(g.Function, "Answer"):
		body, _ := req["Body"].(string)
		_, _ = io.WriteString(w, body)
	case isHTTP:
		_ = json.NewEncoder(w).Encode(map[string]any{"Outputs": map[string]any{"res": map[string]any{"statusCode": 200, "body": line}}})
	default:
		_, _ = io.WriteString(w, `{"Outputs":{"o":"x"}}`)
	}
}

// failing counts the failures of each function.
type failing struct {
	sync.Mutex
	times map[string]int
}

// next says whether the next attempt of a function fails.
func (f *failing) next(function string) bool {
	rest, fails := strings.CutPrefix(function, "Fails")
	if !fails {
		return false
	}
	f.Lock()
	defer f.Unlock()
	if f.times == nil {
		f.times = map[string]int{}
	}
	f.times[function]++
	if rest == "" || rest[0] < '0' || rest[0] > '9' || f.times[function] <= int(rest[0]-'0') {
		return true
	}
	f.times[function] = 0
	return false
}
