//clock:outside a custom handler, which never sees the clock

package invokertest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// roleVariable makes the test binary a custom handler.
const roleVariable = "REDELIVER_INVOKER_TEST_ROLE"

func TestMain(m *testing.M) {
	if os.Getenv(roleVariable) == "custom" {
		l, err := net.Listen("tcp4", "127.0.0.1:"+os.Getenv("FUNCTIONS_CUSTOMHANDLER_PORT"))
		if err != nil {
			panic(err)
		}
		panic(http.Serve(l, http.HandlerFunc(serve)))
	}
	os.Exit(m.Run())
}

// command runs a program and returns what it prints.
func command(tb testing.TB, program string, args ...string) (string, error) {
	out, err := exec.CommandContext(tb.Context(), program, args...).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// shape tells what a value in a request is.
func shape(value json.RawMessage) string {
	var text string
	var object map[string]any
	switch {
	case json.Unmarshal(value, &text) == nil:
		return "string " + text
	case json.Unmarshal(value, &object) == nil:
		maps.DeleteFunc(object, func(_ string, v any) bool { return v == nil })
		return "object " + strings.Join(slices.Sorted(maps.Keys(object)), ",")
	}
	return string(value)
}

// serve has the functions of the suite as an HTTP custom handler.
func serve(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Data     struct{ Item json.RawMessage }
		Metadata struct {
			ID           string `json:"Id"`
			Sys          struct{ MethodName string }
			RetryContext *struct {
				RetryCount, MaxRetryCount int
				Exception                 *struct{ Message string }
			}
		}
	}
	body, err := io.ReadAll(r.Body)
	if err == nil && len(body) > 0 {
		err = json.Unmarshal(body, &in)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	// A text is JSON inside JSON; bytes are base64, which is no JSON.
	item := []byte(in.Data.Item)
	var inner string
	if json.Unmarshal(item, &inner) == nil && json.Valid([]byte(inner)) {
		item = []byte(inner)
	}
	var text string
	_ = json.Unmarshal(item, &text)
	n, _ := strconv.Atoi(text)
	outputs, logs := map[string]any{}, []string{}
	switch name := strings.TrimPrefix(r.URL.Path, "/"); name {
	case "", "Nothing":
	case "Echo":
		if len(item) > 0 {
			outputs["out"] = json.RawMessage(item)
		}
	case "Seen":
		var id string
		_ = json.Unmarshal([]byte(in.Metadata.ID), &id)
		seen := fmt.Sprintf("%s %s %s %s", r.Header.Get("X-Azure-Functions-InvocationId"), in.Metadata.Sys.MethodName, id, r.Header.Get("Traceparent"))
		if rc := in.Metadata.RetryContext; rc != nil {
			seen += fmt.Sprintf(" retry %d/%d", rc.RetryCount, rc.MaxRetryCount)
			if rc.Exception != nil {
				seen += " after " + rc.Exception.Message
			}
		}
		outputs["out"] = seen
	case "Fail":
		http.Error(w, text, http.StatusInternalServerError)
		return
	case "Log":
		for i := range n {
			logs = append(logs, fmt.Sprint("line ", i))
		}
	case "Odd":
		_, _ = w.Write([]byte(`{"Outputs":{"out":"\ud800","nobodys":1},"Logs":[{}],"ReturnValue":`))
		return
	case "Noise":
		for range n {
			_, _ = os.Stdout.Write([]byte{0, 255, '{', '\n'})
			fmt.Fprintln(os.Stderr, strings.Repeat("noise ", 20))
		}
		fmt.Println(strings.Repeat("x", 200<<10))
	case "FixedQueue", "FixedServiceBus", "FixedHttp", "ExponentialQueue", "ExponentialServiceBus", "ExponentialHttp":
		if rc := in.Metadata.RetryContext; rc.RetryCount < rc.MaxRetryCount {
			last := "nothing"
			if rc.Exception != nil {
				last = regexp.MustCompile(`attempt \d+ fails`).FindString(rc.Exception.Message)
			}
			http.Error(w, fmt.Sprintf("attempt %d fails; retry %d of %d; before: %s", rc.RetryCount+1, rc.RetryCount, rc.MaxRetryCount, last), http.StatusInternalServerError)
			return
		}
	case "Literal":
		http.Error(w, "TypeError: it wants a level first", http.StatusInternalServerError)
		return
	case "Exit":
		os.Exit(n)
	case "Fatal":
		go panic("from a goroutine")
		select {}
	case "Wait", "Hang":
		select {}
	default:
		if !strings.HasPrefix(name, shapePrefix) {
			http.Error(w, "no function "+name, http.StatusNotFound)
			return
		}
		if strings.HasPrefix(name, shapePrefix+"TableOut") {
			outputs["row"] = in.Data.Item
			break
		}
		logs = append(logs, "shape: "+shape(in.Data.Item))
	}
	var b bytes.Buffer
	_ = json.NewEncoder(&b).Encode(map[string]any{"Outputs": outputs, "Logs": logs})
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(b.Bytes())
}
