// The C edge CCurlShims: calls the Swift importer cannot express.
#pragma once
