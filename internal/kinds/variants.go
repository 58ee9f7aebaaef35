package kinds

// Parents are workloads that can have variants of concurrent admission: their UIDs, by namespace and name.
type Parents map[[2]string]string

// Add adds a workload, whose owner is another workload with the name owner, "" without one: a variant has no variants.
func (p Parents) Add(namespace, name, uid, owner string) {
	if owner == "" {
		p[[2]string{namespace, name}] = uid
	}
}

// Have reports whether a workload of a namespace that another workload owns is a variant of one of them. It is if it names one
// with this UID. A variant whose workload is gone is a workload of its own, until the cluster deletes it.
func (p Parents) Have(namespace, owner, ownerUID string) bool {
	uid, known := p[[2]string{namespace, owner}]
	return owner != "" && known && (uid == "" || ownerUID == "" || uid == ownerUID)
}
