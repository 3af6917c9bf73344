package oracle

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// source gives one command after the other, each with the yard it is for and the family
// it is counted under.
type source struct {
	g     grammar
	main  *yard
	cases []oneCase
	yards []*yard // of the cases
	lines map[string][]string
	seeds []string            // commands that were allowed in the main yard
	names []string            // of families
	turn  int                 // of the cases: all of them get theirs
	own   map[string][]string // allowed commands by case
	first []string            // what is tried whatever chance says
}

func newSource(t *testing.T, main *yard, seed uint64) *source {
	t.Helper()
	s := &source{
		g: grammar{rand.New(rand.NewPCG(seed, 71))}, main: main, cases: readCases(t),
		seeds: []string{"git status", "ls -la | head -5", "cd sub && git log", "echo a && cat b"},
		lines: map[string][]string{"always-miss": readLines(t, "always-miss.txt"), "always-allowed": readLines(t, "always-allowed.txt")},
		names: slices.Sorted(maps.Keys(families)), own: map[string][]string{},
	}
	s.first = everyWord()
	s.yards = caseYards(t, main, s.cases)
	s.turn = s.g.r.IntN(len(s.cases))
	return s
}

func (s *source) next() (y *yard, family, command string) {
	switch n := s.g.r.IntN(100); {
	case len(s.first) > 0:
		command, s.first = s.first[0], s.first[1:]
		return s.main, "every word", command
	case n < 38:
		return s.main, "grammar", s.g.command()
	case n < 60:
		return s.fromCase()
	case n < 68:
		name := s.g.pick("always-miss", "always-allowed")
		return s.main, name, mutate(s.g, s.g.pick(s.lines[name]...))
	case n < 80:
		name := s.g.pick(s.names...)
		return s.main, "plant " + name, families[name](s.g, s.g.pick(s.seeds...))
	case n < 86:
		return s.main, "joined", s.join(s.g.pick(s.seeds...), s.g.pick(s.seeds...))
	}
	return s.main, "mutated", mutate(s.g, s.g.pick(s.seeds...))
}

// fromCase changes the next case: by chance, by its family's own mutation, or by what else
// was allowed in its yard.
func (s *source) fromCase() (*yard, string, string) {
	i := s.turn % len(s.cases)
	s.turn++
	y, c := s.yards[i], &s.cases[i]
	command := y.commandOf(c)
	switch known := s.own[c.ID]; {
	case len(known) > 0 && s.g.chance(40):
		command = s.g.pick(known...)
	case s.g.chance(15):
		k := s.g.r.IntN(len(s.cases))
		command = s.join(command, s.yards[k].commandOf(&s.cases[k]))
	}
	if plant := families[c.Family]; plant != nil && s.g.chance(20) {
		return y, "case " + c.Family, plant(s.g, command)
	}
	return y, "case " + c.Family, mutate(s.g, command)
}

func (s *source) join(a, b string) string {
	return a + s.g.pick("; ", " && ", " || ", " | ", "\n", " |& ", ";", "\n\n", " & ", " ") + b
}

// allowed feeds a command that was allowed back, so that later ones begin there.
func (s *source) allowed(y *yard, command string) {
	list, most := &s.seeds, 400
	if y != s.main {
		own := s.own[y.name]
		list, most = &own, 8
		defer func() { s.own[y.name] = own }()
	}
	switch {
	case len(command) > 200:
	case len(*list) < most:
		*list = append(*list, command)
	default:
		(*list)[s.g.r.IntN(most)] = command
	}
}

// everyWord has every word of the grammar in a command that is allowed if the word is.
func everyWord() []string {
	var list []string
	for _, words := range [][]string{wordsPlain, wordsQuoted, wordsExpanded, wordsRefused} {
		for _, w := range words {
			list = append(list, "ls "+w+" end")
		}
	}
	for _, w := range append(slices.Clone(wrappersGood), wrappersBad...) {
		list = append(list, w+"git a")
	}
	for _, w := range append(slices.Clone(programsListed), programsOther...) {
		list = append(list, w+" a", "git; "+w+" git")
	}
	for _, w := range filters {
		list = append(list, "cat a.txt | "+w)
	}
	for _, w := range builtins {
		list = append(list, w+"; ls; ./tool")
	}
	return list
}
