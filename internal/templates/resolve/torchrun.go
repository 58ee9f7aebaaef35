package resolve

import (
	"net"
	"strconv"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

const (
	c10dPort   = "29400" // torchrun's default
	etcdPort   = "2379"
	staticPort = "41000" // the official CLI v2's
	// RankVariable holds the rank of the pod's node, from a label of the pod.
	RankVariable = "NODE_RANK"
	RankLabel    = "training.kubeflow.org/replica-index"
)

// meetingPoint completes the rendezvous from the flags, the parameters of the template and the elastic policy
// of the manifest.
func (s *Plan) meetingPoint(job *jobobject.View) error {
	r := s.Values.Rendezvous
	if r != (values.Rendezvous{}) && !s.Template.Uses(setting.RdzvBackend) && !s.Template.Uses(setting.RdzvEndpoint) {
		if err := s.meetsOtherwise(job); err != nil {
			return err
		}
	}
	text := func(have string, param setting.Setting) string {
		if have != "" {
			return have
		}
		v, _ := s.fromParameters(param)
		return manifest.TextOf(v)
	}
	r.Backend, r.Endpoint = text(r.Backend, setting.RdzvBackend), text(r.Endpoint, setting.RdzvEndpoint)
	if job != nil && job.Kind.Launch().Elastic == kinds.ElasticTorch {
		policy := jobobject.Inner(job.Object, "spec", "elasticPolicy")
		if r.Backend == "" {
			r.Backend = manifest.TextOf(policy["rdzvBackend"])
		}
		host := strings.ReplaceAll(manifest.TextOf(policy["rdzvHost"]), "${"+setting.Name.Placeholder()+"}", s.name)
		if r.Endpoint == "" && host != "" {
			r.Endpoint = host
			if port := manifest.TextOf(policy["rdzvPort"]); port != "" {
				r.Endpoint = net.JoinHostPort(host, port)
			}
		}
	}
	if strings.HasPrefix(s.Values.Rendezvous.Backend, "etcd") && r.Endpoint == "" {
		return setting.RdzvBackend.Requires(setting.RdzvEndpoint).Suggest(setting.RdzvEndpoint.Option("HOST:PORT"))
	}
	if manifest.Unfilled(r.Backend + " " + r.Endpoint) {
		r = values.Rendezvous{}
	}
	if err := r.Check(); err != nil {
		return err
	}
	s.rdzv = r
	return nil
}

// meetsOtherwise refuses the flags of the rendezvous for a job that does not pass them to torchrun.
func (s *Plan) meetsOtherwise(job *jobobject.View) error {
	if job != nil {
		switch job.Kind.Launch().Meets {
		case kinds.ByOperator:
			return setting.NotFor(job.Kind.Kind, setting.RdzvBackend, setting.RdzvEndpoint).WithFact("reason", "its operator arranges the rendezvous")
		case kinds.ByHostFile:
			return setting.NotFor(job.Kind.Kind, setting.RdzvBackend, setting.RdzvEndpoint).WithFact("reason", "its launcher reads the host file of the operator")
		}
	}
	program := Program(s.Launcher)
	if s.Values.Command == "" || program == "torchrun" {
		return nil
	}
	which := setting.RdzvEndpoint
	if s.Values.Rendezvous.Backend != "" {
		which = setting.RdzvBackend
	}
	return setting.Exclusive(which, setting.Command).WithFact("reason", "a rendezvous is for torchrun; the command starts "+program)
}

// withPort adds the port where an endpoint has none.
func withPort(endpoint, port string) string {
	if strings.Contains(endpoint, ":") {
		return endpoint
	}
	return endpoint + ":" + port
}

// rendezvousFlags returns the flags of torchrun for the rendezvous, nil if one node needs none.
func (s *Plan) rendezvousFlags(job *jobobject.View, elastic bool) []string {
	if s.Nodes.N < 2 && !elastic && s.rdzv == (values.Rendezvous{}) {
		return nil
	}
	backend, endpoint := s.rdzv.Backend, s.rdzv.Endpoint
	if backend == "" && neuron(s.Resource) && s.Devices.N > 0 && !elastic {
		backend = values.Static
	}
	first := job.FirstPod(s.name)
	if endpoint == "" {
		endpoint = first
	}
	switch backend {
	case values.Etcd, "etcd":
		return []string{"--rdzv_backend=" + backend, "--rdzv_endpoint=" + withPort(endpoint, etcdPort), "--rdzv_id=" + s.name}
	case values.Static:
		if first == "" {
			break
		}
		host, port, _ := strings.Cut(withPort(endpoint, staticPort), ":")
		s.Ranked = true
		return []string{"--node_rank=$(" + RankVariable + ")", "--master_addr=" + host, "--master_port=" + port}
	default:
		if endpoint == "" {
			break
		}
		return []string{"--rdzv_backend=" + values.C10d, "--rdzv_endpoint=" + withPort(endpoint, c10dPort), "--rdzv_id=" + s.name}
	}
	s.Notef("torchrun has no rendezvous endpoint for the nodes of %s; set one with %s HOST:PORT", words.WithArticle(job.Kind.Kind), setting.RdzvEndpoint)
	return nil
}

// TorchrunFlags returns the flags of the launcher. For torchrun: processes, nodes and the rendezvous.
// hyperpodrun finds the rendezvous itself. Other programs get no flags. Every version understands the spelling
// with _.
func (s *Plan) TorchrunFlags(job *jobobject.View) []string {
	prog := Program(s.Launcher)
	if prog == "" {
		prog = "torchrun" // a template without ${COMMAND} names it itself
	}
	if prog == "accelerate" && len(s.Launcher) == 2 && s.Launcher[1] == "launch" {
		return s.accelerateFlags(job)
	}
	if prog != "torchrun" && prog != "hyperpodrun" {
		return nil
	}
	least, most, elastic := s.nodeRange(job)
	nodes := strconv.Itoa(s.Nodes.N)
	if elastic {
		nodes = strconv.Itoa(least) + ":" + strconv.Itoa(most)
	}
	flags := []string{"--nnodes=" + nodes, "--nproc_per_node=" + strconv.Itoa(s.Tasks.N)}
	if prog != "torchrun" || job == nil || job.Kind.Launch().Meets == kinds.ByOperator {
		return flags
	}
	return append(flags, s.rendezvousFlags(job, elastic)...)
}
