"""What is installed, and what a machine has: libraries, databases, processors, accelerators."""

from affectlab.core.environment.accelerators import accelerator as accelerator
from affectlab.core.environment.databases import database as database
from affectlab.core.environment.hardware import (
    browsers as browsers,
    disks as disks,
    machine as machine,
    threads as threads,
)
from affectlab.core.environment.libraries import (
    Library as Library,
    import_all as import_all,
    look_up as look_up,
    with_problems as with_problems,
)
from affectlab.core.environment.requirements import module_of as module_of, required as required
