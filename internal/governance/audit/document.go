package audit

import "time"

// Schema is the version of the document's shape.
const Schema = "hyperpod.governance-audit/v1"

// Code is what a Finding is about.
type Code string

// The codes.
const (
	// Starved: jobs of Team wait for Amount of Resource; Holders have it.
	Starved Code = "Starved"
	// Idle: Amount of Resource is idle in Team while For waits; Setting of SettingOf
	// keeps it idle.
	Idle Code = "Idle"
	// Borrowing: Team uses Amount beyond its nominal quota, which others lend.
	Borrowing Code = "Borrowing"
	// Overcommitted: Team uses Amount beyond its nominal quota, which nobody lends.
	Overcommitted Code = "Overcommitted"
	// AboveLimit: Team, or the members of Cohort together, use Amount, and the most they may
	// hold is Limit.
	AboveLimit Code = "AboveLimit"
	// OverCapacity: the quota of all teams for Flavor, an instance type, is Amount, and its healthy nodes have Limit.
	OverCapacity Code = "OverCapacity"
	// NeverRuns: the jobs can never run with the current quota.
	NeverRuns Code = "NeverRuns"
	// QueueMissing: the jobs wait in Name, a LocalQueue ("namespace/name") or ClusterQueue that does not exist.
	QueueMissing Code = "QueueMissing"
	// CannotReclaim: Team has lent Amount and its policy does not take it back.
	CannotReclaim Code = "CannotReclaim"
	// UnusedPriority: no workload has the priority class Name.
	UnusedPriority Code = "UnusedPriority"
	// Drift: the file and the cluster differ; package plan finds these.
	Drift Code = "Drift"
)

// Setting is a field of the ClusterQueue or of the job.
type Setting string

// The settings that keep quota idle.
const (
	CohortName     Setting = "cohortName"     // the teams share no cohort
	LendingLimit   Setting = "lendingLimit"   // the owner lends less
	BorrowingLimit Setting = "borrowingLimit" // the waiting team may not borrow more
	FlavorMissing  Setting = "resourceGroups" // the waiting team has no such flavor
	StopPolicy     Setting = "stopPolicy"     // the waiting team is stopped
	JobSize        Setting = "jobSize"        // the job needs more than is idle
	NodeSelector   Setting = "nodeSelector"   // the jobs select nodes of other flavors
	NotQuota       Setting = "notQuota"       // there is enough quota: nodes, a topology or the order of the queue keep the job
)

// Holder is a team that holds what another one waits for.
type Holder struct {
	Team   string
	Amount float64 // beyond its nominal quota
}

// Finding is one thing to look at. Amounts are in base units.
type Finding struct {
	Code     Code
	Team     string   `json:",omitempty"`
	Cohort   string   `json:",omitempty"`
	Resource string   `json:",omitempty"`
	Flavor   string   `json:",omitempty"`
	Amount   float64  `json:",omitempty"`
	Limit    *float64 `json:",omitempty"`
	Jobs     int      `json:",omitempty"` // how many
	Job      string   `json:",omitempty"` // "namespace/name": the one that waits longest, of Team or, if quota is idle, of For
	Seconds  float64  `json:",omitempty"` // how long it has been waiting
	// Holders are the teams that borrow most of what the team waits for; HoldersTotal counts all that borrow it.
	Holders      []Holder `json:",omitempty"`
	HoldersTotal int      `json:",omitempty"`
	// For is the team that could use what is idle; Setting of SettingOf keeps it from it.
	For       string  `json:",omitempty"`
	Setting   Setting `json:",omitempty"`
	SettingOf string  `json:",omitempty"`
	Name      string  `json:",omitempty"`
	// ChangedBy last changed the object that differs from the file, ChangedAt then.
	ChangedBy string     `json:",omitempty"`
	ChangedAt *time.Time `json:",omitempty"`
	// Message is a sentence; package present/audittext sets it.
	Message string
}

// Document is the answer as JSON.
type Document struct {
	Schema   string
	Time     time.Time
	Findings []Finding
	// Complete is false when some queues or workloads could not be read.
	Complete bool
}
