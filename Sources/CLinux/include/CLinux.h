// The C edge CLinux: calls the Swift importer cannot express.
#pragma once
