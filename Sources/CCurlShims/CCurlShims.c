// The C edge CCurlShims: see the header of each file.
