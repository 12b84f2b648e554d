#include "openssl_shims.h"

int nm_sk_x509_num(const STACK_OF(X509) *stack) { return stack ? sk_X509_num(stack) : 0; }

X509 *nm_sk_x509_value(const STACK_OF(X509) *stack, int index) { return sk_X509_value(stack, index); }

void nm_ssl_ctx_set_tlsext_status_cb(SSL_CTX *context, int (*callback)(SSL *, void *)) {
    SSL_CTX_set_tlsext_status_cb(context, callback);
}

void nm_ssl_ctx_set_tlsext_servername_callback(SSL_CTX *context, int (*callback)(SSL *, int *, void *)) {
    SSL_CTX_set_tlsext_servername_callback(context, callback);
}
