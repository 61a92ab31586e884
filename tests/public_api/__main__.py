"""Write the lists of what is public anew: ``python -m tests.public_api``."""

from tests.public_api.lists import FOLDER, write_lists
from tests.public_api.manifest import write_manifest
from tests.public_api.source import REPOSITORY

from affectlab.cli.manifest import MANIFEST

if write_manifest():
    print(f"{MANIFEST.relative_to(REPOSITORY)} written anew.")
changed = write_lists()
where = FOLDER.relative_to(REPOSITORY)
print(f"{where}: {', '.join(changed)} written anew." if changed else f"{where} is as it was.")
