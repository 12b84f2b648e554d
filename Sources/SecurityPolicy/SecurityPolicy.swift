import COpenSSL
import COpenSSLShims

