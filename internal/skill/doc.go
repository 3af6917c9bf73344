// Package skill reads which programs the operator's skills declare (P-36): folders with a
// SKILL.md one level below skills.dirs, whose front matter names them.
//
// It looks no program up, runs nothing and trusts no name: what a declared name is worth is
// decided elsewhere. It never reads a skill inside of an agent's workspace, nor one that
// somebody else could have written, and what it does not fully understand declares nothing.
package skill
