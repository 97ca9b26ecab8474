"""`make run`: the main job, played on the local stack."""
