package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
)

// customMain is an HTTP custom handler: its functions fail, end the process, hang or answer,
// as the message says.
func customMain() {
	if len(os.Args) > 1 && os.Args[1] == "broken" {
		fmt.Fprintln(os.Stderr, "cannot find the catalogue")
		os.Exit(3)
	}
	http.HandleFunc("POST /Orders", func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Data     struct{ Order string }
			Metadata struct {
				RetryContext struct {
					RetryCount, MaxRetryCount int
					Exception                 *struct{ Message string }
				}
			}
		}
		_ = json.NewDecoder(r.Body).Decode(&in)
		var order string
		_ = json.Unmarshal([]byte(in.Data.Order), &order)
		retry := in.Metadata.RetryContext
		seen := fmt.Sprintf("order %s, retry_count %d of %d", order, retry.RetryCount, retry.MaxRetryCount)
		if e := retry.Exception; e != nil {
			seen += ", after " + e.Message
		}
		switch {
		case strings.Contains(order, "exit"):
			os.Exit(7)
		case strings.HasPrefix(order, "hold "): // a named pipe, and does not return
			held, err := os.OpenFile(strings.TrimPrefix(order, "hold "), os.O_WRONLY, 0)
			if err != nil {
				panic(err)
			}
			fmt.Println("called")
			for { // without a pause, as a program that is stuck
				_ = held.Name()
			}
		case strings.Contains(order, "fail"):
			fmt.Fprintln(os.Stderr, seen)
			http.Error(w, "no such order", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"Logs": []string{seen}, "Outputs": map[string]any{"done": map[string]any{"seen": order}}})
	})
	http.HandleFunc("POST /Fine", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "{}")
	})
	page := func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		fmt.Fprintf(w, "page %s", r.URL.Query().Get("n"))
	}
	http.HandleFunc("GET /api/Page", page)
	http.HandleFunc("GET /page", page) // of a self-hosted app
	http.HandleFunc("GET /events", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: one\n\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done() // no more comes before the caller goes
		fmt.Println("the reader of events has gone")
	})
	panic(http.ListenAndServe("127.0.0.1:"+os.Getenv("FUNCTIONS_CUSTOMHANDLER_PORT"), nil))
}
