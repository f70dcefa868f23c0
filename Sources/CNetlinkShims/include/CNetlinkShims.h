// The C edge CNetlinkShims: calls the Swift importer cannot express.
#pragma once
