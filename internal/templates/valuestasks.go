package templates

// The words of TasksBy.
const (
	tasksAuto = "auto"
	tasksGPU  = "gpu"
	tasksCPU  = "cpu"
)
