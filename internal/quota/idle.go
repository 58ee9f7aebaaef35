package quota

// Why idle quota stays idle.
const (
	// IdleStopped: the queue is stopped, so its team cannot use the quota.
	IdleStopped = "Stopped"
	// IdleInactive: the queue is inactive, for example because of an admission check.
	IdleInactive = "Inactive"
	// IdleLendingLimit: the lending limit is less than the idle quota.
	IdleLendingLimit = "LendingLimit"
	// IdleAlone: no other team shares a cohort with it.
	IdleAlone = "Alone"
)

// Idle is unused quota of a team that nobody else can borrow or, with IdleStopped and IdleInactive, that the team itself
// cannot use.
type Idle struct {
	Team   string
	Amount int64
	Why    string
}

// Idle returns the quota of a resource that stays idle, and why, by team. It leaves out what others could borrow, except
// from queues that admit nothing: FREE does not count that.
func (r *Report) Idle(resource string) []Idle {
	if !r.Complete {
		return nil
	}
	var out []Idle
	for i := range r.Teams {
		t := &r.Teams[i]
		n := r.Tree.queues[t.ClusterQueue]
		if n == nil || n.apart() {
			continue
		}
		sums := map[string]int64{}
		for _, k := range r.Tree.keys {
			l := n.loan(k)
			idle := max(0, sub(sub(n.limit(k).nominal, n.usage[k]), l.lent))
			switch {
			case k.Resource != resource || idle == 0:
			case t.State == Stopped:
				sums[IdleStopped] = add(sums[IdleStopped], idle)
			case t.State != Active:
				sums[IdleInactive] = add(sums[IdleInactive], idle)
			case n.alone():
				sums[IdleAlone] = add(sums[IdleAlone], idle)
			default:
				sums[IdleLendingLimit] = add(sums[IdleLendingLimit], max(0, sub(idle, l.can)))
			}
		}
		for _, why := range []string{IdleStopped, IdleInactive, IdleAlone, IdleLendingLimit} {
			if sums[why] > 0 {
				out = append(out, Idle{t.Name, sums[why], why})
			}
		}
	}
	return out
}

// alone reports a queue whose cohort tree has no other queue.
func (n *node) alone() bool {
	root := n
	for root.parent != nil {
		root = root.parent
	}
	return root.count(2) == 1
}

// count returns the number of queues at or below the node, and stops at most.
func (n *node) count(most int) int {
	if !n.isCohort {
		return 1
	}
	sum := 0
	for _, c := range n.children {
		if sum += c.count(most - sum); sum >= most {
			break
		}
	}
	return sum
}
