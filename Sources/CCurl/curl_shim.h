// What the Transfer module sees of libcurl.
#include <curl/curl.h>
