"""The command `watch`: what servers do, interval by interval, and how that compares with before."""
