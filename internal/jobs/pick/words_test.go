package pick_test

import (
	"github.com/hyperpod-cli/hyperpod/internal/jobs/pick"
	"github.com/hyperpod-cli/hyperpod/internal/present/jobtext"
)

func init() { pick.Worded = jobtext.Error }
