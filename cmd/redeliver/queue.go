package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/host/web/control"
)

func newSend(std streams) *cobra.Command {
	return group("send queue|servicebus|eventgrid|eventhub|cosmos NAME [BODY|-]", "Send a message to a queue or topic of the running host",
		newSendQueue(std), newSendBus(std), newSendGrid(std), newSendHub(std), newSendCosmos(std))
}

func newSendQueue(std streams) *cobra.Command {
	var t target
	var raw, asJSON bool
	var delay, ttl string
	cmd := &cobra.Command{
		Use:   "queue NAME [BODY|-]",
		Short: "Put a message on a storage queue",
		Long: `Send puts one message on a storage queue of the running host, and makes the
queue when it does not exist. BODY is the message; "-" reads it from the
standard input, and without it the message is empty. It is encoded as the app
expects it (host.json, extensions.queues.messageEncoding), base64 unless set
otherwise; --raw puts the text on the queue as it is.`,
		Example: `  redeliver send queue orders '{"id":"7","fail":true}'
  redeliver send queue orders --delay 30s --ttl 10m - < order.json`,
		Args:              arguments(1, 2),
		ValidArgsFunction: completeQueues(&t, anyName),
		RunE: func(cmd *cobra.Command, args []string) error {
			query, err := lifeOf(delay, ttl)
			if err != nil {
				return err
			}
			in, err := body(std, args[1:])
			if err != nil {
				return err
			}
			if err := segment(args[0], queue.ValidateName); err != nil {
				return err
			}
			name := url.PathEscape(args[0])
			if raw {
				query.Set("raw", "true")
			}
			var m control.Message
			if done, err := callHost(cmd, &t, std, asJSON, http.MethodPost, "/queues/"+name+"/messages", query, in, &m); done || err != nil {
				return err
			}
			newConsole(std, true).printf("sent %s to queue %q\n", m.ID, args[0])
			return nil
		},
	}
	cmd.Flags().BoolVar(&raw, "raw", false, "do not encode the body")
	cmd.Flags().StringVar(&delay, "delay", "", "keep the message invisible for this long first, e.g. 30s")
	cmd.Flags().StringVar(&ttl, "ttl", "", "let the message expire after this long, e.g. 10m, or never (default 168h)")
	addJSON(cmd, &asJSON)
	addTarget(cmd, &t)
	return cmd
}

// lifeOf are the parameters of a delay and a time to live, which may be empty. Those
// that no message can have are refused; the service knows the upper limits.
func lifeOf(delay, ttl string) (url.Values, error) {
	query := url.Values{}
	if delay != "" {
		d, err := parseSpan(delay)
		if err != nil || d < 0 {
			return nil, &usageError{fmt.Errorf("--delay %q: want a duration of 0 or more, %s", delay, spanForms)}
		}
		query.Set("visibility", d.String())
	}
	switch ttl {
	case "":
	case "never":
		query.Set("ttl", ttl)
	default:
		d, err := parseSpan(ttl)
		if err != nil || d < time.Second {
			return nil, &usageError{fmt.Errorf("--ttl %q: want never or a duration of 1s or more, %s", ttl, spanForms)}
		}
		query.Set("ttl", d.String())
	}
	return query, nil
}

func newPeek(std streams) *cobra.Command {
	return group("peek queue|servicebus|cosmos|output NAME", "Show the messages, documents or outputs that the running host holds",
		newPeekQueue(std), newPeekBus(std), newPeekCosmos(std), newPeekOutput(std))
}

func newPeekQueue(std streams) *cobra.Command {
	var t target
	var v view
	var id string
	var most int
	cmd := &cobra.Command{
		Use:   "queue NAME",
		Short: "Show the visible messages of a storage queue, and change nothing",
		Long: `Peek shows the visible messages of a storage queue of the running host, oldest
first, each with its dequeue count and decoded body, and in a poison queue with
the error that brought it there. Messages in work, messages that wait for their
redelivery, and delayed messages are counted and not shown. --id shows a message
in any state.`,
		Example: `  redeliver peek queue orders-poison
  redeliver peek queue orders --id 09892d75-70f2-4697-82d3-26e0055bdef6`,
		Args:              arguments(1, 1),
		ValidArgsFunction: completeQueues(&t, anyName),
		RunE: func(cmd *cobra.Command, args []string) error {
			asJSON, err := v.json()
			if err != nil {
				return err
			}
			if most < 1 || most > 32 {
				return &usageError{errors.New("--max: want a number from 1 to 32")}
			}
			if err := segment(args[0], queue.ValidateName); err != nil {
				return err
			}
			name := url.PathEscape(args[0])
			query := url.Values{"max": {strconv.Itoa(most)}}
			if id != "" {
				query.Set("id", id)
			}
			var found control.Peeked
			if done, err := callHost(cmd, &t, std, asJSON, http.MethodGet, "/queues/"+name+"/messages", query, nil, &found); done || err != nil {
				return err
			}
			showPeeked(std, &found, id != "")
			return nil
		},
	}
	v.add(cmd)
	cmd.Flags().IntVar(&most, "max", 32, "show at most this many messages, 1 to 32")
	cmd.Flags().StringVar(&id, "id", "", "show only the message with this ID, visible or not")
	addTarget(cmd, &t)
	return cmd
}

// showPeeked writes messages; only one was asked for when only is set.
func showPeeked(std streams, found *control.Peeked, only bool) {
	var b strings.Builder
	hidden := found.Count - len(found.Messages)
	writef(&b, "queue %q: %s", found.Queue, plural(found.Count, "message"))
	if hidden > 0 && !only {
		writef(&b, ", %d not shown (in work, waiting or beyond --max)", hidden)
	}
	b.WriteByte('\n')
	for _, m := range found.Messages {
		writef(&b, "%s  dequeue count %d  inserted %s", m.ID, m.DequeueCount, m.Inserted.Local().Format(time.DateTime))
		if !m.NextVisible.IsZero() {
			writef(&b, "  invisible until %s", m.NextVisible.Local().Format(time.DateTime))
		}
		b.WriteByte('\n')
		switch {
		case m.Undecodable != "":
			writef(&b, "  %s\n  (%s)\n", m.Text, m.Undecodable)
		case m.Body != nil:
			writef(&b, "  %s\n", block(*m.Body, "  "))
		default:
			writef(&b, "  %d bytes that are not text, as base64: %s\n", len(m.Binary), m.Text)
		}
		if m.LastError != "" {
			writef(&b, "  last error: %s\n", block(m.LastError, "  "))
		}
	}
	newConsole(std, true).print(b.String())
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if stem, ok := strings.CutSuffix(what, "y"); ok {
		return strconv.Itoa(n) + " " + stem + "ies"
	}
	return strconv.Itoa(n) + " " + what + "s"
}

func newInvoke(std streams) *cobra.Command {
	var t target
	cmd := &cobra.Command{
		Use:   "invoke FUNCTION [BODY|-]",
		Short: "Run a function of the running host by hand",
		Long: `Invoke runs a function once, as the admin API does, and waits for the result.
BODY takes the place of the trigger's data (a queue message's text, a request's
body; a timer ignores it); "-" reads it from the standard input. The retry
policy applies. No queue counts a delivery, and no message becomes poison.
Disabled functions run too.

The answer of an HTTP function goes to the standard output. The exit code is 1
when the last attempt failed.`,
		Example: `  redeliver invoke ProcessOrder '{"id":"7"}'`,
		Args:    arguments(1, 2),
		ValidArgsFunction: completeFirst(&t, noMore, func(inv *control.Inventory) (names []string) {
			for _, f := range inv.Functions {
				names = append(names, f.Name)
			}
			return names
		}),
		RunE: func(cmd *cobra.Command, args []string) error {
			in, err := body(std, args[1:])
			if err != nil {
				return err
			}
			if err := segment(args[0], functionName); err != nil {
				return err
			}
			c, err := t.find()
			if err != nil {
				return err
			}
			res, err := call(cmd.Context(), c, control.Invoke{Name: args[0], Input: in})
			if err != nil {
				return err
			}
			return showResult(newConsole(std, true), args[0], &res)
		},
	}
	addTarget(cmd, &t)
	return cmd
}

// functionName checks the name of a function.
func functionName(name string) error {
	return fmt.Errorf("function %q: want a letter, then letters, digits, _ and -; 128 characters in all", name)
}

func showResult(out *console, function string, res *control.InvokeResult) error {
	if !res.Succeeded {
		return fmt.Errorf("%s failed after %s: %s", function, plural(res.Attempts, "attempt"), brief(res.Error))
	}
	if r := res.Response; r != nil {
		out.data(r.Body)
		if n := len(r.Body); n > 0 && r.Body[n-1] != '\n' {
			out.print("\n")
		}
		out.say("info", fmt.Sprintf("%s answered %d after %s", function, r.StatusCode, plural(res.Attempts, "attempt")))
		return nil
	}
	out.printf("%s succeeded after %s\n", function, plural(res.Attempts, "attempt"))
	return nil
}

func newClock(std streams) *cobra.Command {
	var t target
	show := func(cmd *cobra.Command, in control.Operation[control.ClockStatus]) error {
		st, _, err := askHost(cmd, &t, std, false, in)
		if err != nil {
			return err
		}
		newConsole(std, true).printf("%s  (%s virtual, %s real since the start)\n", st.Now.Format(time.RFC3339),
			roundTime(time.Duration(st.VirtualElapsedMS)*time.Millisecond), roundTime(time.Duration(st.RealElapsedMS)*time.Millisecond))
		return nil
	}
	cmd := &cobra.Command{
		Use:   "clock",
		Short: "Show or move the clock of the running host",
		Args:  knownCommand,
		RunE: func(cmd *cobra.Command, args []string) error {
			return show(cmd, control.GetClock{})
		},
	}
	addTarget(cmd, &t)
	advance := &cobra.Command{
		Use:     "advance DURATION",
		Short:   "Move the clock; everything that becomes due on the way happens",
		Example: `  redeliver clock advance 15m`,
		Args:    arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			by, err := parseSpan(args[0])
			if err != nil || by <= 0 || by > control.LongestAdvance {
				return &usageError{fmt.Errorf("%q: want a duration above 0 and at most 8784h (P366D), %s", args[0], spanForms)}
			}
			return show(cmd, control.AdvanceClock{By: by})
		},
	}
	addTarget(advance, &t)
	cmd.AddCommand(advance)
	return cmd
}
