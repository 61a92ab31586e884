"""What is installed, and what a machine has: libraries, databases, processors, accelerators."""

from affectlab.core.environment.accelerators import accelerator
from affectlab.core.environment.databases import database
from affectlab.core.environment.hardware import browsers, disks, machine, threads
from affectlab.core.environment.libraries import Library, import_all, look_up, with_problems
from affectlab.core.environment.requirements import module_of, required

__all__ = [
    "Library",
    "accelerator",
    "browsers",
    "database",
    "disks",
    "import_all",
    "look_up",
    "machine",
    "module_of",
    "required",
    "threads",
    "with_problems",
]
