package azure_test

import (
	"testing"

	"github.com/redeliver/redeliver/host/hosttest/leaktest"
)

// TestMain ends Azurite after the tests.
func TestMain(m *testing.M) { leaktest.Main(m, azurite.stop, azuriteBlobs.stop, azuriteTables.stop) }
