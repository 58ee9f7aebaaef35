// Package quota is who has what of a cluster that Kueue governs: what every team
// holds of its own, borrows, lends and could still get. It is a pure model over
// values of package state; nothing here reads a cluster or a clock.
//
// The arithmetic of quota over the tree of cohorts ([Tree]) is that of Kueue's
// pkg/cache/scheduler/resource_node.go (v0.19.2), written again for slim values;
// a property test in internal/governance/admission compares it with Kueue's own.
// Amounts are in the units of [state.Amounts]: cpu in thousandths of a core,
// memory and storage in bytes, devices in pieces.
//
// # Who lends
//
// Kueue knows how much a queue borrows, not from whom. A convention determines the
// lenders, one cohort at a time from the leaves of the tree to its root:
//
//   - A queue or cohort can lend what it has not used itself, up to its lending
//     limit; a cohort's own quota can be lent too.
//   - What the members of a cohort borrow is lent by the other members and the
//     cohort's own quota, in proportion to what each can lend; in whole units, the
//     largest remainders first, then by name.
//   - What they cannot lend, the cohort borrows from its parent by the same rule.
//   - Where not all can be lent, the borrowers get it in proportion to what they
//     need. What the root cannot lend either, nobody has lent: it is
//     overcommitted, as after quota was lowered below use.
//
// So over every tree: borrowed = lent by queues + lent from cohorts' own quota,
// and borrowed + overcommitted = use beyond nominal quota.
package quota
