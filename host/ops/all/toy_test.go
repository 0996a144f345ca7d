package all_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/host/faults"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/ops/all"
	"github.com/redeliver/redeliver/host/ops/toytest"
	"github.com/redeliver/redeliver/host/web"
)

// A service is a package and a row: with them it has routes, a list on the page, messages,
// faults, a description, documentation and its calls in the kit.
func TestToyService(t *testing.T) {
	t.Parallel()
	bells := toytest.New("door", "tower")
	table := append(all.Table(), bells.Row())
	h := hosttest.New(t, &hosttest.Options{Table: table})
	server := web.New(h.Host, &web.Options{Table: table, Faults: h.Faults()})
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer server.Close()

	for _, q := range []struct {
		request, body string
		status        int
		want          string // a part of the answer
	}{
		{"POST /bells/door/rings", "knock", 201, `{"name":"door","count":1}`},
		{"GET /inventory", "", 200, `"more":{"bells":[{"name":"door","count":1},{"name":"tower","count":0}],"tables":[]}`},
		{"GET /messages?service=bells&entity=door", "", 200, `"preview":"knock"`},
		{"GET /messages?service=bell&entity=door", "", 400, `cosmos, blob, table or bells`},
		{"POST /bells/dor/rings", "knock", 404, `"error":"there is no bell \"dor\"","hint":"did you mean \"door\"?"`},
		{"POST /faults?service=bells&operation=Rings", "", 400, `did you mean \"Ring\"?`},
		{"POST /faults?service=bells&operation=Ring&entity=towr", "", 404, `did you mean \"tower\"?`},
		{"POST /faults?service=bells&operation=Ring&entity=tower&error=cracked", "", 200, `"service":"bells","entity":"tower"`},
		{"POST /bells/door/rings", "knock", 201, `"count":2`},
		{"POST /bells/tower/rings", "knock", 503, `cracked`},
		{"POST /faults?diskFull=true", "", 200, `"diskFull":true`},
		{"DELETE /bells/door/rings", "", 503, `no space left`},
		{"DELETE /bells/door/rings", "", 200, `{"path":"door","removed":2}`},
	} {
		method, path, _ := strings.Cut(q.request, " ")
		r, err := http.NewRequestWithContext(t.Context(), method, fmt.Sprint("http://", server.Addr(), ops.Prefix, path), strings.NewReader(q.body))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close() // read
		if err != nil || resp.StatusCode != q.status || !strings.Contains(string(got), q.want) {
			t.Errorf("%s: %d %s, %v; want %d with %s", q.request, resp.StatusCode, got, err, q.status, q.want)
		}
	}

	t.Run("kit", func(t *testing.T) {
		if got := hosttest.Do(h, bells.Ring("tower", "noon")); got.Count != 1 {
			t.Errorf("rung %d times", got.Count)
		}
		if _, refused := hosttest.Try(h, bells.Ring("towr", "noon")); refused == nil || refused.Hint != `did you mean "tower"?` {
			t.Errorf("a bell that there is not: %+v", refused)
		}
	})
	t.Run("faults of the kit", func(t *testing.T) {
		if err := h.Inject(faults.Fault{Service: "bells", Operation: "Ring", Entity: "door", Error: "cracked"}); err != nil {
			t.Error(err)
		}
		if _, refused := hosttest.Try(h, bells.Ring("door", "noon")); refused == nil || !strings.HasPrefix(refused.Text, "cracked") {
			t.Errorf("a bell with a fault: %+v", refused)
		}
		if err := h.Inject(faults.Fault{Service: "bells", Operation: "Rings"}); err == nil || !strings.Contains(err.Error(), `did you mean "Ring"?`) {
			t.Errorf("a fault of a slip: %v", err)
		}
	})
	t.Run("documents", func(t *testing.T) {
		words := comments(t, "../toytest")
		var api struct {
			Paths map[string]map[string]struct{ Description string }
		}
		if err := json.Unmarshal([]byte(described(table, words)), &api); err != nil {
			t.Fatal(err)
		}
		if got := api.Paths[ops.Prefix+"/bells/{bell}/rings"]["post"].Description; got != "RingBell rings a bell, which keeps the words." {
			t.Errorf("the description of RingBell is %q", got)
		}
		if got, want := listed(table), fmt.Sprintf("//\t%-6s %-35s %s\n", "POST", "/bells/{bell}/rings", "RingBell"); !strings.Contains(got, want) {
			t.Errorf("the list of operations has no line %q:\n%s", want, got)
		}
	})
}
