# Shared by the Makefiles that `sam build` calls (in the source folder: samconfig.toml, build_in_source).
# One setting each, given by the caller's environment; the defaults are the template's.
BATON_RUNTIME ?= python3.13
BATON_ARCHITECTURE ?= arm64
BATON_PYTHON ?= python3
BATON_UV ?= uv

# Ships compiled files, which more than halve the import time. They must match the runtime's version, and never check
# their source again, because file times don't survive packaging. Without that interpreter on this machine nothing is
# built: functions would compile all of it anew at each cold start. $(1): where the code will be, for tracebacks.
compile = for python in "$(BATON_PYTHON)" $(BATON_RUNTIME); do \
	  if [ "$$("$$python" -c 'import sys; print("python%d.%d" % sys.version_info[:2])' 2>/dev/null)" = $(BATON_RUNTIME) ]; then \
	    exec "$$python" -m compileall -q --invalidation-mode unchecked-hash -s "$(ARTIFACTS_DIR)" -p $(1) "$(ARTIFACTS_DIR)"; \
	  fi; \
	done; \
	echo "error: no $(BATON_RUNTIME) on this machine, and what isn't compiled for it starts four times slower. Install it," >&2; \
	echo "or deploy for a Python that is here, such as: make deploy RUNTIME=$$("$(BATON_PYTHON)" -c 'import sys; print("python%d.%d" % sys.version_info[:2])')" >&2; \
	exit 1
