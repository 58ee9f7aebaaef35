package values

// The words of TasksBy.
const (
	tasksAuto = "auto"
	TasksGPU  = "gpu"
	TasksCPU  = "cpu"
)
