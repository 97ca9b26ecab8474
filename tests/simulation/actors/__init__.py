"""Those who use Baton: workers, agents that escalate and hand off, humans, the outside."""
