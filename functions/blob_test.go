package functions_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/functions"
)

func TestBlobDeclaration(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.Blob("Import", "uploads/{name}.csv", func(context.Context, functions.Blob) error { return nil },
		functions.Connection("Data"),
		functions.FromEventGrid(),
		functions.BlobInput("rules", "config/rules.json"),
		functions.BlobOutput("report", "reports/{name}", functions.Connection("Reports")),
		functions.Disabled(),
	)
	d := app.Declarations()[0]
	var got []string
	for _, b := range d.Bindings {
		got = append(got, string(b))
	}
	want := []string{
		`{"connection":"Data","dataType":"binary","direction":"in","name":"blob","path":"uploads/{name}.csv","source":"EventGrid","type":"blobTrigger"}`,
		`{"dataType":"binary","direction":"in","name":"rules","path":"config/rules.json","type":"blob"}`,
		`{"connection":"Reports","direction":"out","name":"report","path":"reports/{name}","type":"blob"}`,
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("bindings (-got +want):\n%s", diff)
	}
	if !d.Disabled {
		t.Error("the options of every kind do not hold")
	}
}

func TestBlobDecode(t *testing.T) {
	t.Parallel()
	b := functions.Blob{Container: "uploads", Name: "a.json", Content: []byte(`{"n":1}`)}
	var v struct{ N int }
	if err := b.Decode(&v); err != nil || v.N != 1 || b.Text() != `{"n":1}` {
		t.Errorf("Decode = %+v, %v", v, err)
	}
	if err := (functions.Blob{Container: "uploads", Name: "a.json"}).Decode(&v); err == nil || !strings.Contains(err.Error(), "uploads/a.json") {
		t.Errorf("Decode of a blob that is gone = %v, want an error that names it", err)
	}
}

func ExampleApp_Blob() {
	app := functions.New()
	app.Blob("Thumbnail", "photos/{album}/{name}.jpg", func(ctx context.Context, b functions.Blob) error {
		return functions.SetOutput(ctx, "thumbnail", b.Content[:min(len(b.Content), 1000)])
	}, functions.BlobOutput("thumbnail", "thumbnails/{album}-{name}.jpg"))

	var trigger struct{ Path string }
	_ = json.Unmarshal(app.Declarations()[0].Bindings[0], &trigger)
	fmt.Println(trigger.Path)
	// Output: photos/{album}/{name}.jpg
}
