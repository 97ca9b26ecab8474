"""Questions to people in the middle of the work: what is asked, who may answer, and what an approval allows."""
