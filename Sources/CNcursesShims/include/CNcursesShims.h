// The C edge CNcursesShims: calls the Swift importer cannot express.
#pragma once
