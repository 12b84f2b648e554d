// What Swift cannot call in libcurl: variadic functions. One function per shape of argument, no logic.
#ifndef NM_CURL_SHIMS_H
#define NM_CURL_SHIMS_H

#include <curl/curl.h>

/// curl_global_init with the allocator below; to be called once.
///
/// Without effect on memory where the program has initialized libcurl before.
CURLcode nm_global_init(void);

/// What nm_set_engine_of_thread was called with on this thread; NULL on all others.
const void *nm_engine_of_thread(void);
void nm_set_engine_of_thread(const void *engine);

/// malloc, free and realloc, but for blocks of the size of a receive buffer, which lie apart from all others.
///
/// They may be called from any thread.
void *nm_allocate(size_t size);
void nm_release(void *block);
void *nm_resize(void *block, size_t size);

/// Whether receive buffers lie apart: not where the system reserves no addresses for them, nor with the address sanitizer.
int nm_lays_buffers_apart(void);

CURLcode nm_easy_setopt_long(CURL *easy, CURLoption option, long value);
CURLcode nm_easy_setopt_offset(CURL *easy, CURLoption option, curl_off_t value);
CURLcode nm_easy_setopt_string(CURL *easy, CURLoption option, const char *value);
CURLcode nm_easy_setopt_pointer(CURL *easy, CURLoption option, void *value);
CURLcode nm_easy_setopt_slist(CURL *easy, CURLoption option, struct curl_slist *value);
CURLcode nm_easy_setopt_blob(CURL *easy, CURLoption option, const void *bytes, size_t count);

/// Leaves a handle HTTP and HTTPS of the two dozen protocols that libcurl may speak: CURLOPT_PROTOCOLS_STR, or its
/// predecessor before 7.85.
CURLcode nm_easy_restrict_to_http(CURL *easy);
/// Lets a transfer end without waiting for its look-up of a name: CURLOPT_QUICK_EXIT, from 7.87 on.
CURLcode nm_easy_leave_resolver_alone(CURL *easy);

/// A blob that libcurl does not copy: the bytes must stay until the option is set again or the handle is gone.
CURLcode nm_easy_setopt_borrowed_blob(CURL *easy, CURLoption option, const void *bytes, size_t count);

/// CURLOPT_WRITEFUNCTION, HEADERFUNCTION and READFUNCTION share this shape.
typedef size_t (*nm_data_callback)(char *bytes, size_t size, size_t count, void *context);
CURLcode nm_easy_setopt_data_callback(CURL *easy, CURLoption option, nm_data_callback callback);
typedef int (*nm_seek_callback)(void *context, curl_off_t offset, int origin);
CURLcode nm_easy_setopt_seek_callback(CURL *easy, nm_seek_callback callback);
typedef int (*nm_progress_callback)(
    void *context, curl_off_t download_total, curl_off_t downloaded, curl_off_t upload_total, curl_off_t uploaded);
CURLcode nm_easy_setopt_progress_callback(CURL *easy, nm_progress_callback callback);
typedef int (*nm_prereq_callback)(
    void *context, char *remote_address, char *local_address, int remote_port, int local_port);
CURLcode nm_easy_setopt_prereq_callback(CURL *easy, nm_prereq_callback callback);
typedef int (*nm_resolver_callback)(void *state, void *reserved, void *context);
CURLcode nm_easy_setopt_resolver_callback(CURL *easy, nm_resolver_callback callback);
typedef CURLcode (*nm_ssl_ctx_callback)(CURL *easy, void *ssl_ctx, void *context);
CURLcode nm_easy_setopt_ssl_ctx_callback(CURL *easy, nm_ssl_ctx_callback callback);
typedef int (*nm_closesocket_callback)(void *context, curl_socket_t socket);
CURLcode nm_easy_setopt_closesocket_callback(CURL *easy, nm_closesocket_callback callback);
typedef curl_socket_t (*nm_opensocket_callback)(void *context, curlsocktype purpose, struct curl_sockaddr *address);
CURLcode nm_easy_setopt_opensocket_callback(CURL *easy, nm_opensocket_callback callback);

typedef int (*nm_trailer_callback)(struct curl_slist **list, void *context);
/// CURLOPT_TRAILERFUNCTION; NULL for none.
CURLcode nm_easy_setopt_trailer_callback(CURL *easy, nm_trailer_callback callback);

CURLcode nm_easy_getinfo_long(CURL *easy, CURLINFO info, long *value);
CURLcode nm_easy_getinfo_offset(CURL *easy, CURLINFO info, curl_off_t *value);
CURLcode nm_easy_getinfo_slist(CURL *easy, CURLINFO info, struct curl_slist **list);
CURLcode nm_easy_getinfo_string(CURL *easy, CURLINFO info, const char **value);
/// CURLINFO_TLS_SSL_PTR: the SSL of the transfer's connection; NULL when it has none or is no OpenSSL.
void *nm_easy_getinfo_ssl(CURL *easy);
/// CURLINFO_PRIVATE.
void *nm_easy_getinfo_private(CURL *easy);

CURLMcode nm_multi_setopt_long(CURLM *multi, CURLMoption option, long value);
CURLMcode nm_multi_setopt_pointer(CURLM *multi, CURLMoption option, void *value);
typedef int (*nm_socket_callback)(CURL *easy, curl_socket_t socket, int what, void *context, void *socket_context);
CURLMcode nm_multi_setopt_socket_callback(CURLM *multi, nm_socket_callback callback);
typedef int (*nm_timer_callback)(CURLM *multi, long milliseconds, void *context);
CURLMcode nm_multi_setopt_timer_callback(CURLM *multi, nm_timer_callback callback);

CURLSHcode nm_share_setopt_long(CURLSH *share, CURLSHoption option, long value);
typedef void (*nm_lock_callback)(CURL *easy, curl_lock_data data, curl_lock_access access, void *context);
typedef void (*nm_unlock_callback)(CURL *easy, curl_lock_data data, void *context);
CURLSHcode nm_share_setopt_lock_callback(CURLSH *share, nm_lock_callback callback);
CURLSHcode nm_share_setopt_unlock_callback(CURLSH *share, nm_unlock_callback callback);
CURLSHcode nm_share_setopt_context(CURLSH *share, void *context);

/// The result of a CURLMSG_DONE message (a union, which Swift reads only by copying).
CURLcode nm_message_result(const CURLMsg *message);

/// Has the Kerberos library get a ticket for a service (`HTTP@host`), for the user whose tickets the process has, and blocks
/// until it is there, or is known not to be. Returns 1 when it is there, 0 when it is not, -1 where there is no such library.
int nm_get_service_ticket(const char *service);

#endif
