"""`make bench`: what is measured, section by section, and the world that it is measured in."""
