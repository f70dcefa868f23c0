"""Has a running process make system calls it never would, and tells what the kernel said: how a confinement is tried from within.

As root, by ptrace(2). The process is stopped, one `syscall` instruction of its own vDSO is stepped over with registers of ours, and
then it goes on as it was. It must have one thread only.
"""

import contextlib
import ctypes
import os
import platform
import signal
import struct

SEIZE, INTERRUPT, STEP, DETACH, GET_REGISTERS, SET_REGISTERS = 0x4206, 0x4207, 9, 17, 0x4204, 0x4205
GENERAL = 1  # NT_PRSTATUS
EVERY_CHILD = 0x40000000  # __WALL
# By machine: the instruction and its alignment; the places of number, arguments, result, instruction and stack pointer among the
# registers, and how many those are; and the numbers of calls (asm/ptrace.h, asm/unistd.h).
MACHINES = {
    "x86_64": ((b"\x0f\x05", 1), {"number": 10, "arguments": (14, 13, 12, 7, 9, 8), "result": 10, "at": 16, "stack": 19, "all": 27},
               {"openat": 257, "close": 3, "personality": 135, "unshare": 272, "socket": 41, "connect": 42}),
    "aarch64": ((b"\x01\x00\x00\xd4", 4), {"number": 8, "arguments": (0, 1, 2, 3, 4, 5), "result": 0, "at": 32, "stack": 31, "all": 34},
                {"openat": 56, "close": 57, "personality": 92, "unshare": 97, "socket": 198, "connect": 203}),
}
_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
_libc.ptrace.restype = ctypes.c_long


class _Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


class Inside:
    """A stopped process; `call` has it make a call."""

    def __init__(self, pid):
        (self.instruction, self.alignment), self.places, self.numbers = MACHINES[platform.machine()]
        self.pid = pid
        if len(os.listdir(f"/proc/{pid}/task")) != 1:
            raise ValueError(f"process {pid} has several threads")
        self._ptrace(SEIZE)
        self._ptrace(INTERRUPT)
        os.waitpid(pid, EVERY_CHILD)
        self.before = self._registers()
        self.memory = os.open(f"/proc/{pid}/mem", os.O_RDWR | os.O_CLOEXEC)
        self.at = self._find()

    def call(self, name, *arguments):
        """Makes one call; bytes are put into the process's memory, and their address is passed.
        Returns what the call returned: below zero, the negative errno."""
        registers, place = list(self.before), self.before[self.places["stack"]] - 4096
        values = []
        for argument in arguments:
            if isinstance(argument, bytes):
                os.pwrite(self.memory, argument, place)
                argument, place = place, place + (len(argument) + 15) // 16 * 16
            values.append(argument & (1 << 64) - 1)
        for place, value in zip(self.places["arguments"], values):
            registers[place] = value
        registers[self.places["number"]] = self.numbers[name]
        registers[self.places["at"]] = self.at
        self._registers(registers)
        self._ptrace(STEP)
        _, status = os.waitpid(self.pid, EVERY_CHILD)
        if not os.WIFSTOPPED(status) or os.WSTOPSIG(status) != signal.SIGTRAP:
            raise ChildProcessError(f"process {self.pid} did not come to the end of {name}: status {status:#x}")
        result = self._registers()[self.places["result"]]
        return result - (1 << 64) if result >> 63 else result

    def let_go(self):
        """The process goes on as it was."""
        os.close(self.memory)
        self._registers(self.before)
        self._ptrace(DETACH)

    def _find(self):
        with open(f"/proc/{self.pid}/maps", encoding="ascii") as maps:
            start, end = next(line for line in maps if line.endswith("[vdso]\n")).split()[0].split("-")
        text = os.pread(self.memory, int(end, 16) - int(start, 16), int(start, 16))
        place = text.index(self.instruction)
        while place % self.alignment:
            place = text.index(self.instruction, place + 1)
        return int(start, 16) + place

    def _registers(self, values=None):
        count = self.places["all"]
        text = ctypes.create_string_buffer(struct.pack(f"={count}Q", *(values or [0] * count)), count * 8)
        self._ptrace(SET_REGISTERS if values else GET_REGISTERS, GENERAL,
                     ctypes.byref(_Vector(ctypes.addressof(text), len(text))))
        return list(struct.unpack(f"={count}Q", text))

    def _ptrace(self, request, address=0, data=None):
        if _libc.ptrace(request, self.pid, address, data) < 0:
            number = ctypes.get_errno()
            raise OSError(number, f"ptrace {request:#x} of process {self.pid}: {os.strerror(number)}")


@contextlib.contextmanager
def inside(pid):
    """The process, stopped until the end of the block."""
    made = Inside(pid)
    try:
        yield made
    finally:
        made.let_go()
