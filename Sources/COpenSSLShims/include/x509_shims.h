// Certificates: macros and typed stacks of OpenSSL that Swift cannot call. One function a macro, no logic.
#ifndef NM_X509_SHIMS_H
#define NM_X509_SHIMS_H

#include <openssl/bio.h>
#include <openssl/pkcs7.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

/// An empty stack; NULL when memory is out.
STACK_OF(X509) *nm_sk_x509_new(void);

/// Appends without retaining; 0 when memory is out.
int nm_sk_x509_push(STACK_OF(X509) *stack, X509 *certificate);

/// Frees the stack, not what is in it.
void nm_sk_x509_free(STACK_OF(X509) *stack);

/// An empty stack; NULL when memory is out.
STACK_OF(X509_CRL) *nm_sk_x509_crl_new(void);

/// Appends without retaining; 0 when memory is out.
int nm_sk_x509_crl_push(STACK_OF(X509_CRL) *stack, X509_CRL *list);

/// Frees the stack, not what is in it.
void nm_sk_x509_crl_free(STACK_OF(X509_CRL) *stack);

/// Number of names; 0 for NULL.
int nm_general_names_num(const GENERAL_NAMES *names);

/// Type (GEN_DNS, GEN_IPADD, …) of the name at an index; bytes and length stay those of the name, NULL for
/// types that are not a plain string.
int nm_general_name_at(const GENERAL_NAMES *names, int index, const unsigned char **bytes, int *length);

/// Number of subtrees of name constraints; 0 for NULL.
int nm_subtrees_num(const STACK_OF(GENERAL_SUBTREE) *subtrees);

/// The base of the subtree at an index, as nm_general_name_at.
int nm_subtree_at(const STACK_OF(GENERAL_SUBTREE) *subtrees, int index, const unsigned char **bytes, int *length);

/// What a memory BIO holds; valid until the BIO changes.
long nm_bio_mem_data(BIO *bio, const char **data);

/// Writes a name as RFC 4514 text in UTF-8, control characters escaped.
int nm_x509_name_print(BIO *bio, const X509_NAME *name);

/// The certificates of a signed-data PKCS#7, not retained; NULL for any other content.
STACK_OF(X509) *nm_pkcs7_certificates(const PKCS7 *message);

/// OPENSSL_free.
void nm_openssl_free(void *memory);

#endif
