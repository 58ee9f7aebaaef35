package slurmtext

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/slurm"
	"github.com/hyperpod-cli/hyperpod/internal/slurm/client"
)

// Error words an error of a command of Slurm; other errors stay as they are.
func Error(what string, err error) error {
	var e *client.Error
	if !errors.As(err, &e) {
		return err
	}
	out := errs.New(what, why(e)).WithCause(err)
	switch e.Code {
	case client.UnknownJob, client.UnknownNode, client.NoPartition, client.NoAccount, client.NoQOS, client.NoCommand:
		out.Code = errs.NotFound
	case client.NeverFits:
		out.Code = errs.No
	case client.Denied:
		out.Code = errs.Denied
	case client.TimedOut:
		out.Code = errs.Timeout
	}
	if e.Message != "" && e.Code != client.Other {
		out.WithFact("message", e.Message)
	}
	switch e.Code {
	case client.Down, client.TimedOut:
		out.WithAdvice("try again; scontrol ping shows whether the controller runs")
	case client.NotSet:
		out.WithAdvice("run the command on the head or a login node, or set SLURM_CONF")
	}
	return out
}

func why(e *client.Error) string {
	switch e.Code {
	case client.Down:
		return "the Slurm controller does not answer"
	case client.NotSet:
		return "this machine has no configuration of Slurm"
	case client.NoCommand:
		return e.Command + " is not on the PATH"
	case client.UnknownJob:
		return "Slurm has no job with this number"
	case client.UnknownNode:
		return "Slurm has no node with this name"
	case client.NoPartition:
		return "the partition does not exist"
	case client.NoAccount:
		return "the account does not exist, or has no permission to use the partition"
	case client.NoQOS:
		return "the QOS does not exist, or the account has no permission to use it"
	case client.NeverFits:
		return "no nodes of the partition provide what it requests"
	case client.Denied:
		return "permission denied"
	case client.TimedOut:
		return fmt.Sprintf("%s did not end within %s", e.Command, e.Limit)
	case client.TooLarge:
		return e.Command + " printed more than this program reads"
	case client.Unreadable:
		return "the output of " + e.Command + " has an unexpected form"
	}
	if e.Message != "" {
		return e.Message
	}
	return e.Command + " failed"
}

// Problem words why a submission has no sbatch script; other errors stay as they are.
func Problem(err error) error {
	var p *slurm.Problem
	if !errors.As(err, &p) {
		return err
	}
	switch p.Code {
	case slurm.NoProgram:
		return errs.Usagef("no program is given").Suggest(errs.Option("--entry-script", "train.py"), errs.Option("--command", "python train.py"))
	case slurm.UnknownType:
		e := errs.NotFoundf("instance type %q not found", p.Value).Suggest(errs.Run("list-instance-types"))
		if len(p.Near) > 0 {
			e.WithFact("did you mean", strings.Join(p.Near, ", "))
		}
		return e
	case slurm.NotRendezvous:
		return errs.Usagef("rendezvous backend %s requires an endpoint on Slurm", p.Value).Suggest(errs.Option("--rdzv-endpoint", "HOST:PORT"))
	}
	must := "must have only letters, digits and . _ - / : % on Slurm"
	switch p.Code {
	case slurm.NotQuantity:
		must = "must be a quantity, for example 8 or 64Gi"
	case slurm.NotVariable:
		must = "must be the name of a variable: letters, digits and _"
	}
	return errs.Usagef("invalid %s %q: %s", p.Field, p.Value, must)
}
