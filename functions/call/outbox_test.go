package call_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/functions/functionpb"
)

func outbox() *call.Outbox[*functionpb.HandlerMessage] {
	return call.NewOutbox(func(id uint64, p *functionpb.Piece) *functionpb.HandlerMessage {
		return &functionpb.HandlerMessage{Call: id, Content: &functionpb.HandlerMessage_Piece{Piece: p}}
	})
}

func logLine(id uint64, text string) *functionpb.HandlerMessage {
	return &functionpb.HandlerMessage{Call: id, Content: &functionpb.HandlerMessage_Log{Log: &functionpb.Log{Message: text}}}
}

// drain puts messages in and returns what leaves, one line for each frame. Large
// messages are put together again.
func drain(t *testing.T, messages ...*functionpb.HandlerMessage) []string {
	t.Helper()
	o, pieces := outbox(), call.Pieces{}
	var left int
	for _, m := range messages {
		if err := o.Put(m); err != nil {
			t.Fatal(err)
		}
		left++
	}
	var frames []string
	err := o.Run(func(frame []*functionpb.HandlerMessage) error {
		text := ""
		for _, m := range frame {
			if size := proto.Size(m); size > call.PieceSize+100 {
				t.Errorf("a message of %d bytes in a frame", size)
			}
			p := m.GetPiece()
			if p == nil {
				text += fmt.Sprintf("%d:%.3s ", m.GetCall(), m.GetLog().GetMessage())
				left--
				continue
			}
			raw, whole := pieces.Add(m.GetCall(), p)
			text += fmt.Sprintf("%d:piece ", m.GetCall())
			if whole {
				var got functionpb.HandlerMessage
				if err := proto.Unmarshal(raw, &got); err != nil || !proto.Equal(&got, messages[got.GetCall()-1]) {
					t.Errorf("call %d: the message differs, or %v", m.GetCall(), err)
				}
				text += "whole "
				left--
			}
		}
		frames = append(frames, text)
		if left == 0 {
			o.Close()
		}
		return nil
	})
	if err != nil {
		t.Errorf("Run: %v", err)
	}
	return frames
}

// large is a log line of n pieces.
func large(id uint64, n int) *functionpb.HandlerMessage {
	return logLine(id, string(bytes.Repeat([]byte{'a' + byte(id)}, n*call.PieceSize-100)))
}

func TestOneFrameHoldsAllWaitingMessages(t *testing.T) {
	t.Parallel()
	got := drain(t, logLine(1, "a"), logLine(2, "b"), logLine(1, "c"))
	if diff := cmp.Diff([]string{"1:a 2:b 1:c "}, got); diff != "" {
		t.Errorf("frames (-want +got):\n%s", diff)
	}
}

// Large messages take turns, and hold up their own call only.
func TestLargeMessagesTakeTurns(t *testing.T) {
	t.Parallel()
	got := drain(t, large(1, 3), large(2, 2), logLine(3, "c"), logLine(1, "z"), logLine(3, "d"))
	want := []string{
		"3:c 3:d 1:piece ",
		"2:piece ",
		"1:piece ",
		"2:piece whole ",
		"1:piece whole ",
		"1:z ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("frames (-want +got):\n%s", diff)
	}
}

func TestLargeBehindLarge(t *testing.T) {
	t.Parallel()
	o := outbox()
	for _, m := range []*functionpb.HandlerMessage{large(1, 2), logLine(1, "between"), large(1, 3), logLine(1, "last")} {
		if err := o.Put(m); err != nil {
			t.Fatal(err)
		}
	}
	pieces := call.Pieces{}
	var got []string
	add := func(m *functionpb.HandlerMessage) {
		got = append(got, fmt.Sprint(len(m.GetLog().GetMessage())))
		if m.GetLog().GetMessage() == "last" {
			o.Close()
		}
	}
	_ = o.Run(func(frame []*functionpb.HandlerMessage) error {
		for _, m := range frame {
			if m.GetPiece() == nil {
				add(m)
				continue
			}
			if raw, whole := pieces.Add(1, m.GetPiece()); whole {
				var m functionpb.HandlerMessage
				if err := proto.Unmarshal(raw, &m); err != nil {
					t.Error(err)
				}
				add(&m)
			}
		}
		return nil
	})
	want := []string{fmt.Sprint(2*call.PieceSize - 100), "7", fmt.Sprint(3*call.PieceSize - 100), "4"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lengths in order (-want +got):\n%s", diff)
	}
}

// A frame of many small messages has a limit too.
func TestFramesAreLimited(t *testing.T) {
	t.Parallel()
	var messages []*functionpb.HandlerMessage
	for range 1000 {
		messages = append(messages, logLine(1, string(make([]byte, 1<<10))))
	}
	if got := drain(t, messages...); len(got) != 16 {
		t.Errorf("1000 KiB left in %d frames, want 16", len(got))
	}
}

func TestFailedSendEndsRun(t *testing.T) {
	t.Parallel()
	o, broken := outbox(), errors.New("broken")
	if err := o.Put(logLine(1, "a")); err != nil {
		t.Fatal(err)
	}
	if err := o.Run(func([]*functionpb.HandlerMessage) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("Run: %v, want the error of send", err)
	}
	if err := o.Put(logLine(1, "b")); err != nil {
		t.Errorf("Put afterwards: %v; want nothing, the message is lost", err)
	}
}

// A large message leaves after what its call has said before, however much others
// have to say; neither a call's result nor another line overtakes a line.
func TestLargeMessageOvertakesNothingOfItsCall(t *testing.T) {
	t.Parallel()
	for name, before := range map[string][]*functionpb.HandlerMessage{
		"behind others":            {logLine(1, "small")},
		"behind others, and large": {large(1, 2), logLine(1, "small")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, pieces := outbox(), call.Pieces{}
			put := func(m *functionpb.HandlerMessage) {
				if err := o.Put(m); err != nil {
					t.Fatal(err)
				}
			}
			for range 8 {
				put(logLine(2, string(make([]byte, call.PieceSize))))
			}
			for _, m := range before {
				put(m)
			}
			put(large(1, 2))
			put(logLine(1, "last"))
			var got []int
			add := func(m *functionpb.HandlerMessage) {
				if m.GetCall() == 1 {
					got = append(got, len(m.GetLog().GetMessage()))
				}
				if m.GetLog().GetMessage() == "last" {
					o.Close()
				}
			}
			sent := 0
			_ = o.Run(func(frame []*functionpb.HandlerMessage) error {
				if sent++; sent < 8 { // others go on
					put(logLine(2, string(make([]byte, call.PieceSize))))
				}
				for _, m := range frame {
					if m.GetPiece() == nil {
						add(m)
					} else if raw, whole := pieces.Add(m.GetCall(), m.GetPiece()); whole {
						var m functionpb.HandlerMessage
						if err := proto.Unmarshal(raw, &m); err != nil {
							t.Error(err)
						}
						add(&m)
					}
				}
				return nil
			})
			var want []int
			for _, m := range append(before, large(1, 2), logLine(1, "last")) {
				want = append(want, len(m.GetLog().GetMessage()))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("lengths in order (-want +got):\n%s", diff)
			}
		})
	}
}
