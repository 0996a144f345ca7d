package web_test

import (
	"net/http"
	"testing"

	"github.com/redeliver/redeliver/host/web"
	"github.com/redeliver/redeliver/host/web/ui"
)

// The page is where the guard of the control API is, and its files need no key.
func TestPage(t *testing.T) {
	t.Parallel()
	d := open(t, app(plainHostJSON), nil, &web.Options{EnableAuth: true, Page: ui.Handler()})
	d.want(401, "GET", prefix+"/status", "")
	for _, path := range []string{web.PagePath, web.PagePath + "index.html"} {
		if a := d.want(200, "GET", path, ""); a.Header.Get("Content-Security-Policy") != ui.Policy || a.Header.Get(web.VersionHeader) == "" {
			t.Errorf("%s has the header %v", path, a.Header)
		}
	}
	for _, path := range []string{"/admin/redeliver/ui", "/Admin/Redeliver/UI/", "/admin/redeliver/UI/index.html"} {
		if a := d.from("127.0.0.1", "127.0.0.1", path, ""); a.Status != 308 || a.Header.Get("Location") != web.PagePath {
			t.Errorf("%s: %d to %q, want the page", path, a.Status, a.Header.Get("Location"))
		}
	}
	d.want(404, "GET", web.PagePath+"nothing", "")
	d.want(404, "GET", web.PagePath+"..%2fstatus", "")
	d.want(401, "GET", prefix+"/uix", "")
	d.want(401, "GET", web.PagePath+"../status", "") // as without the dots
	d.want(405, "POST", web.PagePath, "x")
	for name, value := range map[string]string{"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"} {
		r, err := http.NewRequestWithContext(t.Context(), "GET", d.web.URL()+web.PagePath, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set(name, value)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != 403 {
			t.Errorf("%s %s: %d, want 403", name, value, resp.StatusCode)
		}
	}
}

// Without a page the path is not found, and other machines see files only.
func TestNoPage(t *testing.T) {
	t.Parallel()
	d := network(t, &web.Options{})
	d.want(404, "GET", web.PagePath, "")
	with := network(t, &web.Options{Page: ui.Handler()})
	const here, there = "192.0.2.7", "198.51.100.3"
	if a := with.from(there, here, web.PagePath, ""); a.Status != 200 {
		t.Errorf("the page, to another machine: %d, want 200", a.Status)
	}
	if a := with.from(there, here, prefix+"/status", ""); a.Status != 401 {
		t.Errorf("the API, to another machine: %d, want 401", a.Status)
	}
	apart := network(t, &web.Options{AdminAddress: "127.0.0.1", Page: ui.Handler()})
	if a := apart.from(there, here, web.PagePath, ""); a.Status != 403 {
		t.Errorf("the page where the API is not served: %d, want 403", a.Status)
	}
}
