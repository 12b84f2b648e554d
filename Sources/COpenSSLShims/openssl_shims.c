#include "openssl_shims.h"

int nm_sk_x509_num(const STACK_OF(X509) *stack) { return stack ? sk_X509_num(stack) : 0; }

X509 *nm_sk_x509_value(const STACK_OF(X509) *stack, int index) { return sk_X509_value(stack, index); }
