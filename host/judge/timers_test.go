package judge_test

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/redeliver/redeliver/triggers/timer"
)

// librariesVariable names the folder of the platform's host, which has the library of its
// timers.
const librariesVariable = "REDELIVER_JUDGE_LIBRARIES"

// Schedules and zones: the ticks between two moments, of which the first is not one. Few
// are spelled out, of many the number and a hash stand in the table.
func TestTimers(t *testing.T) {
	t.Parallel()
	tab := readTable(t, "testdata/timers.tsv", 4, 1)
	var ours [][]string
	for _, r := range tab.rows {
		ours = append(ours, []string{ticksOf(t, r.in)})
	}
	tab.judge(t, librariesVariable, ours, func(t *testing.T) [][]string { return askTimers(t, tab) })
}

// ticksOf are the ticks of a row.
func ticksOf(t *testing.T, in []string) string {
	t.Helper()
	loc, err := time.LoadLocation(in[0])
	if err != nil {
		t.Fatal(err)
	}
	s, err := timer.ParseSchedule(in[1])
	if err != nil {
		return "refused"
	}
	var ticks []time.Time
	for at := moment(t, in[2]); ; {
		next := s.Next(at, loc)
		if !next.Before(moment(t, in[3])) || !next.After(at) {
			return written(ticks)
		}
		ticks, at = append(ticks, next), next
	}
}

func moment(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse("2006-01-02T15:04Z", text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// written is a list of ticks in a table.
func written(ticks []time.Time) string {
	hash := fnv.New64a()
	var words []string
	for _, at := range ticks {
		word := at.UTC().Format("2006-01-02T15:04:05Z")
		words = append(words, word)
		_, _ = hash.Write([]byte(word + "\n"))
	}
	if len(words) > 4 {
		return fmt.Sprintf("%d ticks %016x", len(words), hash.Sum64())
	}
	return strings.Join(words, " ")
}

// askTimers builds a program over the platform's library, and runs it in each zone.
func askTimers(t *testing.T, tab *golden) [][]string {
	t.Helper()
	libraries := os.Getenv(librariesVariable)
	if libraries == "" {
		t.Skipf("the variable %s names no folder of the platform's host; its part was held against the table of testdata", librariesVariable)
	}
	dir := t.TempDir()
	for _, name := range []string{"timers.csproj", "Program.cs"} {
		text, err := os.ReadFile(filepath.Join("testdata", "timers", name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	build := exec.CommandContext(t.Context(), "dotnet", "build", "-v", "q", "-o", "out", "-p:Platform_Host="+libraries)
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("dotnet build: %v\n%s", err, out)
	}
	asked, places := map[string]*bytes.Buffer{}, map[string][]int{}
	for i, r := range tab.rows {
		zone := r.in[0]
		if asked[zone] == nil {
			asked[zone] = &bytes.Buffer{}
		}
		fmt.Fprintf(asked[zone], "%s\t%d\t%d\n", r.in[1], moment(t, r.in[2]).Unix(), moment(t, r.in[3]).Unix())
		places[zone] = append(places[zone], i)
	}
	facts := make([][]string, len(tab.rows))
	for zone, lines := range asked {
		run := exec.CommandContext(t.Context(), "dotnet", filepath.Join(dir, "out", "timers.dll"))
		run.Env, run.Stdin = append(os.Environ(), "TZ="+zone), lines
		out, err := run.Output()
		if err != nil {
			t.Fatalf("%s: %v", zone, err)
		}
		answers := strings.Split(string(out), "\n")
		for n, i := range places[zone] {
			facts[i] = []string{answered(t, answers[n])}
		}
	}
	return facts
}

// answered is a line of the program in the form of the table.
func answered(t *testing.T, line string) string {
	t.Helper()
	if line == "refused" {
		return line
	}
	var ticks []time.Time
	for word := range strings.FieldsSeq(line) {
		var seconds int64
		if _, err := fmt.Sscan(word, &seconds); err != nil {
			t.Fatal(err)
		}
		ticks = append(ticks, time.Unix(seconds, 0))
	}
	return written(ticks)
}
