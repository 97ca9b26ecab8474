# Shared by the Makefiles that `sam build` calls (in the source folder: samconfig.toml, build_in_source).
# One setting each, given by the caller's environment; the defaults are the template's.
BATON_RUNTIME ?= python3.13
BATON_ARCHITECTURE ?= x86_64
BATON_PYTHON ?= python3
BATON_UV ?= uv

# Ships compiled files, which more than halve the import time. They must match the runtime's version, and never check
# their source again, because file times don't survive packaging. Without that interpreter on this machine the functions
# compile at each cold start: slower, but right. $(1): where the code will be, for tracebacks.
compile = for python in "$(BATON_PYTHON)" $(BATON_RUNTIME); do \
	  if [ "$$("$$python" -c 'import sys; print("python%d.%d" % sys.version_info[:2])' 2>/dev/null)" = $(BATON_RUNTIME) ]; then \
	    exec "$$python" -m compileall -q --invalidation-mode unchecked-hash -s "$(ARTIFACTS_DIR)" -p $(1) "$(ARTIFACTS_DIR)"; \
	  fi; \
	done; echo "no $(BATON_RUNTIME) on this machine: shipping without .pyc"
