package logs_test

import (
	"github.com/hyperpod-cli/hyperpod/internal/jobs/logs"
	"github.com/hyperpod-cli/hyperpod/internal/present/jobtext"
)

func init() { logs.Worded = jobtext.Error }
