//clock:outside the tests are clients of the kit

package kit_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/host/kit"
)

// conformance is the file that all kits play.
type conformance struct {
	Cases []struct {
		Name    string
		Options object
		Steps   []struct {
			Get, Post, Text string
			Send            any
			Status          int
			Answer          any
		}
		End object
	}
}

func conformanceFile(t *testing.T) (file conformance) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "kit", "conformance.json"))
	if err == nil {
		err = json.Unmarshal(text, &file)
	}
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// play plays all cases against a server, side by side.
func (file conformance) play(t *testing.T, c *client) {
	for _, one := range file.Cases {
		t.Run(one.Name, func(t *testing.T) {
			t.Parallel()
			own := *c
			own.t = t
			h := own.host(one.Options)
			for i, step := range one.Steps {
				method, path, body := "POST", step.Post, step.Send
				if step.Get != "" {
					method, path = "GET", step.Get
				}
				if step.Text != "" {
					body = step.Text
				}
				status, text := own.raw(method, h.path+path, body)
				var got any
				_ = json.Unmarshal(text, &got) // an answer of another form differs
				if want := max(step.Status, 200); status != want && (step.Status != 0 || status >= 300) {
					t.Fatalf("step %d: %s %s: %d %s, want %d", i+1, method, path, status, text, want)
				}
				if wrong := differs(path, step.Answer, got); wrong != "" {
					t.Fatalf("step %d: %s %s: %s\n%s", i+1, method, path, wrong, text)
				}
			}
			if end := own.must("DELETE", h.path, nil); one.End == nil && len(end) > 0 || differs("end", one.End, end) != "" {
				t.Errorf("the end: got %v, want %v", end, one.End)
			}
		})
	}
}

// differs says where an answer has not what is wanted.
func differs(at string, want, got any) string {
	switch want := want.(type) {
	case object:
		have, _ := got.(object)
		for name, value := range want {
			if wrong := differs(at+"."+name, value, have[name]); wrong != "" {
				return wrong
			}
		}
		return ""
	case []any:
		list, _ := got.([]any)
		if len(list) != len(want) {
			return fmt.Sprintf("%s has %d members, want %d", at, len(list), len(want))
		}
		for i := range want {
			if wrong := differs(fmt.Sprintf("%s[%d]", at, i), want[i], list[i]); wrong != "" {
				return wrong
			}
		}
		return ""
	case string:
		if len(want) > 2 && want[0] == '/' && want[len(want)-1] == '/' {
			if text, _ := got.(string); regexp.MustCompile(want[1 : len(want)-1]).MatchString(text) {
				return ""
			}
			return fmt.Sprintf("%s is %v, want %s", at, got, want)
		}
	}
	if got != want {
		return fmt.Sprintf("%s is %v, want %v", at, got, want)
	}
	return ""
}

// TestConformance plays what all kits play, in process.
func TestConformance(t *testing.T) {
	t.Parallel()
	conformanceFile(t).play(t, start(t))
}

// TestConformanceOfTheProgram plays it over the program, whose first and only line is the
// announcement, and which ends with its standard input.
func TestConformanceOfTheProgram(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "redeliver")
	if out, err := exec.Command("go", "build", "-trimpath", "-o", program, "../../cmd/redeliver").CombinedOutput(); err != nil {
		t.Skipf("no go command: %v %s", err, out)
	}
	t.Run("parent", func(t *testing.T) { endsWithParent(t, program) })
	cmd := exec.Command(program, "kit")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	line, err := lines.ReadBytes('\n')
	if err != nil {
		t.Fatal(err, said.String())
	}
	var a kit.Announcement
	if err := json.Unmarshal(line, &a); err != nil || a.Kit != kit.Number {
		t.Fatalf("the first line is %s (%v)", line, err)
	}
	t.Run("cases", func(t *testing.T) { conformanceFile(t).play(t, &client{t, a, a.Token}) })
	(&client{t, a, a.Token}).host(pack(nil)) // one that nobody ends
	_ = in.Close()
	if rest, _ := lines.ReadString(0); rest != "" {
		t.Errorf("more on the standard output: %q", rest)
	}
	if err := cmd.Wait(); err != nil || said.Len() > 0 {
		t.Errorf("the end: %v %s", err, said.String())
	}
}

// endsWithParent: the program ends with the process of --parent, though its standard input is
// open.
func endsWithParent(t *testing.T, program string) {
	parent := exec.Command("sh", "-c", "read -r _")
	life, err := parent.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Skip(err)
	}
	cmd := exec.Command(program, "kit", "--parent", fmt.Sprint(parent.Process.Pid))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.Contains(line, "token") {
		t.Errorf("the first line is %q, %v", line, err)
	}
	_ = life.Close()
	_ = parent.Wait()
	if err := cmd.Wait(); err != nil {
		t.Errorf("the end: %v", err)
	}
}
