#include "curl_shims.h"

CURLcode nm_easy_setopt_long(CURL *easy, CURLoption option, long value) { return curl_easy_setopt(easy, option, value); }

CURLcode nm_easy_setopt_offset(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}

CURLcode nm_easy_setopt_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

CURLcode nm_easy_restrict_to_http(CURL *easy) {
#if LIBCURL_VERSION_NUM >= 0x075500
    return curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
    return curl_easy_setopt(easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}

CURLcode nm_easy_leave_resolver_alone(CURL *easy) {
#if LIBCURL_VERSION_NUM >= 0x075700
    return curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
#else
    (void)easy;
    return CURLE_UNKNOWN_OPTION;
#endif
}

CURLcode nm_easy_setopt_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

CURLcode nm_easy_setopt_slist(CURL *easy, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(easy, option, value);
}

CURLcode nm_easy_setopt_blob(CURL *easy, CURLoption option, const void *bytes, size_t count) {
    struct curl_blob blob = {.data = (void *)bytes, .len = count, .flags = CURL_BLOB_COPY};
    return curl_easy_setopt(easy, option, bytes ? &blob : NULL);
}

CURLcode nm_easy_setopt_borrowed_blob(CURL *easy, CURLoption option, const void *bytes, size_t count) {
    struct curl_blob blob = {.data = (void *)bytes, .len = count, .flags = CURL_BLOB_NOCOPY};
    return curl_easy_setopt(easy, option, bytes ? &blob : NULL);
}

CURLcode nm_easy_setopt_data_callback(CURL *easy, CURLoption option, nm_data_callback callback) {
    return curl_easy_setopt(easy, option, callback);
}

CURLcode nm_easy_setopt_seek_callback(CURL *easy, nm_seek_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, callback);
}

CURLcode nm_easy_setopt_progress_callback(CURL *easy, nm_progress_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, callback);
}

CURLcode nm_easy_setopt_prereq_callback(CURL *easy, nm_prereq_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, callback);
}

CURLcode nm_easy_setopt_resolver_callback(CURL *easy, nm_resolver_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_RESOLVER_START_FUNCTION, callback);
}

CURLcode nm_easy_setopt_ssl_ctx_callback(CURL *easy, nm_ssl_ctx_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, callback);
}

CURLcode nm_easy_setopt_closesocket_callback(CURL *easy, nm_closesocket_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, callback);
}

CURLcode nm_easy_setopt_opensocket_callback(CURL *easy, nm_opensocket_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, callback);
}

CURLcode nm_easy_setopt_trailer_callback(CURL *easy, nm_trailer_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_TRAILERFUNCTION, callback);
}

CURLcode nm_easy_getinfo_long(CURL *easy, CURLINFO info, long *value) { return curl_easy_getinfo(easy, info, value); }

CURLcode nm_easy_getinfo_offset(CURL *easy, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(easy, info, value);
}

CURLcode nm_easy_getinfo_string(CURL *easy, CURLINFO info, const char **value) {
    return curl_easy_getinfo(easy, info, value);
}

void *nm_easy_getinfo_ssl(CURL *easy) {
    struct curl_tlssessioninfo *session = NULL;
    if (curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK || !session) return NULL;
    return session->backend == CURLSSLBACKEND_OPENSSL ? session->internals : NULL;
}

void *nm_easy_getinfo_private(CURL *easy) {
    void *value = NULL;
    return curl_easy_getinfo(easy, CURLINFO_PRIVATE, &value) == CURLE_OK ? value : NULL;
}

CURLMcode nm_multi_setopt_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

CURLMcode nm_multi_setopt_pointer(CURLM *multi, CURLMoption option, void *value) {
    return curl_multi_setopt(multi, option, value);
}

CURLMcode nm_multi_setopt_socket_callback(CURLM *multi, nm_socket_callback callback) {
    return curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, callback);
}

CURLMcode nm_multi_setopt_timer_callback(CURLM *multi, nm_timer_callback callback) {
    return curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, callback);
}

CURLSHcode nm_share_setopt_long(CURLSH *share, CURLSHoption option, long value) {
    return curl_share_setopt(share, option, value);
}

CURLcode nm_message_result(const CURLMsg *message) { return message->data.result; }

CURLcode nm_easy_getinfo_slist(CURL *easy, CURLINFO info, struct curl_slist **list) {
    return curl_easy_getinfo(easy, info, list);
}

CURLSHcode nm_share_setopt_lock_callback(CURLSH *share, nm_lock_callback callback) {
    return curl_share_setopt(share, CURLSHOPT_LOCKFUNC, callback);
}

CURLSHcode nm_share_setopt_unlock_callback(CURLSH *share, nm_unlock_callback callback) {
    return curl_share_setopt(share, CURLSHOPT_UNLOCKFUNC, callback);
}

CURLSHcode nm_share_setopt_context(CURLSH *share, void *context) {
    return curl_share_setopt(share, CURLSHOPT_USERDATA, context);
}
