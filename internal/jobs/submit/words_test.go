package submit_test

import (
	"github.com/hyperpod-cli/hyperpod/internal/jobs/submit"
	"github.com/hyperpod-cli/hyperpod/internal/present/jobtext"
)

func init() { submit.Worded = jobtext.Error }
