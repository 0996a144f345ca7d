package timer_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/triggers/timer"
)

// A plain is a schedule built from the values that it allows, with the text that
// should mean the same. Its ticks are found by trying every second.
type plain struct {
	text    string
	allowed [6]map[int]bool
}

// randomPlain writes a schedule and its meaning side by side. Hours are drawn near
// midnight, where the windows of the test are.
func randomPlain(rnd *rand.Rand) plain {
	bounds := [6][2]int{{0, 59}, {0, 59}, {0, 23}, {1, 31}, {1, 12}, {0, 6}}
	p := plain{}
	var fields []string
	for i, b := range bounds {
		values := map[int]bool{}
		var text string
		lo, hi := b[0], b[1]
		if i == 2 {
			hi = 4
		}
		pick := func() int { return lo + rnd.IntN(hi-lo+1) }
		form := rnd.IntN(5)
		if i >= 3 && rnd.IntN(3) > 0 {
			form = 0
		}
		switch form {
		case 0:
			text = "*"
			for n := b[0]; n <= b[1]; n++ {
				values[n] = true
			}
		case 1:
			n := pick()
			text, values[n] = strconv.Itoa(n), true
		case 2:
			step := 1 + rnd.IntN(b[1])
			text = fmt.Sprintf("*/%d", step)
			for n := b[0]; n <= b[1]; n += step {
				values[n] = true
			}
		case 3:
			x, y, step := pick(), pick(), 1+rnd.IntN(5)
			x, y = min(x, y), max(x, y)
			text = fmt.Sprintf("%d-%d/%d", x, y, step)
			for n := x; n <= y; n += step {
				values[n] = true
			}
		default:
			x, y := pick(), pick()
			text, values[x], values[y] = fmt.Sprintf("%d,%d", x, y), true, true
		}
		p.allowed[i] = values
		fields = append(fields, text)
	}
	p.text = strings.Join(fields, " ")
	return p
}

func (p plain) allows(wall time.Time) bool {
	return p.allowed[0][wall.Second()] && p.allowed[1][wall.Minute()] && p.allowed[2][wall.Hour()] &&
		p.allowed[3][wall.Day()] && p.allowed[4][int(wall.Month())] && p.allowed[5][int(wall.Weekday())]
}

// TestNextAgainstEverySecond compares Next with a search that tries every second of some
// hours. What changes of the clock do is held against the platform (host/judge TestTimers).
func TestNextAgainstEverySecond(t *testing.T) {
	t.Parallel()
	const window = 8 * time.Hour
	starts := []struct{ zone, at string }{
		{"Asia/Tokyo", "2024-02-28T20:00:00+09:00"},
		{"Asia/Kolkata", "2024-12-31T22:00:00+05:30"},
		{"UTC", "2023-02-28T21:00:00Z"},
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	found := 0
	for n := range 120 {
		from := starts[n%len(starts)]
		loc := location(t, from.zone)
		begin := instant(t, from.at).In(loc)
		p := randomPlain(rnd)
		s := mustParse(t, p.text)
		next := s.Next(begin, loc)
		for offset := time.Second; offset < window; offset += time.Second {
			at := begin.Add(offset)
			ticks := p.allows(at)
			if ticks != next.Equal(at) {
				t.Fatalf("%q in %s: tick at %s is %t, but Next after the tick before is %s", p.text, from.zone, at, ticks, next)
			}
			if ticks {
				found++
				next = s.Next(at, loc)
			}
		}
	}
	if found < 500 {
		t.Errorf("only %d ticks were compared", found)
	}
}

func FuzzParseSchedule(f *testing.F) {
	for _, text := range []string{
		"0 */5 * * * *", "30 9 * * 1-5", "0 0 0 29 2 *", "5/7,1-9/2 * * * Jan-mar Mon", "24:00:00", "00:00:00.5",
		"1.02:03:04", "0 0 0 L * ?", "*/99999999999999999999 * * * * *", "0 0 0 31 2-6/2 *",
	} {
		f.Add(text, int64(1_700_000_000))
	}
	loc, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string, at int64) {
		s, err := timer.ParseSchedule(text)
		if err != nil {
			return
		}
		after := time.Unix(at%200_000_000_000, 0)
		if after.Year() < 1 {
			return
		}
		next := s.Next(after, loc)
		if !timer.IsNever(next) && !next.After(after) {
			t.Errorf("Next(%q, %s) = %s, not after it", text, after, next)
		}
		if s.Period() <= 0 {
			t.Errorf("Period(%q) = %s", text, s.Period())
		}
	})
}
