package jobtext

import (
	"fmt"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Incomplete says that a pod group lacks pods.
func Incomplete(group string, pods, whole int) string {
	return fmt.Sprintf("pod group %s has %d of its %s", group, pods, words.Count(whole, "pod", "pods"))
}

// Mismatch says in what two pods of a group differ.
func Mismatch(m *kinds.GroupMismatch) string {
	pods := fmt.Sprintf("pods %s and %s", m.Pods[0], m.Pods[1])
	switch {
	case !m.Queues:
		return fmt.Sprintf("%s have different sizes of the group (%s): %s and %s", pods, kinds.PodGroupTotal, m.Values[0], m.Values[1])
	case m.Values[0] == "":
		return fmt.Sprintf("%s have different queues: none and %s", pods, m.Values[1])
	case m.Values[1] == "":
		return fmt.Sprintf("%s have different queues: %s and none", pods, m.Values[0])
	}
	return fmt.Sprintf("%s have different queues: %s and %s", pods, m.Values[0], m.Values[1])
}
