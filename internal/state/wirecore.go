package state

import "strings"

type wireNamespace struct {
	Metadata wireMeta `json:"metadata"`
	Status   struct {
		Phase string `json:"phase"`
	} `json:"status"`
}

func (w *wireNamespace) namespace() Namespace {
	return Namespace{Meta: w.Metadata.meta(), Phase: w.Status.Phase}
}

type wireNode struct {
	Metadata wireMeta `json:"metadata"`
	Spec     struct {
		Unschedulable bool    `json:"unschedulable"`
		Taints        []Taint `json:"taints"`
	} `json:"spec"`
	Status struct {
		Capacity    map[string]amount `json:"capacity"`
		Allocatable map[string]amount `json:"allocatable"`
		Conditions  []wireCondition   `json:"conditions"`
	} `json:"status"`
}

func (w *wireNode) node() Node {
	n := Node{Meta: w.Metadata.meta(), Unschedulable: w.Spec.Unschedulable, Taints: w.Spec.Taints,
		Conditions: conditions(w.Status.Conditions), Capacity: amounts(w.Status.Capacity), Allocatable: amounts(w.Status.Allocatable)}
	ready, _ := Find(n.Conditions, "Ready")
	n.Ready = ready.True()
	return n
}

func amounts(in map[string]amount) Amounts {
	return wireContainer{Resources: wireResources{Requests: in}}.requests(nil)
}

type wirePod struct {
	Metadata wireMeta `json:"metadata"`
	Spec     struct {
		wirePodSpec
		NodeName        string `json:"nodeName"`
		SchedulingGates []struct {
			Name string `json:"name"`
		} `json:"schedulingGates"`
	} `json:"spec"`
	Status struct {
		Phase                 string                `json:"phase"`
		Reason                string                `json:"reason"`
		Message               string                `json:"message"`
		StartTime             stamp                 `json:"startTime"`
		Conditions            []wireCondition       `json:"conditions"`
		ContainerStatuses     []wireContainerStatus `json:"containerStatuses"`
		InitContainerStatuses []wireContainerStatus `json:"initContainerStatuses"`
	} `json:"status"`
}

type wireContainerStatus struct {
	Name         string        `json:"name"`
	ContainerID  string        `json:"containerID"`
	Ready        bool          `json:"ready"`
	Started      bool          `json:"started"`
	RestartCount whole         `json:"restartCount"`
	State        wireContState `json:"state"`
	LastState    wireContState `json:"lastState"`
}

type wireContState struct {
	Waiting *struct {
		Reason  string `json:"reason"`
		Message string `json:"message"`
	} `json:"waiting"`
	Running *struct {
		StartedAt stamp `json:"startedAt"`
	} `json:"running"`
	Terminated *struct {
		Reason     string `json:"reason"`
		Message    string `json:"message"`
		ExitCode   whole  `json:"exitCode"`
		StartedAt  stamp  `json:"startedAt"`
		FinishedAt stamp  `json:"finishedAt"`
	} `json:"terminated"`
}

func (w *wirePod) pod() Pod {
	st := &w.Status
	p := Pod{
		Meta: w.Metadata.meta(), Phase: st.Phase, Reason: st.Reason, Message: st.Message, NodeName: w.Spec.NodeName,
		NodeSelector: w.Spec.NodeSelector, PriorityClass: w.Spec.PriorityClassName, Gated: len(w.Spec.SchedulingGates) > 0,
		Start: st.StartTime.ptr(), Conditions: conditions(st.Conditions), Requests: w.Spec.requests(nil),
	}
	ready, _ := Find(p.Conditions, "Ready")
	p.Ready = ready.True()
	for _, s := range st.InitContainerStatuses {
		p.Containers = append(p.Containers, s.container(true))
	}
	for _, s := range st.ContainerStatuses {
		p.Containers = append(p.Containers, s.container(false))
	}
	for _, c := range w.Spec.Containers {
		p.ContainerNames = append(p.ContainerNames, c.Name)
	}
	for _, c := range w.Spec.InitContainers {
		p.InitNames = append(p.InitNames, c.Name)
	}
	for _, c := range p.Containers {
		p.Restarts += c.Restarts
	}
	return p
}

func (w wireContainerStatus) container(init bool) Container {
	c := Container{Name: w.Name, ID: w.ContainerID, Init: init, Ready: w.Ready, Started: w.Started, Restarts: int(w.RestartCount)}
	if s := w.State.Waiting; s != nil {
		c.Waiting, c.Message = s.Reason, s.Message
	}
	if s := w.State.Running; s != nil {
		c.StartedAt = s.StartedAt.ptr()
	}
	if s := w.State.Terminated; s != nil {
		c.Terminated, c.Message, c.ExitCode = s.Reason, strings.TrimSpace(s.Message), int(s.ExitCode)
		c.StartedAt, c.FinishedAt = s.StartedAt.ptr(), s.FinishedAt.ptr()
	}
	if s := w.LastState.Terminated; s != nil {
		c.LastTerminated, c.LastExitCode = s.Reason, int(s.ExitCode)
	}
	return c
}
