package judge_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Answers of a custom handler that host/customhandler holds against its own table
// (TestAnswersOfThePlatform there), judged anew: what the platform's host makes of them
// now.
func TestAnswersAnew(t *testing.T) {
	text, err := os.ReadFile("../customhandler/testdata/answers.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	type observation struct {
		Function, Answer, Zone string
		Header                 map[string]string
		Status                 int
		Headers                []string
		Body                   string
	}
	zones := map[string][]observation{}
	for line := range strings.Lines(string(text)) {
		var o observation
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatal(err)
		}
		zones[o.Zone] = append(zones[o.Zone], o)
	}
	paths := map[string]string{"Named": "/api/Answer", "Ret": "/api/AnswerReturn", "NoOut": "/api/AnswerNone"}
	for zone, rows := range zones {
		t.Run("zone "+zone, func(t *testing.T) {
			app := lay(t, archive(t, "http.txtar"), "own")
			if zone != "" {
				app.env = append(app.env, "TZ="+zone)
			}
			s := openTheirs(t, app.dir, "custom", app.env)
			for _, o := range rows {
				var headers []string
				for name, value := range o.Header {
					headers = append(headers, name+": "+value)
				}
				slices.Sort(o.Headers)
				want := []string{statusText(o.Status), strings.Join(o.Headers, " & "), o.Body}
				if o.Status == 0 { // the line of such a status is none, and what follows it is no answer
					want = []string{statusText(0), "", ""}
				}
				if diff := cmp.Diff(want, s.request(t, "POST", paths[o.Function], strings.Join(headers, " & "), o.Answer)); diff != "" {
					t.Errorf("%s %s (-table +platform):\n%s", o.Function, o.Answer, diff)
				}
			}
		})
	}
}
