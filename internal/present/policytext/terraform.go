package policytext

import (
	"errors"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/terraform"
)

// TerraformError words an error of package terraform. Other errors stay as they are.
func TerraformError(err error) error {
	var e *terraform.Error
	if !errors.As(err, &e) {
		return err
	}
	var out *errs.Error
	switch e.Code {
	case terraform.NoGovernance:
		out = errs.New("no task governance in the Terraform plan", "it has no "+terraform.QuotaType+" and no "+terraform.PolicyType)
	case terraform.TwoPolicies:
		out = errs.New("two cluster policies in the Terraform plan", e.Other+" and "+e.Address)
	case terraform.InvalidResource:
		out = errs.New("cannot read "+e.Address, e.Err.Error())
	default:
		out = errs.New("cannot read the Terraform plan", e.Err.Error())
	}
	return out.WithCause(err)
}
