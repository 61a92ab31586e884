"""Asking machines. Everything here needs the extra ``models`` (torch)."""
