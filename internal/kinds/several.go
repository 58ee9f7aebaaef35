package kinds

import "slices"

// Main returns which of n objects is the job that the others go along with: those of
// kinds that also serve a job (Deployments) only where there is no other. It returns all
// that could be; none where no object is a job.
func Main(n int, of func(i int) (apiVersion, kind string)) (jobs []int) {
	jobs, beside := sortOut(n, of)
	if len(jobs) == 0 && len(beside) > 0 {
		jobs = beside[:1]
	}
	return jobs
}

// Several is Main for objects that can be several jobs: all Deployments, where there is no other job. The pods of a pod group
// serve no other job: grouped reports the objects that name a group.
func Several(n int, of func(i int) (apiVersion, kind string), grouped func(i int) bool) []int {
	jobs, beside := sortOut(n, of)
	if len(jobs) == 0 {
		return beside
	}
	for _, i := range beside {
		if k, _ := JobFor(of(i)); k.Itself && grouped(i) {
			jobs = append(jobs, i)
		}
	}
	slices.Sort(jobs)
	return jobs
}

// sortOut returns the objects that are jobs, and those of kinds that also serve a job.
func sortOut(n int, of func(i int) (apiVersion, kind string)) (jobs, beside []int) {
	for i := range n {
		switch k, ok := JobFor(of(i)); {
		case ok && k.Beside:
			beside = append(beside, i)
		case ok:
			jobs = append(jobs, i)
		}
	}
	return jobs, beside
}
