package main

import (
	"os"
	"strings"
	"testing"
	"time"
)

// output is what the benchmark prints, with and without Azurite.
const output = `
| operation | at once | floor/s | memory/s | durable/s | Azurite/s | Azurite in memory/s | memory of floor | durable of floor | memory : Azurite in memory | durable : Azurite |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
| queue put | 16 | 4886 | 4643 | 4208 | 238 | 947 | 97 % | 69 % | 5× | 18× |
| blob get 4 KiB | 16 | 9638 | 8946 | 7698 | 0 | 0 | 102 % | 81 % | 0× | 0× |

| µs of processor | at once | floor | memory | durable | Azurite | Azurite in memory |
| --- | --- | --- | --- | --- | --- | --- |
| queue put | 16 | 53 | 76 | 118 | 2017 | 904 |
`

// A row that could not be run says so, and has no figure.
func TestText(t *testing.T) {
	t.Parallel()
	r, err := rates(output)
	if err != nil {
		t.Fatal(err)
	}
	m := machine{
		Date: time.Date(2030, 1, 2, 0, 0, 0, 0, time.UTC), Processors: 2, Before: "1.50", Go: "go1.26", Program: "redeliver 0.1.0",
		Rates: r, Starts: map[string]time.Duration{ours: 12345678}, Size: 37_400_000,
		Absent: absent(func(command string, _ ...string) bool { return command == "docker" }),
	}
	want := "Made by `make compare` on 2030-01-02: redeliver 0.1.0; 2 processors, load 1.50 before and unknown after, go1.26.\n\n" +
		"| | Redeliver | Azurite |\n| --- | --- | --- |\n" +
		"| queue put, 16 at once, a second | 4208 | 238 |\n" +
		"| blob get 4 KiB, 16 at once, a second | 7698 | **not run here** |\n" +
		"| Start of the services, to the first answer | 12 ms | **not run here** |\n" +
		"| Size on disk | 37.4 MB, one file | not measured |\n" +
		"\nNot run here, so without figures:\n\n" +
		"- func (Core Tools): there are no Core Tools.\n" +
		"- Service Bus emulator: make compare does not drive it.\n" +
		"- Event Hubs emulator: make compare does not drive it.\n" +
		"- Cosmos DB emulator: make compare does not drive it.\n" +
		"- LocalStack for Azure, OpenServiceBus: make compare does not drive it.\n"
	if got := m.text(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if _, err := rates("PASS\n"); err == nil {
		t.Error("an output without rows was taken")
	}
}

// What stands around the marks stays, and the page of the repository has them.
func TestReplaced(t *testing.T) {
	t.Parallel()
	got, err := replaced("a\n"+begin+"old\n"+end+"\nb\n", "new\n")
	if want := "a\n" + begin + "new\n" + end + "\nb\n"; err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	if _, err := replaced("a\n"+end+begin, "new\n"); err == nil {
		t.Error("a page without marks was taken")
	}
	text, err := os.ReadFile("../../" + page)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := replaced(strings.ReplaceAll(string(text), "\r\n", "\n"), ""); err != nil {
		t.Error(err)
	}
}
