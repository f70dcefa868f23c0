// curl_easy_setopt, curl_easy_getinfo and curl_multi_setopt are variadic, which Swift cannot call: one function for
// every kind of argument. Nothing here decides anything.
#pragma once

#include <curl/curl.h>

/// curl_easy_setopt(3) with a long.
CURLcode cc_set_long(CURL *handle, CURLoption option, long value);
/// curl_easy_setopt(3) with a string, which libcurl copies.
CURLcode cc_set_text(CURL *handle, CURLoption option, const char *value);
/// curl_easy_setopt(3) with a pointer libcurl keeps: callback data, an error buffer, a private pointer.
CURLcode cc_set_pointer(CURL *handle, CURLoption option, void *value);
/// curl_easy_setopt(3) with a list that must outlive the transfer.
CURLcode cc_set_list(CURL *handle, CURLoption option, struct curl_slist *value);
/// curl_easy_setopt(3) CURLOPT_COPYPOSTFIELDS after CURLOPT_POSTFIELDSIZE_LARGE: libcurl copies the body.
CURLcode cc_set_body(CURL *handle, const void *bytes, curl_off_t count);
/// The shape of CURLOPT_WRITEFUNCTION and CURLOPT_HEADERFUNCTION.
typedef size_t (*cc_data_callback)(char *bytes, size_t size, size_t count, void *context);
CURLcode cc_set_data_callback(CURL *handle, CURLoption option, cc_data_callback callback);
/// curl_easy_getinfo(3) for a long, a 64-bit number, a string libcurl owns.
CURLcode cc_get_long(CURL *handle, CURLINFO info, long *value);
CURLcode cc_get_offset(CURL *handle, CURLINFO info, curl_off_t *value);
CURLcode cc_get_text(CURL *handle, CURLINFO info, const char **value);
CURLcode cc_get_pointer(CURL *handle, CURLINFO info, void **value);
/// curl_multi_setopt(3) with a long.
CURLMcode cc_multi_set_long(CURLM *multi, CURLMoption option, long value);
