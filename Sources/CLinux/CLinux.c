// The C edge CLinux: see the header of each file.
