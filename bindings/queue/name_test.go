package queue_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/queue"
)

func TestValidateQueueName(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 63)
	tests := []struct{ name, want string }{
		{"abc", ""},
		{"a-1", ""},
		{"0rders-in-2", ""},
		{long, ""},
		{"", "A queue name can't be null or empty"},
		{"ab", `A queue name must be from 3 through 63 characters long - "ab"`},
		{long + "a", `A queue name must be from 3 through 63 characters long - "` + long + `a"`},
		{"-ab", `The dash (-) character may not be the first or last letter - "-ab"`},
		{"ab-", `The dash (-) character may not be the first or last letter - "ab-"`},
		{"Orders", `Queue names must be all lower case - "Orders"`},
		{"test*", `A queue name can contain only letters, numbers, and dash(-) characters - "test*"`},
		{"münchen", `A queue name can contain only letters, numbers, and dash(-) characters - "münchen"`},
		{"a b", `A queue name can contain only letters, numbers, and dash(-) characters - "a b"`},
		{"a--b", "A queue name cannot contain consecutive dash(-) characters."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := queue.ValidateName(tt.name)
			if tt.want == "" {
				if err != nil {
					t.Fatalf("ValidateQueueName(%q) = %v, want nil", tt.name, err)
				}
				return
			}
			if err == nil || err.Error() != tt.want {
				t.Errorf("ValidateQueueName(%q) = %v, want %q", tt.name, err, tt.want)
			}
			if !errors.Is(err, bindings.ErrInvalidName) {
				t.Errorf("ValidateQueueName(%q) = %v, want an ErrInvalidName", tt.name, err)
			}
		})
	}
}

func TestQueueNameIsLowered(t *testing.T) {
	t.Parallel()
	got, err := queue.Name("Orders-IN")
	if got != "orders-in" || err != nil {
		t.Errorf(`QueueName("Orders-IN") = %q, %v, want "orders-in", nil`, got, err)
	}
	if _, err := queue.Name("Or_ders"); !errors.Is(err, bindings.ErrInvalidName) {
		t.Errorf(`QueueName("Or_ders") error = %v, want ErrInvalidName`, err)
	}
}

func TestPoisonQueueName(t *testing.T) {
	t.Parallel()
	tests := []struct {
		queue, want string
		ok          bool
	}{
		{"orders", "orders-poison", true},
		{"orders-poison", "", false},
		{"poison", "poison-poison", true},
		{strings.Repeat("a", 56), strings.Repeat("a", 56) + "-poison", true},
		{strings.Repeat("a", 57), "", false},
		{strings.Repeat("a", 63), "", false},
	}
	for _, tt := range tests {
		got, ok := queue.PoisonName(tt.queue)
		if got != tt.want || ok != tt.ok {
			t.Errorf("PoisonQueueName(%q) = %q, %v, want %q, %v", tt.queue, got, ok, tt.want, tt.ok)
		}
	}
}
