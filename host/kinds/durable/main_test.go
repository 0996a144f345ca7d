package durable_test

import (
	"testing"

	"github.com/redeliver/redeliver/host/hosttest/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }
