package verbs

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/timespan"
)

// every has a field of each kind that a command can fill.
type every struct {
	ops.Op[ops.None] `route:"POST /every/{name}"`

	Name   string        `path:"name"`
	Also   string        `query:"also" arg:"ALSO"`
	Plain  string        `query:"plainText" usage:"a text"`
	Called string        `query:"x" flag:"called" usage:"another name"`
	Maybe  *string       `query:"maybe" usage:"a text, empty too"`
	Yes    bool          `query:"yes" usage:"a switch"`
	No     *bool         `query:"no" flag:"no" usage:"a switch that denies"`
	N      int           `query:"n" min:"2" max:"9" want:"a number from 2 to 9" usage:"a number"`
	Twice  int           `query:"twice" default:"2" usage:"a number"`
	Long   int64         `query:"long" usage:"a long number"`
	Many   []int64       `query:"many" usage:"some number"`
	List   []string      `query:"list" usage:"a text"`
	Split  []string      `query:"split" split:"," usage:"a text"`
	Wait   time.Duration `query:"wait" min:"0s" want:"a duration of 0 or more" usage:"refused late"`
	Above  time.Duration `query:"above" min:"1ns" usage:"above 0"`
	Any    time.Duration `query:"any" usage:"any"`
	Iso    string        `query:"iso" unit:"iso" usage:"as the service writes it"`
	Silent string        `query:"silent"`
	Set    string        `query:"set" usage:"set in each call"`
	Body   []byte        `body:"raw"`
}

// filled is the operation that a command line makes, or why it does not.
func filled(line string) (every, string) {
	in := every{Set: "already"}
	cmd := &cobra.Command{Use: "every NAME [ALSO] [BODY|-]"}
	f := fill(cmd, reflect.ValueOf(&in).Elem(), nil, nil, nil)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if err := f.take(args); err != nil {
			return err
		}
		if len(args) < 2 {
			return nil
		}
		return f.takeBody(cli.Streams{}, args, nil)
	}
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(strings.Fields(line))
	if err := cmd.Execute(); err != nil {
		return every{}, err.Error()
	}
	return in, ""
}

// A field is set by an argument or a flag of its kind, within the limits of its tags.
func TestFill(t *testing.T) {
	t.Parallel()
	text, no := func(s string) *string { return &s }, false
	for _, row := range []struct {
		line string
		want every
		why  string
	}{
		{line: "a", want: every{Name: "a", Twice: 2}},
		{line: "a b c", want: every{Name: "a", Also: "b", Body: []byte("c"), Twice: 2}},
		{line: "a --plain-text p --called c --maybe=", want: every{Name: "a", Plain: "p", Called: "c", Maybe: text(""), Twice: 2}},
		{line: "a --yes --no", want: every{Name: "a", Yes: true, No: &no, Twice: 2}},
		{line: "a --no=false", want: every{Name: "a", Twice: 2}},
		{line: "a --n 9 --twice 0 --long -4", want: every{Name: "a", N: 9, Long: -4}},
		{line: "a --many 1 --many 2 --list a,b --list c --split a,b --split c", want: every{Name: "a", Twice: 2, Many: []int64{1, 2}, List: []string{"a,b", "c"}, Split: []string{"a", "b", "c"}}},
		{line: "a --wait 0s --above PT5M --any -3s --iso 90s", want: every{Name: "a", Twice: 2, Above: 5 * time.Minute, Any: -3 * time.Second, Iso: "PT1M30S"}},
		{line: "a --wait 30s", want: every{Name: "a", Twice: 2, Wait: 30 * time.Second}},
		{line: "", why: "every: an argument is missing"},
		{line: "a b c d", why: `every: unexpected argument "d"`},
		{line: "a --n 1", why: "--n: want a number from 2 to 9"},
		{line: "a --n 10", why: "--n: want a number from 2 to 9"},
		{line: "a --n x", why: `invalid argument "x" for "--n" flag`},
		{line: "a --no=x", why: `invalid argument "x" for "--no" flag`},
		{line: "a --wait -1s", why: `--wait "-1s": want a duration of 0 or more, ` + timespan.Forms},
		{line: "a --wait x", why: `--wait "x": want a duration of 0 or more, ` + timespan.Forms},
		{line: "a --above 0s", why: `invalid argument "0s" for "--above" flag: want a duration above 0, ` + timespan.Forms},
		{line: "a --silent x", why: "unknown flag: --silent"},
		{line: "a --set x", why: "unknown flag: --set"},
		{line: "a --body x", why: "unknown flag: --body"},
	} {
		if row.why == "" {
			row.want.Set = "already"
		}
		got, why := filled(row.line)
		if diff := cmp.Diff(row.want, got); diff != "" || !strings.HasPrefix(why, row.why) || (why == "") != (row.why == "") {
			t.Errorf("every %s: %q, want %q (-want +got):\n%s", row.line, why, row.why, diff)
		}
	}
}

// What the help says of a flag is what the tags say of the field.
func TestFillHelp(t *testing.T) {
	t.Parallel()
	var in every
	cmd := &cobra.Command{Use: "every NAME"}
	fill(cmd, reflect.ValueOf(&in).Elem(), nil, []Word{{Field: "Plain", Name: "other", Usage: "in other words"}}, []string{"Plain", "No", "Twice", "Many", "List", "Wait", "Above", "Iso"})
	const want = `
      --above duration    above 0
      --iso duration      as the service writes it
      --list stringArray  a text (repeatable)
      --many number       some number (repeatable)
      --no                a switch that denies
      --other string      in other words
      --twice int         a number (default 2)
      --wait string       refused late
`
	got := strings.ReplaceAll(cmd.Flags().FlagUsages(), "     ", "    ")
	if fields := func(s string) string { return strings.Join(strings.Fields(s), " ") }; fields(got) != fields(want) {
		t.Errorf("got %s\nwant %s", cmd.Flags().FlagUsages(), want)
	}
}

// An argument that is a duration keeps to the limits of its tags.
func TestFillDuration(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"0s", "8785h", "P400D", "1x"} {
		cmd := AdvanceClock.Command(cli.Streams{})
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetArgs([]string{text})
		want := `"` + text + `": want a duration above 0 and at most 8784h (P366D), ` + timespan.Forms
		if err := cmd.Execute(); err == nil || err.Error() != want {
			t.Errorf("clock advance %s: %v, want %s", text, err, want)
		}
	}
}
