package simulate

import "context"

// Apply makes the changes and returns the changed world, with notes on what they
// touch beyond Kueue.
func Apply(ctx context.Context, w World, changes []Change) (World, []Note, error) {
	a, err := change(ctx, w, changes)
	if err != nil {
		return World{}, nil, err
	}
	return a.World, a.notes, nil
}
