package templates

import (
	"strconv"

	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
)

// acceleratePort is where Accelerate's processes meet.
const acceleratePort = "29500"

// accelerateFlags are the flags for `accelerate launch`: the processes of all
// nodes and, for several nodes, the rank of each and the first pod's address.
func (s *settings) accelerateFlags(job *jobobject.View) []string {
	total := s.nodes.n * s.tasks.n
	flags := []string{"--num_machines=" + strconv.Itoa(s.nodes.n), "--num_processes=" + strconv.Itoa(total)}
	switch {
	case s.devices.n == 0 && s.hasType:
		flags = append(flags, "--cpu")
	case total > 1 && !neuron(s.resource):
		flags = append(flags, "--multi_gpu")
	}
	if s.nodes.n < 2 || job == nil {
		return flags
	}
	host := job.FirstPod(s.name)
	if host == "" {
		s.notef("several nodes of a %s have no meeting point that accelerate could be told; add --main_process_ip to the command", job.Kind.Kind)
		return flags
	}
	s.ranked = true
	return append(flags, "--machine_rank=$("+rankVariable+")", "--main_process_ip="+host, "--main_process_port="+acceleratePort)
}
