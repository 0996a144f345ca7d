# runs at start
