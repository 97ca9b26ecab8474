"""Use cases of workers: claim, renew, complete, fail, release, hand on, wait."""
