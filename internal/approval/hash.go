package approval

import (
	"crypto/sha256"
	"encoding/hex"

	"openclaw/internal/json5"
)

// missingHash stands for no document.
const missingHash = "missing:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// hashOf names what people edit: the document in its strict form, without the notes
// of usage, and without the ids, which the program makes when it writes such a note. So
// usage never makes somebody's save fail.
func hashOf(root *object) (string, error) {
	if len(root.members) == 0 {
		return missingHash, nil
	}
	bare, err := root.copy()
	if err != nil {
		return "", err
	}
	normalise(bare, func() string { return "" })
	eachEntry(bare, func(_ string, e *object) { e.drop("id", "lastUsedAt", "lastUsedCommand", "lastResolvedPath") })
	text, err := bare.write()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// copy gives a tree that shares nothing with o.
func (o *object) copy() (*object, error) {
	text, err := o.write()
	if err != nil {
		return nil, err
	}
	node, err := json5.Parse(text)
	if err != nil {
		return nil, err
	}
	tree, err := treeOf(node)
	if err != nil {
		return nil, err
	}
	same, _ := tree.(*object) // an object was written
	return same, nil
}
