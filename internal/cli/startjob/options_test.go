package startjob

import (
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/catalogue"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/render"
	"github.com/hyperpod-cli/hyperpod/internal/templates/shellwords"
)

// Every option of start-job that says something about the job is seen in the
// finished object, for each kind of job; or the kind has no such thing, and the
// option is refused by its name (words that begin with "refused: ").
func TestEveryOptionOfEveryKind(t *testing.T) {
	all := func(want ...string) [3][]string { return [3][]string{want, want, want} }
	each := func(pytorch, mpi, hyperpod string) [3][]string { return [3][]string{{pytorch}, {mpi}, {hyperpod}} }
	for args, want := range map[string][3][]string{
		"--accelerators 4":                  all("nvidia.com/gpu: 4", "vpc.amazonaws.com/efa: 16"), // EFA in proportion
		"--accelerators 1":                  all("nvidia.com/gpu: 1", "vpc.amazonaws.com/efa: 4"),
		"--accelerators-limit 2":            all("nvidia.com/gpu: 2"),
		"--efa 2":                           all("vpc.amazonaws.com/efa: 2"),
		"--vcpu 7":                          all("cpu: \"7\""),
		"--memory 77Gi":                     all("memory: 77Gi"),
		"--vcpu 7 --vcpu-limit 9":           all("cpu: \"9\""),
		"--memory 77Gi --memory-limit 99Gi": all("memory: 99Gi"),
		"--accelerator-partition-type mig-1g.10gb --accelerator-partition-count 3": all("nvidia.com/mig-1g.10gb: 3"),
		"--tasks-per-node 3":                                        each("--nproc_per_node=3", "slotsPerWorker: 3", "nprocPerNode: \"3\""),
		"--preferred-topology rack":                                 all("kueue.x-k8s.io/podset-preferred-topology: rack"),
		"--required-topology rack":                                  all("kueue.x-k8s.io/podset-required-topology: rack"),
		"--volumes h:/host:/h":                                      all("path: /host", "mountPath: /h"),
		"--persistent-volume-claims fsx:/fsx":                       all("claimName: fsx", "mountPath: /fsx"),
		"--volumes name=e,type=emptyDir,mount_path=/e":              all("mountPath: /e", "name: e"),
		"--volumes name=f,type=fsx,claim_name=lustre,mount_path=/f": all("claimName: lustre", "mountPath: /f"),
		"--volumes name=g,type=efs,claim_name=efs,mount_path=/g":    all("claimName: efs", "mountPath: /g"),
		"--service-account-name sa":                                 all("serviceAccountName: sa"),
		"--toleration gpu=yes:NoSchedule":                           all("key: gpu", "value: \"yes\"", "effect: NoSchedule"),
		"--node-selector zone=a":                                    all("key: zone", "- a"),
		"--label-selector zone=a":                                   all("key: zone", "- a"),
		"--deep-health-check-passed-nodes-only":                     all("key: sagemaker.amazonaws.com/deep-health-check-status"),
		"--label team=x":                                            all("team: x"),
		"--annotation note=y":                                       all("note: \"y\""),
		"--environment A=b":                                         all("name: A", "value: b"),
		"--environment-from-secret T=s:k":                           all("name: T", "secretKeyRef:", "key: k"),
		"--environment-from-secret all":                             all("secretRef:", "name: all"),
		"--pre-script nvidia-smi":                                   all("nvidia-smi"),
		"--post-script ./upload":                                    all("./upload"),
		"--pull-policy Never":                                       all("imagePullPolicy: Never"),
		"--results-dir /out":                                        all("/out"),
		"--script-args '--lr 1'":                                    all("- --lr"),
		"--restart-policy Never":                                    all("restartPolicy: Never"),
		"--auto-resume --max-retry 3":                               each(`sagemaker.amazonaws.com/job-max-retry-count: "3"`, `sagemaker.amazonaws.com/job-max-retry-count: "3"`, "jobMaxRetryCount: 3"),
		"--ttl-after-finished 1h":                                   all("ttlSecondsAfterFinished: 3600"),
		"--active-deadline 2h":                                      all("activeDeadlineSeconds: 7200"),
		"--backoff-limit 5":                                         each("backoffLimit: 5", "backoffLimit: 5", "refused: --backoff-limit"),
		"--clean-pod-policy All":                                    all("cleanPodPolicy: All"),
		"--min-node-count 1 --max-node-count 4":                     each("maxReplicas: 4", "refused: --min-node-count", "maxReplicas: 4"),
		"--rdzv-backend etcd-v2 --rdzv-endpoint e:2379":             each("--rdzv_endpoint=e:2379", "refused: --rdzv-backend", "refused: --rdzv-backend"),
		"--command python":                                          all("- python"),
		"--elastic-replica-increment-step 1 --max-node-count 4":     each("refused: --elastic-replica-increment-step", "refused: ", "replicaIncrementStep: 1"),
		"--instance-type ml.trn1.32xlarge":                          each("aws.amazon.com/neurondevice: 16", "aws.amazon.com/neurondevice: 16", "aws.amazon.com/neurondevice: 16"),
	} {
		for i, name := range []string{"pytorch", "mpi", "hyperpod-pytorch"} {
			t.Run(args+" of "+name, func(t *testing.T) {
				words, err := shellwords.Split(args)
				if err != nil {
					t.Fatal(err)
				}
				base := []string{"--name", "j", "--template", name, "--image", "i", "--entry-script", "t.py", "--node-count", "2"}
				if !strings.Contains(args, "--instance-type") {
					base = append(base, "--instance-type", "ml.p5.48xlarge")
				}
				o, err := parsed(t, append(base, words...)...)
				if err != nil {
					t.Fatal(errs.Text(err, true))
				}
				tm, err := catalogue.Find(name, catalogue.Dirs{})
				if err != nil {
					t.Fatal(err)
				}
				v, err := o.values()
				if err != nil {
					t.Fatal(errs.Text(err, true))
				}
				r, err := render.Objects(tm, v)
				for _, w := range want[i] {
					if refusal, refused := strings.CutPrefix(w, "refused: "); refused {
						if errs.ExitOf(err) != errs.Usage || !strings.Contains(errs.Text(err, false), refusal) {
							t.Errorf("want a refusal with %q: %v", refusal, err)
						}
						continue
					}
					if err != nil {
						t.Fatal(errs.Text(err, true))
					}
					text, err := manifest.Marshal(r.Objects)
					if err != nil || !strings.Contains(string(text), w) {
						t.Errorf("no %q (%v) in\n%s", w, err, text)
					}
				}
			})
		}
	}
}
