from __future__ import annotations

from baton_cli.main import main

if __name__ == "__main__":
    main()
