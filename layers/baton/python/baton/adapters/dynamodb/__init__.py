"""Baton's one table: ``keys`` names things, ``items`` shapes them, ``writes`` conditions them, ``store`` is the
port."""
