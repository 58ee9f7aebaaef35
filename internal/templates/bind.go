package templates

import "slices"

// wellKnown is a parameter that the values of a submission fill in without being
// asked for by name: a template that uses ${NODE_COUNT} gets --node-count. The
// aliases are the names in use in public samples.
type wellKnown struct {
	names []string
	// flag is the start-job flag that says the same, "" for computed values.
	flag string
}

// The well-known parameters, by their first name.
const (
	pJobName      = "JOB_NAME"
	pNamespace    = "NAMESPACE"
	pImage        = "IMAGE"
	pInstanceType = "INSTANCE_TYPE"
	pNodeCount    = "NODE_COUNT"
	pTasks        = "TASKS_PER_NODE"
	pAccelerators = "ACCELERATORS_PER_NODE"
	pEFA          = "EFA_PER_NODE"
	pProcesses    = "PROCESS_COUNT"
	pCommand      = "COMMAND"
	pEntryScript  = "ENTRY_SCRIPT"
	pScriptArgs   = "SCRIPT_ARGS"
	pTorchrun     = "TORCHRUN_FLAGS"
	pMpirun       = "MPIRUN_FLAGS"
	pRdzvBackend  = "RDZV_BACKEND"
	pRdzvEndpoint = "RDZV_ENDPOINT"
	pResults      = "CHECKPOINT_DIR"
	pCleanPods    = "CLEAN_POD_POLICY"
)

var wellKnownParams = []wellKnown{
	{[]string{pJobName}, "--name"},
	{[]string{pNamespace}, "--namespace"},
	{[]string{pImage, "IMAGE_URI"}, "--image"},
	{[]string{pInstanceType}, "--instance-type"},
	{[]string{pNodeCount, "NUM_NODES", "NNODES"}, "--node-count"},
	{[]string{pTasks, "NPROC_PER_NODE"}, "--tasks-per-node"},
	{[]string{pAccelerators, "GPU_PER_NODE", "NUM_GPU_PER_NODE", "NEURON_PER_NODE"}, "--accelerators"},
	{[]string{pEFA, "NUM_EFA_PER_NODE"}, "--efa"},
	{[]string{pProcesses}, ""},
	{[]string{pCommand}, "--command"},
	{[]string{pEntryScript}, "--entry-script"},
	{[]string{pScriptArgs}, "--script-args"},
	{[]string{pTorchrun, "LAUNCH_FLAGS"}, ""},
	{[]string{pMpirun}, ""},
	{[]string{pRdzvBackend}, "--rdzv-backend"},
	{[]string{pRdzvEndpoint}, "--rdzv-endpoint"},
	{[]string{pResults, resultsVariable}, "--results-dir"},
	{[]string{pCleanPods}, "--clean-pod-policy"},
}

// resultsVariable tells training scripts of --results-dir where the template has
// no parameter for it.
const resultsVariable = "RESULTS_DIR"

// canonical returns the first name of a well-known parameter.
func canonical(name string) (string, bool) {
	for _, w := range wellKnownParams {
		if slices.Contains(w.names, name) {
			return w.names[0], true
		}
	}
	return "", false
}

// flagFor returns the flag that gives a parameter's value, "" if none does.
func flagFor(name string) string {
	for _, w := range wellKnownParams {
		if slices.Contains(w.names, name) {
			return w.flag
		}
	}
	return ""
}
