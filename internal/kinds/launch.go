package kinds

// Launch is how the pods of a kind start the training.
type Launch struct {
	// Program starts it where neither the user nor the template names one, "" for torchrun.
	Program string
	// Meets is how the processes find each other.
	Meets Meeting
	// Tasks leads to the number of processes per node, nil for kinds without such a field;
	// TasksText: as a text. Where the elastic policy has TasksElastic, the number is there.
	Tasks        []string
	TasksText    bool
	TasksElastic string
	// Container is the name of the container that the operator looks for, "" for any.
	Container string
	// First is the name of the first pod as others can resolve it, nil for kinds without one.
	First func(name string, object map[string]any) string
	// Elastic is how a job says between which numbers of pods it may have.
	Elastic Elastic
	// Restart is where the policy after a failure of a pod is.
	Restart Restart
}

// Launch returns how the pods of the kind start the training. It is not part of Job, which is copied with each job of a list.
func (j Job) Launch() Launch {
	if j.launch == nil {
		return Launch{}
	}
	return *j.launch
}

// Meeting is how the processes of a job find each other.
type Meeting string

// The ways: by the flags of the launching program; by what the operator tells each pod; by
// a file with the hosts, which the launcher reads.
const (
	ByFlags    Meeting = ""
	ByOperator Meeting = "operator"
	ByHostFile Meeting = "host file"
)

// Elastic is a form of an elastic policy, spec.elasticPolicy. It is "" for kinds without.
type Elastic string

// The forms: torchrun's bounds with a rendezvous; bounds, steps and timeouts.
const (
	ElasticTorch Elastic = "torch"
	ElasticSteps Elastic = "steps"
)

// Restart is where a job says what follows the failure of a pod.
type Restart struct {
	// Where is what has the policy, "" where a submission cannot set it.
	Where RestartPlace
	// Allowed are the policies, nil for all of them. Always is one where it is listed.
	Allowed []string
	// Default is set where pods must state a policy.
	Default string
	// Retries leads to the number of retries, nil where annotations have it.
	Retries []string
	// Resumes: HyperPod resumes jobs of the kind on another node: if annotations ask for it, or,
	// where Retries is given, as often as that says.
	Resumes bool
}

// RestartPlace is what has the restart policy.
type RestartPlace string

// The places: the role, or its pods.
const (
	OfRole RestartPlace = "role"
	OfPods RestartPlace = "pods"
)

// MainContainers returns the names by which the operators find the container that trains.
func MainContainers() []string {
	var out []string
	for _, k := range Jobs() {
		if k.Launch().Container != "" {
			out = append(out, k.Launch().Container)
		}
	}
	return append(out, hyperPodContainer)
}
