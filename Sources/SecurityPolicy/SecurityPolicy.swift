import COpenSSL
import COpenSSLShims
