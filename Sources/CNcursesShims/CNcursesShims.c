// The C edge CNcursesShims: see the header of each file.
