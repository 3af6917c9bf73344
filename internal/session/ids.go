package session

import (
	"crypto/rand"
	"encoding/binary"
)

// NewID returns a new session id: two words, easy to say (S-1). Ids are checked for
// being free when they are used; belonging to an agent is what protects a session, not
// the id.
func NewID() string {
	var b [4]byte
	_, _ = rand.Read(b[:])
	n := binary.LittleEndian.Uint32(b[:])
	return adjectives[int(n)%len(adjectives)] + "-" + nouns[int(n/1024)%len(nouns)]
}

var adjectives = [...]string{
	"able", "agile", "alert", "amber", "ample", "apt", "arctic", "ashen", "azure", "balmy", "bold", "brave", "breezy", "brief",
	"bright", "brisk", "broad", "bronze", "calm", "candid", "chilly", "civil", "clean", "clear", "clever", "cloudy", "coral",
	"cosmic", "cozy", "crisp", "curly", "dapper", "daring", "deep", "deft", "dewy", "dry", "dusky", "eager", "early", "earthy",
	"easy", "even", "faint", "fair", "fancy", "fast", "fine", "firm", "fleet", "fluent", "fond", "frank", "fresh", "frosty",
	"gentle", "giant", "glad", "golden", "grand", "grassy", "green", "handy", "happy", "hardy", "hazel", "hearty", "honest",
	"humble", "ivory", "jade", "jolly", "keen", "kind", "large", "lean", "light", "lively", "loyal", "lucid", "lucky", "lunar",
	"mellow", "merry", "mighty", "mild", "misty", "modest", "neat", "nimble", "noble", "olive", "opal", "pearl", "plain", "polar",
	"proud", "quick", "quiet", "rapid", "ready", "rosy", "ruby", "rustic", "sandy", "sharp", "silent", "silver", "sleek", "smart",
	"smooth", "snowy", "soft", "solar", "solid", "spry", "steady", "stout", "sunny", "sure", "swift", "tall", "tidy", "true",
	"vivid", "warm", "wise", "witty", "young", "zesty",
}

var nouns = [...]string{
	"acorn", "adder", "alder", "anchor", "apple", "aspen", "aster", "badger", "bamboo", "basin", "beacon", "beaver", "birch",
	"bison", "bloom", "boulder", "branch", "brook", "canyon", "cedar", "cherry", "cliff", "clover", "cobra", "comet", "condor",
	"cove", "coyote", "crane", "creek", "crow", "dahlia", "daisy", "delta", "dingo", "dolphin", "dove", "dune", "eagle", "egret",
	"elk", "elm", "ember", "falcon", "fern", "ferret", "field", "finch", "fjord", "forest", "fox", "gecko", "geyser", "glade",
	"gorge", "grove", "gull", "harbor", "hare", "hawk", "hazel", "heron", "hill", "holly", "ibis", "iris", "island", "ivy", "jay",
	"juniper", "kestrel", "kiwi", "koala", "lagoon", "lark", "laurel", "lemur", "lilac", "lily", "linden", "llama", "lotus",
	"lynx", "magpie", "maple", "marten", "meadow", "mesa", "mink", "moose", "moss", "newt", "oak", "ocelot", "orca", "orchid",
	"osprey", "otter", "owl", "panda", "pebble", "pelican", "pine", "plover", "pond", "poplar", "puffin", "quail", "quartz",
	"raven", "reef", "ridge", "river", "robin", "sable", "salmon", "seal", "shore", "shrew", "sparrow", "spruce", "stork",
	"stream", "swan", "tern", "thistle", "thrush", "tiger", "trout", "tulip", "tundra", "valley", "vole", "walnut", "willow",
	"wolf", "wren", "yak", "zebra",
}
