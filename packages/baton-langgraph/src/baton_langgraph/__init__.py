"""Baton for LangGraph. For a program's own graph: ``colleague``, ``outcome_of``, ``resume_when_done``. For a graph that
does claimed tasks: ``serve`` or ``run_claimed``, with ``colleague``, ``ask_people`` and ``gated`` of its run."""

from baton_langgraph.pauses import each_call as each_call
from baton_langgraph.pauses import gated as gated
from baton_langgraph.runs import BatonSaver as BatonSaver
from baton_langgraph.runs import Met as Met
from baton_langgraph.runs import Report as Report
from baton_langgraph.runs import run_claimed as run_claimed
from baton_langgraph.runs import serve as serve
from baton_langgraph.tools import ask_people as ask_people
from baton_langgraph.tools import colleague as colleague
from baton_langgraph.tools import memory as memory
from baton_langgraph.tools import outcome_of as outcome_of
from baton_langgraph.tools import resume_when_done as resume_when_done
