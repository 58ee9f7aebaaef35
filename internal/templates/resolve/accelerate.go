package resolve

import (
	"strconv"

	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// acceleratePort is where Accelerate's processes meet.
const acceleratePort = "29500"

// accelerateFlags returns the flags for `accelerate launch`: the processes of all
// nodes and, for several nodes, the rank of each and the first pod's address.
func (s *Plan) accelerateFlags(job *jobobject.View) []string {
	total := s.Nodes.N * s.Tasks.N
	flags := []string{"--num_machines=" + strconv.Itoa(s.Nodes.N), "--num_processes=" + strconv.Itoa(total)}
	switch {
	case s.Devices.N == 0 && s.HasType:
		flags = append(flags, "--cpu")
	case total > 1 && !neuron(s.Resource):
		flags = append(flags, "--multi_gpu")
	}
	if s.Nodes.N < 2 || job == nil {
		return flags
	}
	host := job.FirstPod(s.name)
	if host == "" {
		s.Notef("accelerate has no main process address for the nodes of %s; add --main_process_ip to the command", words.WithArticle(job.Kind.Kind))
		return flags
	}
	s.Ranked = true
	return append(flags, "--machine_rank=$("+RankVariable+")", "--main_process_ip="+host, "--main_process_port="+acceleratePort)
}
