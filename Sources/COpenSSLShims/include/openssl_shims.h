// What Swift cannot call in OpenSSL: macros and typed stacks. One function a macro, no logic.
#ifndef NM_OPENSSL_SHIMS_H
#define NM_OPENSSL_SHIMS_H

#include <openssl/ssl.h>
#include <openssl/x509.h>

/// Number of certificates of a stack; 0 for NULL.
int nm_sk_x509_num(const STACK_OF(X509) *stack);

/// Certificate at an index, not retained; NULL when there is none.
X509 *nm_sk_x509_value(const STACK_OF(X509) *stack, int index);

/// A server's answer to a client that asks for a stapled OCSP response (SSL_CTX_set_tlsext_status_cb).
void nm_ssl_ctx_set_tlsext_status_cb(SSL_CTX *context, int (*callback)(SSL *, void *));

/// A server's word on the host name that a client asks for (SSL_CTX_set_tlsext_servername_callback).
void nm_ssl_ctx_set_tlsext_servername_callback(SSL_CTX *context, int (*callback)(SSL *, int *, void *));

#endif
