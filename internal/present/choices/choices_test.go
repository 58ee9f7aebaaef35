package choices_test

import (
	"slices"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/discovery"
	"github.com/hyperpod-cli/hyperpod/internal/present/choices"
)

func TestTexts(t *testing.T) {
	in := []discovery.Note{
		{Code: discovery.NamespaceFound, Name: "team"},
		{Code: discovery.NamespaceLast, Name: "team"},
		{Code: discovery.QueueAssumed, Name: "q", Namespace: "team"},
		{Code: discovery.QueueUnchecked, Name: "q", Namespace: "team", NotInFile: true},
		{Code: discovery.QueueStopped, Name: "q", StopPolicy: "Hold"},
		{Code: discovery.QueuesUnreadable, Namespace: "team"},
		{Code: discovery.NoQueue, Namespace: "team"},
		{Code: discovery.SeveralQueues, Namespace: "team", Available: []string{"a", "b"}},
		{Code: discovery.SeveralQueues, Namespace: "team", Available: []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}},
		{Code: discovery.NoKueue},
		{Code: discovery.NoPriority},
		{Code: discovery.PriorityUnchecked, Name: "urgent"},
		{Code: discovery.PriorityNoKueue, Name: "urgent"},
	}
	want := []string{
		"using namespace team",
		"using namespace team, the last one that worked",
		"using queue q by its usual name: no permission to list localqueues in namespace team",
		"queue q is not checked: the snapshot has no localqueues in namespace team",
		"queue q is stopped (Hold): jobs wait until an administrator resumes it",
		"no queue: no permission to list localqueues in namespace team (set --queue-name NAME)",
		"no queue: namespace team has none, so Kueue does not manage the job",
		"no queue: namespace team has several (set --queue-name NAME: a, b)",
		"no queue: namespace team has several (set --queue-name NAME: a, b, c, d, e, f, g, h and 2 more)",
		"no queue: this cluster has no Kueue",
		"priority not set: the job ranks lowest",
		"priority class urgent is not checked, so this must be its full name: no permission to list workloadpriorityclasses",
		"priority class urgent has no effect: this cluster has no Kueue",
	}
	for i, got := range choices.Texts(in) {
		if got != want[i] {
			t.Errorf("got %q, want %q", got, want[i])
		}
	}
	if slices.Contains(choices.Texts([]discovery.Note{{Code: "x"}}), "") {
		t.Error("a note without words is lost")
	}
}
