// Package doctortext words the diagnoses of package doctor.
package doctortext

import (
	"fmt"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/doctor"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/versions"
	"github.com/hyperpod-cli/hyperpod/internal/present/notetext"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Fill sets the texts of diagnoses that have none. line writes a suggestion.
func Fill(list []doctor.Diagnosis, line func(errs.Suggestion) string) {
	for i := range list {
		d := &list[i]
		if d.Message != "" {
			continue
		}
		var advice string
		d.Message, advice = message(*d)
		if d.Advice == "" {
			d.Advice = advice
		}
		fromError(d)
		if d.Reason == doctor.NotActive {
			d.Suggest = suggest.GetQuota().WithNote("shows the reason")
		}
		if d.Try == "" && len(d.Suggest.Args) > 0 {
			d.Try = line(d.Suggest)
		}
	}
}

// fromError takes advice and a suggestion from the error of a diagnosis.
func fromError(d *doctor.Diagnosis) {
	if d.Status != doctor.Fail && d.Status != doctor.Warn {
		return
	}
	for _, err := range errs.Each(d.Err) {
		e, ok := err.(*errs.Error)
		if !ok {
			continue
		}
		for _, f := range e.Facts {
			if f.Label == "advice" && d.Advice == "" {
				d.Advice = f.Text
			}
		}
		if len(e.Try) > 0 && len(d.Suggest.Args) == 0 {
			d.Suggest = e.Try[0]
		}
	}
}

// subjects are what a diagnosis examines, for reasons that are the same everywhere.
var subjects = map[doctor.Code]string{
	doctor.Connection: "the API server", doctor.Latency: "the latency", doctor.Clock: "the clock of the server", doctor.Credentials: "the user",
	doctor.Namespace: "the namespace", doctor.Permissions: "permissions", doctor.Services: "permissions for services", doctor.Kueue: "Kueue's API", doctor.Configuration: "Kueue's configuration",
	doctor.Rules: "Kueue's version", doctor.Controller: "Kueue's controller", doctor.Webhooks: "webhooks", doctor.Queues: "queues",
	doctor.QueuePositions: "positions in queues", doctor.JobKinds: "job kinds", doctor.Operators: "operators", doctor.Nodes: "nodes",
}

// needed is the permission for what is skipped without it.
var needed = map[doctor.Code]string{
	doctor.Controller: "get deployments in kueue-system", doctor.Configuration: "get configmaps in kueue-system", doctor.Nodes: "list nodes",
	doctor.Operators: "list deployments in all namespaces", doctor.Queues: "list clusterqueues",
	doctor.Webhooks: "list mutatingwebhookconfigurations, validatingwebhookconfigurations and endpointslices",
}

// message returns the sentence of a diagnosis and what to do.
func message(d doctor.Diagnosis) (text, advice string) {
	what := subjects[d.Code]
	switch d.Reason {
	case doctor.NoAnswer:
		return "no answer about " + what + " in time", "run the command again; if that does not help, the API server or the network is slow"
	case doctor.NoConnection:
		return "not examined: no connection to the API server", ""
	case doctor.NoPermission:
		if permission, ok := needed[d.Code]; ok {
			return "not examined: you need permission to " + permission, ""
		}
		return "not examined: no permission", ""
	case doctor.Failed:
		return d.Err.Error(), ""
	}
	names := words.Some(d.Names, 6)
	switch d.Code {
	case doctor.Settings:
		return "settings are valid", ""
	case doctor.Target:
		return "using " + names, ""
	case doctor.Connection:
		return connection(d)
	case doctor.Latency:
		text = fmt.Sprintf("a small request takes %s", d.Took.Round(100*time.Microsecond))
		if d.Status == doctor.Warn {
			advice = "commands send several requests one after the other; check the network or VPN"
		}
		return text, advice
	case doctor.Clock:
		return clock(d)
	case doctor.Credentials:
		if d.Reason == doctor.NotServed {
			return "the server does not report who you are", ""
		}
		return "signed in as " + names, ""
	case doctor.Namespace:
		return "commands work in namespace " + names, ""
	case doctor.Permissions:
		return permissions(d, names)
	case doctor.Services:
		return services(d, names)
	case doctor.Kueue:
		return kueueAPI(d, names)
	case doctor.Configuration:
		return configuration(d)
	case doctor.Rules:
		return rules(d)
	case doctor.Controller:
		return controller(d)
	case doctor.Webhooks:
		return webhooks(d, names)
	case doctor.Queues:
		return queues(d, names)
	case doctor.QueuePositions:
		if d.Reason == doctor.NotServed {
			return "Kueue's visibility API is not served: positions are computed", ""
		}
		return "Kueue's visibility API reports positions in queues", ""
	case doctor.JobKinds:
		if d.Reason == doctor.None {
			return "no operator's job kind is served, only those of Kubernetes", "install a training operator, for example Kubeflow's"
		}
		return "served: " + strings.Join(d.Names, ", "), ""
	case doctor.Operators:
		return operators(d, names)
	case doctor.Nodes:
		return nodes(d, names)
	}
	return string(d.Code), ""
}

// connection returns the sentence about the answer of the API server, and what to do.
func connection(d doctor.Diagnosis) (text, advice string) {
	if d.Reason == doctor.NotFound {
		return "the answer is not from a Kubernetes API server", "check the address in the kubeconfig, and proxies"
	}
	if d.Version == "" {
		return "the API server answers", ""
	}
	return "the API server answers: Kubernetes " + d.Version, ""
}

// permissions returns the sentence about the permissions of commands, and what to do.
func permissions(d doctor.Diagnosis, names string) (text, advice string) {
	switch d.Reason {
	case doctor.None:
		return "not examined: no namespace is known", ""
	case doctor.Incomplete:
		return fmt.Sprintf("%s of %d lack a required permission: %s", words.Count(d.Count, "command", "commands"), d.Of, names),
			"an administrator can grant them with governance rbac TEAM"
	}
	return fmt.Sprintf("every required permission of %s is granted", words.Count(d.Of, "command", "commands")), ""
}

// services returns the sentence about Deployments and Services, and what to do.
func services(d doctor.Diagnosis, names string) (text, advice string) {
	const add = "an administrator can grant them with governance rbac TEAM --services"
	switch {
	case d.Reason == doctor.None:
		return "not examined: no namespace is known", ""
	case d.Reason == doctor.Incomplete:
		return fmt.Sprintf("%d of %s for Deployments and Services %s missing: %s", d.Count, words.Count(d.Of, "permission", "permissions"), words.Verb(d.Count, "is", "are"), names), add
	case d.Count > 0:
		return "templates that create Deployments and Services need permissions that you do not have", add
	}
	return "every permission for Deployments and Services is granted", ""
}

// kueueAPI returns the sentence about Kueue's API, and what to do.
func kueueAPI(d doctor.Diagnosis, names string) (text, advice string) {
	switch d.Reason {
	case doctor.NotServed:
		return "the cluster has no Kueue", "install Kueue or the HyperPod task governance add-on; without it there are no quotas and queues"
	case doctor.OldVersion:
		return "the cluster serves only " + names + " of Kueue's API", "update Kueue: later versions no longer serve v1beta1"
	}
	if d.Version != "" {
		return "Kueue " + d.Version + " serves " + names, ""
	}
	return "Kueue serves " + names + "; its version is unknown", ""
}

// controller returns the sentence about Kueue's controller, and what to do.
func controller(d doctor.Diagnosis) (text, advice string) {
	switch d.Reason {
	case doctor.NotFound:
		return "Deployment kueue-controller-manager not found in kueue-system", "check how Kueue is installed"
	case doctor.NotReady:
		return "no pod of Kueue's controller is ready: nothing is admitted", "look at the pods in kueue-system: kubectl get pods -n kueue-system"
	}
	return words.Count(d.Count, "pod", "pods") + " of Kueue's controller " + words.Verb(d.Count, "is", "are") + " ready", ""
}

// webhooks returns the sentence about the webhooks for jobs and of Kueue, and what to do.
func webhooks(d doctor.Diagnosis, names string) (text, advice string) {
	switch d.Reason {
	case doctor.None:
		return "no webhook for jobs or Kueue is installed: jobs are not suspended on creation", "check how Kueue is installed"
	case doctor.NoCertificate:
		return "the API server cannot trust the webhooks of " + names + ": they have no CA certificate", "restart the controller that writes it, or check cert-manager"
	case doctor.NotReady:
		return "webhooks cannot be reached, and jobs are refused: " + names + " has no ready pod", "look at the pods behind the service"
	case doctor.NotServed:
		return "not examined: the server does not list webhooks", ""
	}
	return "the webhooks for jobs can be reached (" + words.Count(d.Count, "service", "services") + ")", ""
}

// queues returns the sentence about the queues, and what to do.
func queues(d doctor.Diagnosis, names string) (text, advice string) {
	switch d.Reason {
	case doctor.None:
		return "there are no queues", "an administrator creates them, for example with governance apply"
	case doctor.NotActive:
		return fmt.Sprintf("%d of %s %s not active: %s", d.Count, words.Count(d.Of, "queue", "queues"), words.Verb(d.Count, "is", "are"), names), ""
	case doctor.NotServed:
		return "not examined: the cluster has no Kueue", ""
	}
	return words.All(d.Of, "queue", "queues") + " " + words.Verb(d.Of, "is", "are") + " active", ""
}

// operators returns the sentence about the operators of job kinds, and what to do.
func operators(d doctor.Diagnosis, names string) (text, advice string) {
	switch d.Reason {
	case doctor.NotReady:
		return "no ready operator for " + names + ": jobs of its kinds do not start", "look at its pods, or install it"
	case doctor.None, doctor.NotServed:
		return "no known operator", ""
	}
	return "ready: " + names, ""
}

func clock(d doctor.Diagnosis) (text, advice string) {
	switch {
	case d.Reason == doctor.Unknown:
		return "the server does not report its time", ""
	case d.Took == 0:
		return "the clocks agree", ""
	case d.Took > 0:
		text = "this machine's clock is " + words.Age(d.Took) + " ahead of the server's"
	default:
		text = "this machine's clock is " + words.Age(-d.Took) + " behind the server's"
	}
	if d.Status != doctor.OK {
		advice = "set the clock (NTP): ages are wrong, and AWS refuses requests that are 5 minutes off"
	}
	return text, advice
}

func configuration(d doctor.Diagnosis) (text, advice string) {
	switch d.Reason {
	case doctor.NotServed:
		return "not examined: the cluster has no Kueue", ""
	case doctor.NotFound:
		return "Kueue's configuration is not in its usual place: the admission check assumes the defaults", ""
	case doctor.Unknown:
		return "Kueue's configuration is invalid", "ask an administrator to correct the ConfigMap kueue-manager-config"
	case doctor.Differs:
		var list []string
		for _, w := range d.Notes {
			list = append(list, notetext.Warning(&w))
		}
		return strings.Join(list, "; "), "verdicts have a note when this matters"
	}
	return "the admission check follows all of Kueue's configuration", ""
}

func rules(d doctor.Diagnosis) (text, advice string) {
	switch d.Reason {
	case doctor.Unknown:
		return "the cluster's Kueue version is unknown: verdicts follow the rules of " + versions.BuiltIn, ""
	case doctor.NotServed, doctor.NoAnswer:
		return "not examined: the cluster has no Kueue", ""
	case doctor.Differs:
		text = "the cluster runs Kueue " + d.Version + ": verdicts follow the rules of " + versions.BuiltIn
		if len(d.Names) == 0 {
			return text, "no known difference concerns the queues of this cluster"
		}
		var list []string
		for _, n := range d.Names {
			list = append(list, notetext.Difference(n))
		}
		return text + "; decisions may differ on " + words.Some(list, 6), "use a version of hyperpod with the cluster's rules if one of these matters"
	}
	return "the cluster's Kueue is " + d.Version + ", whose rules are built in", ""
}

func nodes(d doctor.Diagnosis, names string) (text, advice string) {
	switch d.Reason {
	case doctor.None:
		return "there are no nodes", ""
	case doctor.Unhealthy:
		return fmt.Sprintf("%d of %s %s no jobs: %s", len(d.Names), words.Count(d.Of, "node", "nodes"), words.Verb(len(d.Names), "takes", "take"), names), unhealthy(d)
	case doctor.Missing:
		return "nodes with accelerators lack HyperPod's health label: " + names, "jobs that select healthy nodes do not run there"
	}
	if d.Count == 0 {
		return words.Count(d.Of, "node", "nodes") + " ready; none has HyperPod's labels", ""
	}
	return fmt.Sprintf("%s ready, %d with HyperPod's health label", words.Count(d.Of, "node", "nodes"), d.Count), ""
}

// unhealthy says where the faults of nodes are: HyperPod reports those of its own.
func unhealthy(d doctor.Diagnosis) string {
	if d.Count == 0 {
		return "kubectl describe node NAME shows the reason"
	}
	return "list-cluster-nodes CLUSTER --faulty shows the faults of HyperPod's nodes"
}

// Lacking returns the permissions that commands lack, a line for each command. A table that is not wide says how to see them.
func Lacking(d doctor.Document, wide bool) (out []string) {
	for _, c := range d.CommandPermissions {
		if !c.Allowed {
			out = append(out, c.Command+" lacks "+strings.Join(c.MissingPermissions, ", "))
		}
	}
	if len(out) > 0 && !wide {
		return []string{"missing permissions of commands: see -o wide"}
	}
	return out
}

// Summary returns the last line: the answer.
func Summary(d doctor.Document) string {
	n := map[doctor.Status]int{}
	for _, x := range d.Diagnoses {
		n[x.Status]++
	}
	text := words.Count(n[doctor.OK], "check", "checks") + " passed"
	if n[doctor.Warn] > 0 {
		text += ", " + words.Count(n[doctor.Warn], "warning", "warnings")
	}
	if n[doctor.Fail] > 0 {
		text += fmt.Sprintf(", %d failed", n[doctor.Fail])
	}
	if n[doctor.Skipped] > 0 {
		text += fmt.Sprintf(", %d not examined", n[doctor.Skipped])
	}
	return text
}
