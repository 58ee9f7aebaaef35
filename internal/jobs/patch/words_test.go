package patch_test

import (
	"github.com/hyperpod-cli/hyperpod/internal/jobs/patch"
	"github.com/hyperpod-cli/hyperpod/internal/present/jobtext"
)

func init() { patch.Worded = jobtext.Error }
