package httpcall

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// readContent reads the content of an answer, in UTF-8.
func readContent(body io.Reader) (string, error) {
	content, err := io.ReadAll(io.LimitReader(body, MaxContent+1))
	if err != nil {
		return "", err
	}
	if len(content) > MaxContent {
		return "", failed("System.Net.Http.HttpRequestException", fmt.Sprintf("the answer to callHttp has more than %d MiB: call the address in an activity function", MaxContent>>20))
	}
	return strings.ToValidUTF8(strings.TrimPrefix(string(content), "\ufeff"), "\ufffd"), nil
}

// answerOf is what the orchestrator is told. Headers of the content are left out, as on the
// platform's host.
func answerOf(resp *http.Response, content string, spelling map[string]string) string {
	headers := map[string]any{}
	add := func(name string, list []string) {
		if spelled, ok := spelling[name]; ok {
			name = spelled
		}
		if len(list) == 1 {
			headers[name] = list[0]
		} else {
			headers[name] = list
		}
	}
	for name, list := range resp.Header {
		if !contentHeaders[name] {
			add(name, list)
		}
	}
	if len(resp.TransferEncoding) > 0 {
		add("Transfer-Encoding", resp.TransferEncoding)
	}
	answer, err := json.Marshal(struct {
		Status  int            `json:"statusCode"`
		Headers map[string]any `json:"headers"`
		Content string         `json:"content"`
	}{resp.StatusCode, headers, content})
	if err != nil { // texts always marshal
		panic(err)
	}
	return string(answer)
}
