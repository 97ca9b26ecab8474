"""In the place of Powertools, of which routes name this type alone: its package takes long to load."""


class LambdaContext: ...
