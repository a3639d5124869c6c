"""The checks of an audit, in the order in which their findings are listed."""

from __future__ import annotations

from patchmgr.engines.audit.collected import check_collected
from patchmgr.engines.audit.cxx import check_conditions, cxx_faults
from patchmgr.engines.audit.interfaces import INTERFACES
from patchmgr.engines.audit.meaning import changed_meaning
from patchmgr.engines.audit.names import check_names
from patchmgr.engines.audit.new_files import files_in_removed_folders, gone_paths, numbers_taken
from patchmgr.engines.audit.other_languages import check_other_languages
from patchmgr.engines.audit.registries import lost_registrations
from patchmgr.engines.audit.states import Check
from patchmgr.engines.audit.syntax import encoding, syntax
from patchmgr.engines.audit.twice import check_counts, check_keys, check_twice
from patchmgr.engines.audit.undone import undone_patches

CHECKS: tuple[Check, ...] = (
    syntax,
    encoding,
    undone_patches,
    files_in_removed_folders,
    numbers_taken,
    gone_paths,
    changed_meaning,
    check_conditions,
    check_counts,
    cxx_faults,
    lost_registrations,
    check_other_languages,
    check_names,
    check_collected,
    check_twice,
    check_keys,
    *INTERFACES,
)
# Two processes share the checks. The slowest checks are started first.
LONGEST: tuple[Check, ...] = (*INTERFACES, cxx_faults, check_twice, syntax)
