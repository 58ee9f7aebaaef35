package cluster

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"testing"
)

// Supported says in one line why this machine cannot run a bed, or nil.
func Supported() error {
	if err := platformSupported(); err != nil {
		return err
	}
	if _, err := ownAddress(); err != nil {
		return err
	}
	if _, err := exec.LookPath("go"); err != nil {
		return errors.New("the test cluster needs the go command on PATH to build its binaries")
	}
	return nil
}

// Required says whether a machine that cannot run a bed is a failure: in CI, or when
// HYPERPOD_TEST_CLUSTER=required. HYPERPOD_TEST_CLUSTER=skip turns such tests off everywhere.
func Required() bool {
	switch os.Getenv("HYPERPOD_TEST_CLUSTER") {
	case "required":
		return true
	case "skip":
		return false
	}
	return os.Getenv("CI") == "true"
}

// ForTest starts a bed that ends with the test. Where none can run the test is skipped with the
// reason, or fails if one is Required.
func ForTest(t testing.TB, options Options) *Bed {
	t.Helper()
	require(t, options)
	if options.Log == nil {
		options.Log = t.Output()
	}
	bed, err := Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(bed.Check(), bed.Stop()); err != nil {
			t.Error(err)
		}
	})
	return bed
}

// require skips or fails the test if no bed can run.
func require(t testing.TB, options Options) {
	t.Helper()
	if skip, err := obstacle(t.Context(), options); err != nil {
		t.Fatal(err)
	} else if skip != "" {
		t.Skip(skip)
	}
}

// obstacle is the reason to skip tests that need a bed, or the error to fail them with.
func obstacle(ctx context.Context, options Options) (skip string, err error) {
	switch mode := os.Getenv("HYPERPOD_TEST_CLUSTER"); {
	case mode == "skip":
		return "HYPERPOD_TEST_CLUSTER=skip", nil
	case mode != "required" && testing.Short():
		return "tests on the real cluster are left out with -short", nil
	}
	unsupported := Supported()
	if Required() {
		return "", unsupported
	}
	if unsupported != nil {
		return unsupported.Error(), nil
	}
	if !Built(ctx, options.components()...) {
		// Building takes longer than a test may.
		return "the binaries of the test cluster are not built; run: go run ./test/cluster/cmd/testbed build", nil
	}
	return "", nil
}
