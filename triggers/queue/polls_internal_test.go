package queue

import (
	"math/rand/v2"
	"testing"
	"time"
)

// Looking ahead changes nothing: the result is the same as making each poll, also
// after polls that come before their time.
func TestPollsAheadAreThePollsMade(t *testing.T) {
	t.Parallel()
	begin := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for seed := range uint64(200) {
		jitter, chance := rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, 2))
		plain := backoff{max: time.Duration(1+chance.IntN(100)) * 100 * time.Millisecond, rand: jitter.Float64}
		other := rand.New(rand.NewPCG(seed, 1))
		ahead := polls{series: backoff{max: plain.max, rand: other.Float64}}
		now := begin
		ahead.made(now, true)
		at := now.Add(plain.next(true))
		for range 100 {
			from := at.Add(time.Duration(chance.Int64N(int64(5 * plain.max)))) // when there is something to find
			planned := ahead.next(from)
			if early := now.Add(time.Duration(1 + chance.Int64N(int64(planned.Sub(now))))); chance.IntN(3) == 0 {
				from = early // somebody wakes it before
			}
			for at.Before(from) { // these polls find nothing
				at = at.Add(plain.next(false))
			}
			if now = at; from.Before(planned) && from.Before(at) {
				now = from
			} else if now != planned {
				t.Fatalf("seed %d: the first poll from %v on is at %v, want %v", seed, from.Sub(begin), planned.Sub(begin), at.Sub(begin))
			}
			ahead.made(now, false)
			at = now.Add(plain.next(false))
			if got := ahead.next(now); !got.Equal(at) {
				t.Fatalf("seed %d: after a poll at %v the next is at %v, want %v", seed, now.Sub(begin), got.Sub(begin), at.Sub(begin))
			}
		}
	}
}
