"""The state of a solve in a file, from which another run can continue.

``file.py`` has the format, ``saved_state.py`` checks what was read, ``keeper.py`` writes states when they are due,
and ``lock.py`` keeps other runs away from the file.
"""

from hardmargin.checkpoint.file import (
    CheckpointWarning,
    ForeignCheckpointError,
    Identity,
    read_checkpoint,
    records_folder,
    write_checkpoint,
)

__all__ = [
    "CheckpointWarning",
    "ForeignCheckpointError",
    "Identity",
    "read_checkpoint",
    "records_folder",
    "write_checkpoint",
]
