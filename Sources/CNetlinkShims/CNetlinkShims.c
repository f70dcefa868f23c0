// The C edge CNetlinkShims: see the header of each file.
