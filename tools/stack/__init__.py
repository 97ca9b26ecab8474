"""What runs the local stack: the engine and its front door, and the template built for it and deployed into it."""
