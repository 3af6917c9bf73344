//go:build !race

package walk_test

const raceEnabled = false
