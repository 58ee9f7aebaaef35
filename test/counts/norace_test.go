//go:build !race

package counts

// raceEnabled reports the race detector.
const raceEnabled = false
