// What is called of libcurl, which is loaded where it is needed and not linked: a list, a place for the address of each,
// and their names in the same order.
// The checks of types are macros with the functions' names.
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#define DM_CURL_CALLS(CALL) CALL(curl_easy_cleanup) CALL(curl_easy_getinfo) CALL(curl_easy_init) \
    CALL(curl_easy_option_by_id) CALL(curl_easy_perform) CALL(curl_easy_setopt) CALL(curl_easy_strerror) \
    CALL(curl_free) CALL(curl_global_init) CALL(curl_slist_append) CALL(curl_slist_free_all) CALL(curl_url) \
    CALL(curl_url_cleanup) CALL(curl_url_get) CALL(curl_url_set) CALL(curl_version)

#define DM_PLACE(call) __typeof__(call) *call;
#define DM_NAME(call) #call,

struct dm_curl_calls {
    DM_CURL_CALLS(DM_PLACE)
};

static inline const char *const *dm_curl_names(void) {
    static const char *const names[] = {DM_CURL_CALLS(DM_NAME)};
    return names;
}

// Setting an option is a variadic function, which Swift cannot call: one function for each type of value.
// None is without a result that has to be looked at: an option that was not taken is one that is not in force.
#define DM_CHECKED __attribute__((warn_unused_result)) static inline

DM_CHECKED CURLcode dm_curl_number(const struct dm_curl_calls *calls, CURL *handle, CURLoption option, long value) {
    return calls->curl_easy_setopt(handle, option, value);
}

DM_CHECKED CURLcode dm_curl_offset(
    const struct dm_curl_calls *calls, CURL *handle, CURLoption option, curl_off_t value) {
    return calls->curl_easy_setopt(handle, option, value);
}

DM_CHECKED CURLcode dm_curl_text(
    const struct dm_curl_calls *calls, CURL *handle, CURLoption option, const char *value) {
    return calls->curl_easy_setopt(handle, option, value);
}

// No folder of certificates besides the file of CURLOPT_CAINFO.
DM_CHECKED CURLcode dm_curl_no_certificate_folder(const struct dm_curl_calls *calls, CURL *handle) {
    return calls->curl_easy_setopt(handle, CURLOPT_CAPATH, NULL);
}

DM_CHECKED CURLcode dm_curl_pointer(const struct dm_curl_calls *calls, CURL *handle, CURLoption option, void *value) {
    return calls->curl_easy_setopt(handle, option, value);
}

typedef size_t (*dm_curl_transfer)(char *bytes, size_t size, size_t count, void *context);
typedef int (*dm_curl_progress)(void *context, curl_off_t to_get, curl_off_t got, curl_off_t to_send, curl_off_t sent);

DM_CHECKED CURLcode dm_curl_on_transfer(
    const struct dm_curl_calls *calls, CURL *handle, CURLoption option, dm_curl_transfer function) {
    return calls->curl_easy_setopt(handle, option, function);
}

DM_CHECKED CURLcode dm_curl_on_progress(const struct dm_curl_calls *calls, CURL *handle, dm_curl_progress function) {
    return calls->curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, function);
}

// Where libcurl puts its words for what went wrong: CURL_ERROR_SIZE bytes.
DM_CHECKED CURLcode dm_curl_words(const struct dm_curl_calls *calls, CURL *handle, char *buffer) {
    return calls->curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, buffer);
}

static inline curl_off_t dm_curl_uploaded(const struct dm_curl_calls *calls, CURL *handle) {
    curl_off_t count = 0;
    calls->curl_easy_getinfo(handle, CURLINFO_SIZE_UPLOAD_T, &count);
    return count;
}

// Seconds from now, also where the server named a date; 0 where it said nothing.
static inline curl_off_t dm_curl_retry_after(const struct dm_curl_calls *calls, CURL *handle) {
    curl_off_t seconds = 0;
    calls->curl_easy_getinfo(handle, CURLINFO_RETRY_AFTER, &seconds);
    return seconds;
}

// Where the answer redirects to; it lives as long as the handle.
static inline const char *dm_curl_redirect(const struct dm_curl_calls *calls, CURL *handle) {
    char *url = NULL;
    calls->curl_easy_getinfo(handle, CURLINFO_REDIRECT_URL, &url);
    return url;
}

static inline long dm_curl_status(const struct dm_curl_calls *calls, CURL *handle) {
    long status = 0;
    calls->curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
    return status;
}
