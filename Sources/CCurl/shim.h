// Setting an option is a variadic function, which Swift cannot call: one function for each type of value.
// None is without a result that has to be looked at: an option that was not taken is one that is not in force.
#include <curl/curl.h>

#define DM_CHECKED __attribute__((warn_unused_result)) static inline

DM_CHECKED CURLcode dm_curl_number(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

DM_CHECKED CURLcode dm_curl_offset(CURL *handle, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(handle, option, value);
}

DM_CHECKED CURLcode dm_curl_text(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}

// No folder of certificates besides the file of CURLOPT_CAINFO.
DM_CHECKED CURLcode dm_curl_no_certificate_folder(CURL *handle) {
    return curl_easy_setopt(handle, CURLOPT_CAPATH, NULL);
}

DM_CHECKED CURLcode dm_curl_pointer(CURL *handle, CURLoption option, void *value) {
    return curl_easy_setopt(handle, option, value);
}

typedef size_t (*dm_curl_transfer)(char *bytes, size_t size, size_t count, void *context);
typedef int (*dm_curl_progress)(void *context, curl_off_t to_get, curl_off_t got, curl_off_t to_send, curl_off_t sent);

DM_CHECKED CURLcode dm_curl_on_transfer(CURL *handle, CURLoption option, dm_curl_transfer function) {
    return curl_easy_setopt(handle, option, function);
}

DM_CHECKED CURLcode dm_curl_on_progress(CURL *handle, dm_curl_progress function) {
    return curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, function);
}

// Where libcurl puts its words for what went wrong: CURL_ERROR_SIZE bytes.
DM_CHECKED CURLcode dm_curl_words(CURL *handle, char *buffer) {
    return curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, buffer);
}

static inline curl_off_t dm_curl_uploaded(CURL *handle) {
    curl_off_t count = 0;
    curl_easy_getinfo(handle, CURLINFO_SIZE_UPLOAD_T, &count);
    return count;
}

// Seconds from now, also where the server named a date; 0 where it said nothing.
static inline curl_off_t dm_curl_retry_after(CURL *handle) {
    curl_off_t seconds = 0;
    curl_easy_getinfo(handle, CURLINFO_RETRY_AFTER, &seconds);
    return seconds;
}

// Where the answer redirects to; it lives as long as the handle.
static inline const char *dm_curl_redirect(CURL *handle) {
    char *url = NULL;
    curl_easy_getinfo(handle, CURLINFO_REDIRECT_URL, &url);
    return url;
}

static inline long dm_curl_status(CURL *handle) {
    long status = 0;
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
    return status;
}
