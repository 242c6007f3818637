"""Ends a program that opens an internet socket: Python's own by an audit hook, those of libraries by the kernel."""

import ctypes
import os
import platform
import struct
import sys
from typing import Any

_NO_NEW_PRIVS, _SECCOMP, _FILTER = 38, 22, 2
_SOCKET = {"x86_64": 41, "aarch64": 198}
_LOAD, _JUMP_EQUAL, _RETURN = 0x20, 0x15, 0x06
_KILL, _ALLOW = 0x80000000, 0x7FFF0000
_NUMBER, _FIRST_ARGUMENT = 0, 16
_INET, _INET6 = 2, 10


def has_kernel_filter() -> bool:
    """Whether the kernel's filter is known for this machine."""
    return sys.platform == "linux" and platform.machine() in _SOCKET


def forbid() -> None:
    """From here on the process dies where it, or a library in it, opens an internet socket, and runs no program."""
    sys.addaudithook(_refuse)
    if has_kernel_filter():
        program = b"".join(
            struct.pack("HBBI", *instruction)
            for instruction in (
                (_LOAD, 0, 0, _NUMBER),
                (_JUMP_EQUAL, 0, 4, _SOCKET[platform.machine()]),
                (_LOAD, 0, 0, _FIRST_ARGUMENT),
                (_JUMP_EQUAL, 1, 0, _INET),
                (_JUMP_EQUAL, 0, 1, _INET6),
                (_RETURN, 0, 0, _KILL),
                (_RETURN, 0, 0, _ALLOW),
            )
        )
        code = ctypes.create_string_buffer(program, len(program))
        filters = ctypes.create_string_buffer(struct.pack("HP", len(program) // 8, ctypes.addressof(code)))
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(_SECCOMP, _FILTER, filters, 0, 0):
            raise OSError(ctypes.get_errno(), "the kernel takes no filter")


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    if event.startswith("socket.") or event in ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.system"):
        os.write(2, f"{event} {arguments}\n".encode())
        os._exit(99)
