#include "x509_shims.h"

STACK_OF(X509) *nm_sk_x509_new(void) { return sk_X509_new_null(); }

int nm_sk_x509_push(STACK_OF(X509) *stack, X509 *certificate) { return sk_X509_push(stack, certificate) > 0; }

void nm_sk_x509_free(STACK_OF(X509) *stack) { sk_X509_free(stack); }

STACK_OF(X509_CRL) *nm_sk_x509_crl_new(void) { return sk_X509_CRL_new_null(); }

int nm_sk_x509_crl_push(STACK_OF(X509_CRL) *stack, X509_CRL *list) { return sk_X509_CRL_push(stack, list) > 0; }

void nm_sk_x509_crl_free(STACK_OF(X509_CRL) *stack) { sk_X509_CRL_free(stack); }

int nm_general_names_num(const GENERAL_NAMES *names) { return names ? sk_GENERAL_NAME_num(names) : 0; }

static int name_content(const GENERAL_NAME *name, const unsigned char **bytes, int *length) {
    *bytes = NULL;
    *length = 0;
    switch (name->type) {
    case GEN_EMAIL:
    case GEN_DNS:
    case GEN_URI:
    case GEN_IPADD:
        *bytes = ASN1_STRING_get0_data(name->d.ia5);
        *length = ASN1_STRING_length(name->d.ia5);
    }
    return name->type;
}

int nm_general_name_at(const GENERAL_NAMES *names, int index, const unsigned char **bytes, int *length) {
    return name_content(sk_GENERAL_NAME_value(names, index), bytes, length);
}

int nm_subtrees_num(const STACK_OF(GENERAL_SUBTREE) *subtrees) {
    return subtrees ? sk_GENERAL_SUBTREE_num(subtrees) : 0;
}

int nm_subtree_at(const STACK_OF(GENERAL_SUBTREE) *subtrees, int index, const unsigned char **bytes, int *length) {
    return name_content(sk_GENERAL_SUBTREE_value(subtrees, index)->base, bytes, length);
}

long nm_bio_mem_data(BIO *bio, const char **data) { return BIO_get_mem_data(bio, data); }

int nm_x509_name_print(BIO *bio, const X509_NAME *name) {
    return X509_NAME_print_ex(bio, name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB);
}

STACK_OF(X509) *nm_pkcs7_certificates(const PKCS7 *message) {
    return PKCS7_type_is_signed(message) && message->d.sign ? message->d.sign->cert : NULL;
}

void nm_openssl_free(void *memory) { OPENSSL_free(memory); }
